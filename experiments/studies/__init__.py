"""Scripts that answer one question each.

Run one in a clone: `python experiments/studies/NAME.py`. They are not installed with the package.
"""
