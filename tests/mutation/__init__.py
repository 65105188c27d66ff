"""Mutation testing: small faults are put into the code, one at a time; the tests have to notice."""
