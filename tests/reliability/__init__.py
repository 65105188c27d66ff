"""Long trials before a release: each module is a command that can write a table."""
