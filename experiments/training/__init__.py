"""Parts of a training run: clock, log and validations."""
