"""One file a method: an explicit convex programme, its objective and its dual."""
