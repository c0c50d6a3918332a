"""Descriptions of the data sets of the papers, and the loader."""
