"""Players that follow rules written by hand."""
