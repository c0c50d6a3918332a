"""Two hinges a sample: landmarked support vector regression and what shares its engines."""
