"""The base of all packages: arrays and their checks, errors, registries, files, threads."""
