"""Experiments: `python -m experiments` lists the commands."""
