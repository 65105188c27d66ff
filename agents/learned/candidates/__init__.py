"""Policies and players for the next-deal environment, whose actions are candidate positions."""
