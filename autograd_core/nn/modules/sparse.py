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


class _Rows(Layer):
    """The base of embeddings: a learned vector for each of ``num_embeddings`` integers."""

    num_embeddings: int
    embedding_dim: int

    def _set_up(self, weight: Tensor | None, *factory: Any) -> None:
        count, index = self.num_embeddings, self.padding_idx
        if index is not None and not -count <= index < count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.padding_idx: int | None = None if index is None else index % count
        size = (count, self.embedding_dim)
        if weight is None:
            self.learn("weight", size, *factory)
            self.reset_parameters()
            return
        if weight._shape != size:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(weight)

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
        make: Any = cls  # subclasses take the weight by name
        module: Self = make(*embeddings._shape, _weight=embeddings, **options)
        module.weight.requires_grad = not freeze
        return module

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "mode": ""}
        for name in self.options:  # in the order of the constructor
            value = getattr(self, name)
            if name in usual and value != usual[name]:
                text += f", {name}={value!r}"
        return text


class Embedding(_Rows):
    """A learned vector for each of ``num_embeddings`` integers; weight (n, embedding_dim).

    The vector at ``padding_idx`` starts as zeros and is not trained. Vectors longer than
    ``max_norm`` are shortened.
    """

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
        self, scale_grad_by_freq: bool, sparse: bool, weight: Any, freeze: bool, *factory: Any
    ) -> None:
        refuse_sparse(sparse, scale_grad_by_freq)
        self._set_up(weight, *factory)
        if freeze:
            self.weight.requires_grad = False

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)


class EmbeddingBag(_Rows):
    """The sum, mean or maximum of the embeddings in each bag of integers."""

    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: InitVar[bool] = False
    mode: str = "mean"
    sparse: InitVar[bool] = False
    _weight: InitVar[Tensor | None] = None
    include_last_offset: bool = False
    padding_idx: int | None = None
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    def __post_init__(
        self, scale_grad_by_freq: bool, sparse: bool, weight: Any, *factory: Any
    ) -> None:
        refuse_sparse(sparse, scale_grad_by_freq)
        self._set_up(weight, *factory)

    def forward(self, input: Tensor, offsets: Any = None, per_sample_weights: Any = None) -> Tensor:
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, mode=self.mode,
            per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )  # fmt: skip
