"""What a training run needs: its folder, its callback, its checkpoints."""
