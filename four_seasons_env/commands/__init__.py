"""Commands of `python -m four_seasons_env`: a module each, with a `main` that takes the arguments."""
