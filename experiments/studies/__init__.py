"""Scripts that answer one question each, and grids of `four-seasons sweep`.

Run one in a clone: `python experiments/studies/NAME.py`. They are not installed with the package.
"""
