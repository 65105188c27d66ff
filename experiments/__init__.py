"""Experiments: each runs from a clone with `python -m experiments.NAME`; `--help` tells flags."""
