"""Inputs that the tests try an op on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Sample(NamedTuple):
    """Inputs that the tests try an op on: values as nested lists or shapes, then attributes.

    A tuple of ints stands for a random array of that shape, anything else for itself.
    ``symmetric``: the inputs are symmetric matrices, of which the op reads one half.
    ``normalized``: the rule is for an input behind a ``log_softmax``.
    """

    values: tuple[Any, ...]
    attributes: Mapping[str, Any] = {}
    symmetric: bool = False
    normalized: bool = False

    def fitted(self, array: Any) -> Any:
        """``array`` as an input of this kind."""
        if self.symmetric:
            return (array + array.swapaxes(-2, -1)) / 2
        if self.normalized:
            return array - np.log(np.sum(np.exp(array), axis=-1, keepdims=True))
        return array
