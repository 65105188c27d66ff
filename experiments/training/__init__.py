"""Parts of a training run beside its learner: clock, log and validations."""
