"""Plots of results, as PNG files: one function a plot, from tables to a picture.

They have the width of a phone's screen, so their text stays readable there.
"""
