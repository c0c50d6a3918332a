"""The kernel support vector machine."""
