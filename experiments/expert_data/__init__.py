"""Decisions of an agent as data: how they are made, their columns and their files."""
