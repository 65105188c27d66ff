"""What all learners share: their interface, hyperparameters, and the mean of their weights."""
