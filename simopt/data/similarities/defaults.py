"""Which similarity is taken where none is given: all defaults, in one place. Each is a name of `named`, or "auto".

DEFAULT_KERNEL        estimators in the space of a kernel
DEFAULT_ON_LANDMARKS  estimators on landmarks
DEFAULT_OF_MEANS      mean estimators: μ is chosen by leave-one-out error (`simopt.estimators.widths`)
DEFAULT_OF_RECIPES    recipes, whose data are standardised, and functions that take points as they are, such as `herd`
DEFAULT_OF_KAR_JAIN   recipes and functions of Kar and Jain's methods: σ is the mean distance

`WIDTHS` are the candidates of "auto", as multiples of the μ of `DEFAULT_KERNEL`; σ grows as √μ.

Signatures read these constants at import: assigning to them later changes nothing, and no switch changes all defaults. The width of one
estimator is set by `similarity=`, for example `GaussianWidth(factor)`, whose factor multiplies σ. With factor 1 it is `DEFAULT_KERNEL`,
with `squared=False` beside it `DEFAULT_ON_LANDMARKS`, and with `standardise=False` those of recipes and of Kar and Jain. A default of
another factor needs a name first: a line of `RULES` in `named`, which is then written here.
"""

DEFAULT_KERNEL = "standardised-gaussian"
DEFAULT_ON_LANDMARKS = "standardised-gaussian-mean-distance"
DEFAULT_OF_MEANS = "auto"
DEFAULT_OF_RECIPES = "gaussian"
DEFAULT_OF_KAR_JAIN = "gaussian-mean-distance"
WIDTHS = tuple(2.0**k for k in range(2, -8, -1))  # of μ, from the widest
