"""Embeddings."""

from __future__ import annotations

from dataclasses import InitVar
from typing import Any, Self

from autograd_core.dtype import dtype as dtype_type
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.functional.linear import refuse_sparse
from autograd_core.nn.modules.layer import Layer
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class Embedding(Layer):
    """A learned vector for each of ``num_embeddings`` integers; weight (n, embedding_dim).

    The vector at ``padding_idx`` starts as zeros and is not trained. Vectors longer than
    ``max_norm`` are shortened.
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: InitVar[bool] = False
    sparse: InitVar[bool] = False
    _weight: InitVar[Tensor | None] = None
    _freeze: InitVar[bool] = False
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    def __post_init__(
        self,
        scale_grad_by_freq: bool,
        sparse: bool,
        weight: Tensor | None,
        freeze: bool,
        *factory: Any,
    ) -> None:
        refuse_sparse(sparse, scale_grad_by_freq)
        count, index = self.num_embeddings, self.padding_idx
        if index is not None and not -count <= index < count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.padding_idx = None if index is None else index % count
        size = (count, self.embedding_dim)
        if weight is None:
            self.learn("weight", size, *factory)
            self.reset_parameters()
        elif weight._shape != size:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(weight)
        if freeze:
            self.weight.requires_grad = False

    def reset_parameters(self) -> None:
        """Initialize the weight with normal random numbers."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.array[self.padding_idx] = 0

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Self:
        """Return an embedding with the given weight, which is not trained if ``freeze``."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings._shape
        module = cls(rows, columns, _weight=embeddings, **options)
        module.weight.requires_grad = not freeze
        return module

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in {"padding_idx": None, "max_norm": None, "norm_type": 2}.items():
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)!r}"
        return text
