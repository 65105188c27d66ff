"""Experiments: train agents, play them against each other, and report what came of it."""
