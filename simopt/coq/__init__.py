"""Proof files, refutations and certificates as theorems that the kernel of Coq checks."""
