"""Checking results that others have sent, by replaying their games."""
