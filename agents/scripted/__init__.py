"""Agents that follow rules written by hand."""
