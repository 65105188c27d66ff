"""Experiments, run from a clone: `python -m experiments` lists the commands."""
