"""Compare pruning methods on data sets, keep every result, make tables of them."""
