"""Players that search: over imagined orders of the hidden cards, or with the solver."""
