"""Embeddings."""

from __future__ import annotations

from typing import Any, Self

from autograd_core.dtype import dtype
from autograd_core.functions import zeros
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.functional.linear import refuse_sparse
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class _Rows(Module):
    """The base of embeddings: a learned vector for each of ``num_embeddings`` integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        weight: Tensor | None,
        factory: dict[str, Any],
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        if weight is None:
            self.weight = Parameter(zeros(num_embeddings, embedding_dim, **factory))
            self.reset_parameters()
            return
        if weight._shape != (num_embeddings, embedding_dim):
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
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        return text if self.norm_type == 2 else f"{text}, norm_type={self.norm_type}"


class Embedding(_Rows):
    """A learned vector for each of ``num_embeddings`` integers; weight (n, embedding_dim).

    The vector at ``padding_idx`` starts as zeros and is not trained. Vectors longer than
    ``max_norm`` are shortened.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        refuse_sparse(sparse, scale_grad_by_freq)
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, _weight, factory
        )
        if _freeze:
            self.weight.requires_grad = False

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)


class EmbeddingBag(_Rows):
    """The sum, mean or maximum of the embeddings in each bag of integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        refuse_sparse(sparse, scale_grad_by_freq)
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, _weight, factory
        )
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Any = None, per_sample_weights: Any = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        text += f", mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"
