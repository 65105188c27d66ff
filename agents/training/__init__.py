"""Shared by all learners: their interface, hyperparameters, and the mean of their weights."""
