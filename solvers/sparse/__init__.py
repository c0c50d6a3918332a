"""Few columns of many: greedy selection and the ℓ₁ ball."""
