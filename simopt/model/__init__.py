"""What a problem is: its fields, its forms, its declaration and its formulas."""
