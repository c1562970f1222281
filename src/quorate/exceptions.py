"""Exceptions and warnings that callers can catch or filter."""


class QuorateWarning(UserWarning):
    """Base class of all warnings of this package."""


class LeftOutWarning(QuorateWarning):
    """Samples without a usable vote, or tables without rows, were left out."""


class CoverageWarning(QuorateWarning):
    """A class has too few out-of-bag votes to estimate errors, sizes or weights."""


class UndefinedMeasureWarning(QuorateWarning):
    """A measure is NaN because it is not defined for the votes."""


class FileFormatError(ValueError):
    """A file is truncated, damaged, of another format, or of an unsupported version."""


class BatchError(ValueError):
    """A batch of a pass over large data could not be read or evaluated."""


class CheckpointWarning(QuorateWarning):
    """The progress of a pass could not be saved."""


class SampledWarning(QuorateWarning):
    """Members were chosen on a sample of the rows, because there are very many."""


class FewerMembersWarning(QuorateWarning):
    """A pruning method ran out of candidates before it reached its size."""


class UninformativeMeasureWarning(QuorateWarning):
    """A measure is the same on every sample, so it cannot distinguish them."""


class NothingSavedWarning(QuorateWarning):
    """All members are kept, because no smaller size meets the tolerance."""


class LatencyWarning(QuorateWarning):
    """Members were dropped to save time that early exit would save without loss."""


class ShuffledLabelsWarning(QuorateWarning):
    """The labels fit the samples no better than they would in a random order."""


class UnknownLabelWarning(QuorateWarning):
    """Samples have a label that the ensemble was not trained on."""


class HeadsWarning(QuorateWarning):
    """A pool counts votes: not all members have probabilities of known classes."""


class SwappedColumnsWarning(QuorateWarning):
    """Columns of probabilities seem to belong to other classes."""


class UnusedColumnsWarning(QuorateWarning):
    """A file has columns that the model was not trained on."""


class TrainingVotesWarning(QuorateWarning):
    """Members are chosen or calibrated on samples that they were trained on."""


class VersionWarning(QuorateWarning):
    """A model was written by another version of quorate or of scikit-learn."""


class ConfidenceWarning(QuorateWarning):
    """Early exit may change more predictions than its confidence allows."""
