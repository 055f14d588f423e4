"""The methods of derivation: Lagrange, dual screws, elastic joints."""
