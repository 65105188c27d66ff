"""Statistics of results: intervals and tests."""
