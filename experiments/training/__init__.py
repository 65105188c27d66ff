"""The parts of a training run: its folder, clock, log, checkpoints and validations."""
