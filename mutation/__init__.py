"""Small changes of the source that tests must notice; see ``__main__``."""
