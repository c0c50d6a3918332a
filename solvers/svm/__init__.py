"""The hinge SVM: pair selection, semismooth Newton, and its path."""
