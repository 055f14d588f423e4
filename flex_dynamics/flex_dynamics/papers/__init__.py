"""The papers' algebra, numeric and small: rotations, dual numbers, dual groups, screws."""
