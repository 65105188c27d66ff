"""Agents that learn with Stable-Baselines3: two algorithms, a policy class, and the players."""
