"""Descriptions of the data sets of the papers, and the loader."""

from simopt.data.datasets.dataset import Dataset
from simopt.data.datasets.description import Description, describe, descriptions, in_paper
from simopt.data.datasets.loader import cache_folder, load_dataset
from simopt.data.datasets.synthetic import friedman

__all__ = ["Dataset", "Description", "cache_folder", "describe", "descriptions", "friedman", "in_paper", "load_dataset"]
