"""Plots of results, as PNG files: one function per plot, from tables to a picture.

Plots are narrow, so that their text is readable on a phone.
"""
