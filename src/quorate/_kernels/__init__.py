"""Counting on arrays: no classes, no options, no validation, NumPy only.

Votes arrive as ``codes``, an (n_members, n_samples) matrix of small integers that are
positions in a list of classes; -1 means that the member has no usable vote there.
"""
