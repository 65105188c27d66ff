"""What may be concluded from results: intervals and tests."""
