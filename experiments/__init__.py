"""Studies that make the figures of the documentation; ``make results`` lists them."""
