"""Losses with their conjugates, in any arithmetic.

hinge_rows          [h]_+ as a row with a multiplier: what landmarked SVR, EXC and the SVM judge hinges by
insensitive         [|f − y| − ε]_+, smoothed or not, of landmarked SVR
margin_losses       losses of a margin z = yf (hinge, squared hinge, logistic, exponential) with their conjugates
prediction_losses   losses of a prediction as maxima of affine functions, of goodness problems
transfers           the matching losses of transfer functions; gaussian: Φ, for probit
landmark_squares    the mean square of landmarked predictions
intercepts          best intercepts, and multipliers that balance
"""
