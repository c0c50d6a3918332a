"""What every room stands on: arrays and their checks, errors, registers, files."""
