"""Exceptions and warnings that callers can catch or filter."""


class QuorateWarning(UserWarning):
    """Base class of all warnings of this package."""


class TrainingVotesWarning(QuorateWarning):
    """Members are chosen or calibrated on samples that they were trained on."""


class CoverageWarning(QuorateWarning):
    """A class has too few out-of-bag votes to estimate errors, sizes or weights."""


class SampledWarning(QuorateWarning):
    """Members were chosen on a sample of the rows, because there are very many."""


class LeftOutWarning(QuorateWarning):
    """Samples without a usable vote, empty tables or unused columns were left out."""


class VersionWarning(QuorateWarning):
    """A model was written by another version of quorate or of scikit-learn."""


class FileFormatError(ValueError):
    """A file is truncated, damaged, of another format, or of an unsupported version."""


class BatchError(ValueError):
    """A batch of a pass over large data could not be read or evaluated."""
