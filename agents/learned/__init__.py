"""Players that learn with Stable-Baselines3: algorithms, policies, files."""
