"""Commands of `python -m four_seasons_env`: modules whose `main` takes the arguments."""
