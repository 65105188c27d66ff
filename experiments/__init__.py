"""Experiments: train agents, play them against each other, and report the results."""
