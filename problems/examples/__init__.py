"""Examples, laws and recipes that problems of one kind share."""
