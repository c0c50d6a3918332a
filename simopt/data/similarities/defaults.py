"""Which similarity is taken where none is given: all defaults, in one place. Each is a name of `named`, or "auto".

DEFAULT_KERNEL        estimators in the space of a kernel, which have other parameters to fit the width
DEFAULT_ON_LANDMARKS  estimators on landmarks
DEFAULT_OF_MEANS      estimators without another parameter; their width errs least at points left out, among the multiples `WIDTHS`
                      of that of `DEFAULT_KERNEL` (`simopt.estimators.widths`)
DEFAULT_OF_RECIPES    recipes, whose data are standardised, and functions that take points as they are, such as `herd`
"""

DEFAULT_KERNEL = "standardised-gaussian"
DEFAULT_ON_LANDMARKS = "standardised-gaussian-mean-distance"
DEFAULT_OF_MEANS = "auto"
DEFAULT_OF_RECIPES = "gaussian"
DEFAULT_OF_KAR_JAIN = "gaussian-mean-distance"
WIDTHS = tuple(2.0**k for k in range(2, -8, -1))  # of μ, from the widest
