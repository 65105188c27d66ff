"""Parts of a training run: clock, log, checkpoints and validations."""
