"""Tikhonov's and Ivanov's form of one method: two families and an equivalence, made of the problem itself."""
