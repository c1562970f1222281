"""What callers may catch or filter."""


class QuorateWarning(UserWarning):
    """Root of every warning this package raises."""


class LeftOutWarning(QuorateWarning):
    """Samples without a usable vote, or tables without rows, were left out."""


class CoverageWarning(QuorateWarning):
    """Out-of-bag votes cover a class too thinly to judge, size or weigh by."""


class UndefinedMeasureWarning(QuorateWarning):
    """A table of measures holds NaN where a measure is not defined for the votes."""


class FileFormatError(ValueError):
    """A file is truncated, damaged, foreign, or of a version that cannot be read."""


class BatchError(ValueError):
    """A batch of a pass over large data could not be read or voted on."""


class CheckpointWarning(QuorateWarning):
    """Where a pass has come to could not be written down."""


class SampledWarning(QuorateWarning):
    """Members were chosen on some of the samples, since there are very many."""


class FewerMembersWarning(QuorateWarning):
    """A pruning method ran out of candidates before it reached its size."""


class UninformativeMeasureWarning(QuorateWarning):
    """A measure is the same on every sample, so it cannot choose between them."""


class NothingSavedWarning(QuorateWarning):
    """Everybody is kept, as the samples cannot show that fewer would do."""


class LatencyWarning(QuorateWarning):
    """Members were dropped to save time that lazy voting saves without that."""


class ShuffledLabelsWarning(QuorateWarning):
    """The labels fit the samples no better than they would in a random order."""


class UnknownLabelWarning(QuorateWarning):
    """Samples have a label that the ensemble was not trained on."""


class HeadsWarning(QuorateWarning):
    """A pool counts heads: not all members have probabilities of known classes."""


class SwappedColumnsWarning(QuorateWarning):
    """Columns of probabilities seem to stand for other classes than they count for."""


class UnusedColumnsWarning(QuorateWarning):
    """A file has columns that the model was not trained on."""


class TrainingVotesWarning(QuorateWarning):
    """Something is chosen or calibrated on samples the members were trained on."""


class VersionWarning(QuorateWarning):
    """A model was written by another version of quorate or of scikit-learn."""


class ConfidenceWarning(QuorateWarning):
    """Lazy voting changes, or may change, more than its confidence allows."""
