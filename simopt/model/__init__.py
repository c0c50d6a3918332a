"""Problems: their fields, forms, declarations and formulas."""
