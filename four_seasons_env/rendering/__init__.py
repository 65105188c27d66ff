"""Positions drawn for people."""
