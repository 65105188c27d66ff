"""Players that search: they imagine the hidden cards, or solve what is no longer hidden."""
