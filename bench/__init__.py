"""Ratios of what quorate does to a plain NumPy pass over the same data."""
