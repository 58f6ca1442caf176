"""Pruning: parameters that are multiplied by a mask, under the names of ``torch.nn.utils.prune``.

What is pruned keeps its values as ``NAME_orig``, the parameter that is trained; ``NAME_mask`` says
where it counts, and ``NAME``, the product, is computed anew before each forward pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_core.functions import cat, ones_like, rand_like, topk
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity",
    "is_pruned", "l1_unstructured", "ln_structured", "random_structured", "random_unstructured",
    "remove",
]  # fmt: skip


class BasePruningMethod:
    """A way to choose what to prune; a subclass has :meth:`compute_mask`.

    ``PRUNING_TYPE`` says what of a tensor that is pruned already the mask is computed of:
    "unstructured", the values that are left; "structured", the slices along ``dim`` that are;
    "global", all of it.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str
    dim: int

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """0 where ``t`` is to be pruned, elsewhere as in ``default_mask``."""
        raise NotImplementedError

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> Any:
        """Prune the parameter ``name`` of ``module``, more if it is pruned already; the method is
        made of the other arguments."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        before = _hook_of(module, name)
        original: Tensor = getattr(module, name if before is None else f"{name}_orig")
        scores = original if importance_scores is None else importance_scores
        if scores._shape != original._shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"                {name} of {module}"
            )
        if method.PRUNING_TYPE == "structured" and original.ndim < 2:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {original.shape} with {original.ndim} dims"
            )
        if before is None:
            mask = method.compute_mask(scores.detach(), ones_like(original))
            delattr(module, name)
            module.register_parameter(f"{name}_orig", original)
        else:
            del module._forward_pre_hooks[before]
            mask = _narrowed(method, scores.detach(), getattr(module, f"{name}_mask"))
        module.register_buffer(f"{name}_mask", mask.to(original.dtype))
        method(module, ())
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """``t`` times the mask that this method finds for it."""
        given = ones_like(t) if default_mask is None else default_mask
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores.detach(), given).to(t.dtype)

    def apply_mask(self, module: Any) -> Tensor:
        """The product of values and mask."""
        mask, original = (getattr(module, f"{self._tensor_name}_{n}") for n in ("mask", "orig"))
        product: Tensor = mask.to(original.dtype) * original
        return product

    def remove(self, module: Any) -> None:
        """Make the product the parameter, for good."""
        name = self._tensor_name
        original = getattr(module, f"{name}_orig")
        original.data = self.apply_mask(module).data
        delattr(module, name)
        del module._parameters[f"{name}_orig"], module._buffers[f"{name}_mask"]
        setattr(module, name, original)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))


def _methods(module: Module) -> dict[int, BasePruningMethod]:
    """The hooks of ``module`` that prune, by their key."""
    found = {key: each.call for key, each in module._forward_pre_hooks.items()}
    return {key: hook for key, hook in found.items() if isinstance(hook, BasePruningMethod)}


def _hook_of(module: Module, name: str) -> Any:
    """The key of the hook that prunes ``name``, or None."""
    methods = _methods(module)
    return next((key for key, method in methods.items() if method._tensor_name == name), None)


def _narrowed(method: BasePruningMethod, scores: Tensor, mask: Tensor) -> Tensor:
    """``mask``, and what ``method`` prunes of what that leaves."""
    if method.PRUNING_TYPE == "global":
        return method.compute_mask(scores, mask)
    kept: Any = mask == 1
    if method.PRUNING_TYPE == "structured":
        dim = method.dim % mask.ndim
        others = tuple(d for d in range(mask.ndim) if d != dim)
        kept = (slice(None),) * dim + ((mask.sum(others) != 0),)
    narrowed = mask.clone()
    narrowed[kept] = method.compute_mask(scores[kept], mask[kept])
    return narrowed


def _count(amount: float, size: int) -> int:
    """How many of ``size`` to prune: so many, or that fraction."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )
    if isinstance(amount, int) and amount > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return amount if isinstance(amount, int) else round(amount * size)


class Identity(BasePruningMethod):
    """Prune nothing, but make mask and original."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class CustomFromMask(BasePruningMethod):
    """Prune where ``mask`` is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(default_mask.dtype)


class RandomUnstructured(BasePruningMethod):
    """Prune ``amount`` values, or that fraction of them, at random."""

    def __init__(self, amount: float) -> None:
        _count(amount, 1 << 62)
        self.amount = amount

    def _scores(self, t: Tensor) -> Tensor:
        return rand_like(t)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone()
        count = _count(self.amount, t.numel())
        if count:
            least = topk(self._scores(t).reshape(-1), count, largest=False).indices
            mask.view(-1)[least] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    """Prune the ``amount`` smallest values, or that fraction of them."""

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()


class RandomStructured(BasePruningMethod):
    """Prune ``amount`` slices along ``dim``, or that fraction of them, at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _count(amount, 1 << 62)
        self.amount, self.dim = amount, dim

    def _scores(self, t: Tensor) -> Tensor:
        return rand_like(t.transpose(0, self.dim).reshape(t._shape[self.dim], -1)[:, 0])

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone()
        count = _count(self.amount, t._shape[self.dim])
        if count:
            least = topk(self._scores(t), count, largest=False).indices
            mask.transpose(0, self.dim)[least] = 0
        return mask


class LnStructured(RandomStructured):
    """Prune the ``amount`` slices along ``dim`` whose ``n``-norm is smallest, or that fraction."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        others = tuple(d for d in range(t.ndim) if d != self.dim % t.ndim)
        return t.norm(p=self.n, dim=others)


def identity(module: Module, name: str) -> Module:
    """Make mask and original of the parameter ``name``, without pruning it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune ``amount`` values of the parameter ``name``, or that fraction, at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the ``amount`` smallest values of the parameter ``name``, or that fraction."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune ``amount`` slices along ``dim`` of the parameter ``name``, or that fraction."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the slices along ``dim`` of the parameter ``name`` that have the smallest norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the parameter ``name`` where ``mask`` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters, each a module and a name, as if they were one."""
    given, scores = list(parameters), importance_scores or {}
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    values = [scores.get((m, n), getattr(m, n)).detach() for m, n in given]
    masks = [getattr(m, f"{n}_mask", ones_like(getattr(m, n).detach())) for m, n in given]
    whole = _narrowed(
        method, cat([v.reshape(-1) for v in values]), cat([k.reshape(-1) for k in masks])
    )
    for (module, name), part in zip(given, whole.split([m.numel() for m in masks]), strict=True):
        custom_from_mask(module, name, part.view(getattr(module, name)._shape))


def remove(module: Module, name: str) -> Module:
    """Make the pruning of the parameter ``name`` permanent: what is pruned is 0 from now on.

    Raises:
        ValueError: it is not pruned; in PyTorch's words.
    """
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    _methods(module)[key].remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of ``module``, or of a module in it, is pruned."""
    return any(_methods(each) for each in module.modules())
