"""Reasons why a node sends zeros although what it was given is not zero."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradstep.findings.finding import Fix, Reason
from gradstep.findings.fixes import initialized_at_random, with_operand, with_operation
from gradstep.graph.statistics import Range
from gradstep.text import plural


@dataclass(frozen=True)
class FlatOp(Reason):
    """An op has no other derivative than 0."""

    keeps_loss = False
    helps = "nothing learns through it; a straight-through estimator passes the gradient on"
    name: str

    def text(self) -> str:
        return f"the derivative of {self.name} is 0 everywhere"

    def fix(self) -> tuple[Fix, ...]:
        return with_operation(self.source, self.name, "{0} + ({} - {0}).detach()")


@dataclass(frozen=True)
class ZeroLeaves(Reason):
    """Leaves are 0 everywhere, of which all that the op is given is a product."""

    keeps_loss = False
    as_part = "zero-leaf"
    name: str = ""
    inputs: int = 0

    def text(self) -> str:
        if self.inputs:
            inputs = plural(self.inputs, "input")
            return f"{self.named} is 0 everywhere, and so are all {inputs} of {self.name}"
        if self.name:
            return f"it is a product with {self.named}, which is 0 everywhere"
        return f"{self.named} {self.of('is', 'are')} 0 everywhere"

    def remedy(self) -> str:
        first = self.leaves[0]
        if first.endswith("bias") or self.fix() or not first.isidentifier():
            return (
                "begin with random numbers, as nn.init.xavier_uniform_() gives: zeros are for "
                "biases"
            )
        return f"begin {first} with random numbers: nn.init.normal_({first}, std=0.02)"

    def fix(self) -> tuple[Fix, ...]:
        return () if self.source is None else initialized_at_random(self.source.file)


@dataclass(frozen=True)
class AllNegative(Reason):
    """Nothing that a rectifier is given is above 0."""

    as_part = "all-negative"
    is_effect = True
    helps = "use leaky_relu, another initialization, or a smaller learning rate"
    name: str
    inputs: int

    def text(self) -> str:
        inputs = plural(self.inputs, "input")
        return f"all {inputs} of {self.name} are negative or 0, where its derivative is 0"


@dataclass(frozen=True)
class BeyondLimits(Reason):
    """All that a clamp is given is beyond its limits; ``inputs`` says between what numbers."""

    helps = "begin inside the limits, or scale the inputs so that they are there"
    name: str
    inputs: Range

    def text(self) -> str:
        return f"each input of {self.name} is at or beyond its limits: the inputs are {self.inputs}"


@dataclass(frozen=True)
class OneElement(Reason):
    """A softmax runs over a dimension of size 1; ``ends`` is what it gives, and ``is_single`` says
    that a row has no other number, either."""

    keeps_loss = False
    as_part = "one-element"
    name: str
    ends: str
    is_single: bool

    def text(self) -> str:
        return f"{self.name} runs over one element, so its result is always {self.ends}"

    def remedy(self) -> str:
        if self.is_single:
            return "use sigmoid() for a single output, or another dim"
        return "let it run over another dim, which has more elements"

    def fix(self) -> tuple[Fix, ...]:
        if not self.is_single:
            return ()
        return with_operation(self.source, "softmax", "torch.sigmoid({0})")


@dataclass(frozen=True)
class AtEnds(Reason):
    """All results of a curve are exactly at its ends; ``inputs`` says between what numbers it is
    given."""

    as_part = "at-ends"
    is_effect = True
    explained_by = ("cancelled",)
    helps = "its inputs are too large: scale them down, or normalize the data"
    name: str
    ends: str
    inputs: Range | None = field(default=None, compare=False)

    def text(self) -> str:
        given = "" if self.inputs is None else f"; its inputs are {self.inputs}"
        return f"the result of {self.name} is saturated, exactly {self.ends} everywhere{given}"


class _Multiplied(Reason):
    """Something else makes it 0."""

    helps = "look at that line: its factor should not be 0"


@dataclass(frozen=True)
class Overwritten(_Multiplied):
    """The value was overwritten in place."""

    says = "the value was overwritten in place, so none of it reaches the loss"


@dataclass(frozen=True)
class ZeroFactor(_Multiplied):
    """The other factor of a product is 0 everywhere."""

    explained_by = ("overflow",)
    explained_here_by = ("all-negative",)
    name: str

    def text(self) -> str:
        return f"what {self.name} multiplies it by is 0 everywhere"


@dataclass(frozen=True)
class OtherSelected(_Multiplied):
    """An op chooses between two values, and never takes this one."""

    name: str

    def text(self) -> str:
        return f"{self.name} selects the other value everywhere"


@dataclass(frozen=True)
class TimesZero(Reason):
    """The rule multiplies by the number 0."""

    helps = "leave this term out, or multiply it by a number other than 0"
    says = "it multiplies by the number 0"


@dataclass(frozen=True)
class MadeByHook(_Multiplied):
    """A ``hook`` made the gradient 0 at a place of the pass."""

    hook: str
    place: str

    def text(self) -> str:
        return f"{self.hook} made it 0 at {self.place}"

    def calls(self) -> tuple[str, ...]:
        return (called_at(self.place),)


@dataclass(frozen=True)
class ZeroSeed(_Multiplied):
    """backward() was given zeros."""

    marks = ("backward",)
    says = "backward() was given a gradient of 0"


@dataclass(frozen=True)
class SendsZero(_Multiplied):
    """A node sends zeros, and why is not known."""

    place: str

    def text(self) -> str:
        return f"{self.place} sends 0"

    def calls(self) -> tuple[str, ...]:
        return (called_at(self.place),)


@dataclass(frozen=True)
class PartUnused(Reason):
    """Of the gradient that comes to a ``place``, which joins values, the part of this one is 0;
    ``picker`` is what picks among its elements by indices, "" where nothing does."""

    place: str
    picker: str

    def text(self) -> str:
        what = f"the gradient that comes to {self.place} is 0 in the part that it takes from here"
        return f"{what}: {self.picker} picks nothing of it" if self.picker else what

    def remedy(self) -> str:
        if self.picker:
            return "nothing to do if other data pick it; otherwise look at the indices"
        return "use this part of the result in the loss, too, or leave it out"

    def calls(self) -> tuple[str, ...]:
        return (called_at(self.place),)


@dataclass(frozen=True)
class Cancels(Reason):
    """The parts of a sum cancel: of the one that arrives at a ``place``, or that it sends on;
    ``origin`` is the op that they all come from, "" where there is none."""

    keeps_loss = True
    place: str
    is_sent: bool = False
    origin: str = ""
    is_difference: bool = False

    def text(self) -> str:
        if self.is_sent:
            return f"the parts cancel in the sum that {self.place} sends on"
        what = f"the parts of a sum cancel at {self.place}"
        if not self.origin:
            return what
        why = ", which subtracts it from itself" if self.is_difference else ""
        return f"{what}; they come from {self.origin}{why}"

    def remedy(self) -> str:
        if self.is_difference:
            return "detach() the one of the two that should be a constant"
        return "check the loss: a mean or a sum cancels what depends on these leaves"

    def fix(self) -> tuple[Fix, ...]:
        return with_operand(self.source, "sub", 1, "{}.detach()") if self.is_difference else ()

    def calls(self) -> tuple[str, ...]:
        return called_at(self.place), called_at(self.origin)


def called_at(address: str) -> str:
    """Return the op of the address of a node: ``relu`` of ``net.0/relu:1``, "" of anything else.

    >>> called_at("#2 net.0/relu:1"), called_at("w")
    ('relu', '')
    """
    op, numbered, _ = address.rpartition("/")[2].partition(":")
    return op.rpartition(" ")[2] if numbered else ""
