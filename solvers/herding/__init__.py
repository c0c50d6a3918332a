"""The mean of labelled points and few points that stand for it: Frank–Wolfe in all its variants."""
