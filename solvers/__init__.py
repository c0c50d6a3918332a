"""One folder a family of algorithms, hand-written and fast."""
