"""Descriptions of the data sets of the papers, and the loader."""

from simopt.datasets.dataset import Dataset
from simopt.datasets.description import Description, describe, descriptions, in_paper
from simopt.datasets.loader import cache_folder, load_dataset
from simopt.datasets.synthetic import friedman

__all__ = ["Dataset", "Description", "cache_folder", "describe", "descriptions", "friedman", "in_paper", "load_dataset"]
