"""One file an algorithm: hand-written and fast."""
