"""Torch modules, evaluated in batches in evaluation mode without gradients."""

from typing import Any

import numpy as np

from quorate._data import count_rows, cut_rows
from quorate._ensembles._adapters import AdaptedMember, Answers

_BATCH = 4096


class TorchMember(AdaptedMember):
    """A torch module that takes a numeric table."""

    def evaluate(self, X: Any) -> Any:
        """Return the module's output, on its own device and in its own dtype."""
        import torch

        first = next(iter(self.model.parameters()), None)
        options: dict[str, Any] = {}
        if first is not None:
            options = {"dtype": first.dtype, "device": first.device}
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                parts = [
                    self.model(torch.as_tensor(np.asarray(part), **options))
                    for part in (
                        cut_rows(X, slice(start, start + _BATCH))
                        for start in range(0, max(count_rows(X), 1), _BATCH)
                    )
                ]
        finally:
            self.model.train(was_training)
        return torch.cat(parts).double().cpu().numpy()


def adapt_torch(model: Any, classes: Any, answers: Answers | None) -> TorchMember:
    """Return a module as a classifier; the caller has to say what it returns."""
    if classes is None or answers is None:
        raise TypeError(
            f"a torch module ({type(model).__name__}) has no labels and does not "
            "specify what it returns; pass quorate.as_member(module, classes=[...], "
            "answers='logits') or 'probabilities'."
        )
    return TorchMember(model, classes, answers)
