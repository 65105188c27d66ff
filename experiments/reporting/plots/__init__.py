"""Plots of results, as PNG files: one function a plot, from tables to a picture.

They are drawn as wide as a phone is, so that the writing on them stays readable there.
"""
