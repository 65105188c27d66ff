"""Independent models of the game and of solving it, and the recorded games."""
