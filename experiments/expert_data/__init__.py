"""Decisions of an agent as data: how they are made, their columns and their files."""

PARQUET = "parquet"
"""The folder of the Parquet files, in that of the data."""
