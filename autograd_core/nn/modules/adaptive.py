"""A softmax over many classes of different frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autograd_core.functions import cat
from autograd_core.nn import functional as F
from autograd_core.nn.modules.container import ModuleList, Sequential
from autograd_core.nn.modules.linear import Linear
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probabilities of the targets, and their mean loss, for ``n_classes`` classes sorted
    by decreasing frequency (Grave et al. 2016).

    The first ``cutoffs[0]`` classes and each of the clusters separated by ``cutoffs`` have a score.
    Classes within a cluster have their own scores, computed from fewer features: each cluster
    divides their number by ``div_value``.

    Args:
        head_bias: whether the scores of the head have a bias.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_cutoffs(list(cutoffs), n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number in range(self.n_clusters):
            hidden = int(in_features // div_value ** (number + 1))
            size = self.cutoffs[number + 1] - self.cutoffs[number]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **options),
                    Linear(hidden, size, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        """Initialize the parameters."""
        for layer in (self.head, *(layer for pair in self.tail for layer in pair)):  # type: ignore[attr-defined]
            layer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> _ASMoutput:
        _check_target(input, target)
        rows, targets = (input, target) if target.ndim else (input[None], target[None])
        if targets.numel() and (targets.min() < 0 or targets.max() >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{targets.min().item()}, {targets.max().item()}] were found. "
            )
        scores = F.log_softmax(self.head(rows), dim=1)
        places = targets.clone()  # in the head: of the class, or of its cluster
        inside = rows.new_zeros(len(targets))  # log probabilities within clusters
        for number, layer in enumerate(self.tail):
            low, high = self.cutoffs[number : number + 2]
            found = ((targets >= low) & (targets < high)).nonzero().squeeze(1)
            if not found.numel():
                continue
            places = places.index_fill(0, found, self.shortlist_size + number)
            cluster = F.log_softmax(layer(rows.index_select(0, found)), dim=1)
            picked = cluster.gather(1, (targets[found] - low).unsqueeze(1)).squeeze(1)
            inside = inside.index_copy(0, found, picked)
        output = inside + scores.gather(1, places.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if target.ndim else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log probabilities of all classes, (N, n_classes)."""
        return self._log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each row.

        Clusters are evaluated only for rows in which they have the highest score.
        """
        head = self.head(input)
        output = head.argmax(dim=1)
        unclear = output >= self.shortlist_size
        if unclear.any():
            output[unclear] = self._log_prob(input[unclear], head[unclear]).argmax(dim=1)
        return output

    def _log_prob(self, input: Tensor, head: Tensor) -> Tensor:
        scores = F.log_softmax(head, dim=1)
        parts = [scores[:, : self.shortlist_size]]
        for number, layer in enumerate(self.tail):
            cluster = F.log_softmax(layer(input), dim=1)
            parts.append(cluster + scores[:, self.shortlist_size + number].unsqueeze(1))
        return cat(parts, dim=1)


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    if (
        cutoffs != sorted(set(cutoffs))
        or not 0 < cutoffs[0] <= cutoffs[-1] < n_classes
        or any(int(c) != c for c in cutoffs)
    ):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )


def _check_target(input: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with size {input.size()}"
        )
