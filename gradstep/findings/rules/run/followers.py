"""Networks that are to follow another one slowly, such as a teacher or a target: they follow at
once, not at all, or in their parameters only."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any, Final, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from gradstep.capturing.statement import tree_of
from gradstep.contract.module_paths import joined
from gradstep.contract.parameters import named_buffers, named_parameters
from gradstep.findings.facts import Fact, Facts, Numbers, Objects
from gradstep.findings.facts.program import Files, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.guest.fence import attribute_of, read
from gradstep.recording.look import Look

Array = NDArray[np.float64]
_MOST: Final = 4096
_FEW: Final = 4
_LOOKS: Final = 4
_FAST: Final = (0.8, 0.9999)
_MOVING: Final = ("lerp_", "mul_", "copy_", "add_")
_FEW_MOVE: Final = 0.2
_HALF: Final = ("float16", "bfloat16")
_RUNNING: Final = ("running_mean", "running_var")


class State(NamedTuple):
    """Some numbers of a module in a call: of its parameters, and of its running statistics;
    whether an optimizer has them, and it is in training mode."""

    call: int
    parameters: Array
    running: Array
    is_trained: bool
    is_training: bool
    dtype: str


@dataclass
class Followed:
    """Two modules with parameters of the same names and shapes, and what they were in calls."""

    first: tuple[str, ref[Any]]
    second: tuple[str, ref[Any]]
    states: list[tuple[State, State]] = field(default_factory=list)


class Alike(Fact):
    """Pairs of modules that are built alike, over the calls that were looked at."""

    needs = (Objects, Numbers)

    def __init__(self) -> None:
        self.pairs: dict[tuple[int, int], Followed] = {}
        self._built: dict[int, tuple[ref[Any], object]] = {}

    def closely(self, look: Look) -> None:
        if look.call.is_grad or look.engine.numbers is None:
            return
        by_build: dict[object, list[tuple[str, Any]]] = {}
        trained: set[int] = set()
        for _, _, leaves in look.names.trained():
            trained.update(map(id, leaves.values()))
        seen: set[int] = set()
        for name, module in self._candidates(look):
            if id(module) not in seen:
                seen.add(id(module))
                build = self._build(module)
                if build:
                    by_build.setdefault((type(module), build), []).append((name, module))
        for alike in by_build.values():
            if 1 < len(alike) <= _FEW:
                states = [self._state(look, module, trained) for _, module in alike]
                for one, other in combinations(range(len(alike)), 2):
                    (name, module), (name_of_other, twin) = alike[one], alike[other]
                    pair = self.pairs.setdefault(
                        (id(module), id(twin)),
                        Followed((name, ref(module)), (name_of_other, ref(twin))),
                    )
                    if pair.first[1]() is module and pair.second[1]() is twin:
                        pair.states.append((states[one], states[other]))

    def _candidates(self, look: Look) -> Iterator[tuple[str, Any]]:
        """Yield the modules that the program names, and those right below."""
        for name, module in look.names.modules.items():
            yield name, module
            for path, part in read(module.named_children):
                if not path.isdigit():  # else it follows the one before it
                    yield joined(name, path), part

    def _build(self, module: Any) -> object:
        known, build = self._built.get(id(module), (None, None))
        if known is None or known() is not module:
            build = tuple([(name, tuple(each.shape)) for name, each in named_parameters(module)])
            self._built[id(module)] = ref(module), build
        return build

    def _state(self, look: Look, module: Any, trained: Container[int]) -> State:
        parameters = [each for _, each in named_parameters(module)]
        running = [each for name, each in named_buffers(module) if name.endswith(_RUNNING)]
        return State(
            look.facts.index,
            _numbers(look, parameters),
            _numbers(look, running),
            any(id(each) in trained for each in parameters),
            attribute_of(module, "training") is True,
            str(attribute_of(parameters[0], "dtype")).rpartition(".")[2] if parameters else "",
        )


def _numbers(look: Look, tensors: Sequence[Any]) -> Array:
    """Return some numbers of tensors, one behind the other."""
    parts: list[Array] = []
    numbers = look.engine.numbers
    for tensor in tensors[:_FEW]:
        if numbers is not None and tensor.numel() <= _MOST:
            array = numbers.array(tensor)
            if array is not None:
                parts.append(np.array(array, np.float64).ravel())
    return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True)
class FollowsAtOnce(Reason):
    """A network takes nearly all of another one in each update."""

    code = "follower"
    keeps_loss = True
    name: str
    leader: str
    share: float = field(compare=False)

    def text(self) -> str:
        return (
            f"each update of {self.name} takes {self.share:.4g} of the new weights of "
            f"{self.leader}, and keeps {1 - self.share:.2g} of its own: it follows at once"
        )

    def remedy(self) -> str:
        return (
            f"to follow slowly, keep {self.share:.4g} and take {1 - self.share:.2g}: the two "
            "weights are swapped"
        )


@dataclass(frozen=True)
class NeverFollows(Reason):
    """A network stays as it began, although a line is to copy another one to it."""

    code = "follower"
    keeps_loss = True
    name: str
    leader: str
    count: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.name} has not changed in {self.count} calls, while {self.leader}, with which "
            "it began, did: this line, which changes it, had no effect on it, or never ran"
        )

    def remedy(self) -> str:
        return "look at the condition, and at how often the loop comes to it"


@dataclass(frozen=True)
class RoundedAway(Reason):
    """A network of half precision stays as it began, although a line moves it."""

    code = "follower"
    keeps_loss = True
    name: str
    leader: str
    dtype: str
    share: float = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.name} is {self.dtype}, and {self.share:.0%} of its numbers have changed while "
            f"{self.leader} did: updates smaller than half a digit are lost to rounding"
        )

    def remedy(self) -> str:
        return f"keep {self.name} in float32"


@dataclass(frozen=True)
class StatisticsStay(Reason):
    """The parameters of a network follow another one, and its running statistics do not."""

    code = "follower"
    keeps_loss = True
    name: str
    leader: str

    def text(self) -> str:
        return (
            f"the parameters of {self.name} follow those of {self.leader}, and the running "
            "statistics of its batch norms stay as they began: buffers are no parameters"
        )

    def remedy(self) -> str:
        return f"copy {self.leader}.buffers() to {self.name}.buffers() in each update, too"


def followers(facts: Facts) -> Iterator[Reason]:
    """Yield networks that follow another one, which learns, in a strange way."""
    pairs = facts[Alike].pairs.values()
    whole = {frozenset((pair.first[0], pair.second[0])) for pair in pairs}
    for pair in pairs:
        (one, _), (other, _) = pair.first, pair.second
        if not all(np.isfinite(each.parameters).all() for both in pair.states for each in both):
            continue
        around = frozenset(name.rpartition(".")[0] for name in (one, other))
        if len(pair.states) < _LOOKS or around in whole:
            continue
        yield from _follower(facts, one, other, pair.states)
        yield from _follower(facts, other, one, [(there, here) for here, there in pair.states])


def _follower(
    facts: Facts, leader: str, name: str, states: Sequence[tuple[State, State]]
) -> Iterator[Reason]:
    if not any(led.is_trained for led, _ in states):
        return
    if any(own.is_trained for _, own in states) or not states[0][1].parameters.size:
        return
    first, last = states[0], states[-1]
    if len({own.parameters.size for pair in states for own in pair}) != 1:
        return
    moved = [_moved([pair[side] for pair in states]) for side in (0, 1)]
    source = _moving_line(facts)
    dtype = first[1].dtype
    if dtype in _HALF and first[0].dtype != dtype and source != facts.line:
        led, own = (first[at].parameters != last[at].parameters for at in (0, 1))
        if own.mean() < _FEW_MOVE < 1 - _FEW_MOVE < led.mean():
            yield RoundedAway(name, leader, dtype, float(own.mean()), source=source)
    elif moved == [True, True]:
        shares = list(_shares(states))
        if len(shares) >= _LOOKS - 1 and all(_FAST[0] < each < _FAST[1] for each in shares):
            yield FollowsAtOnce(name, leader, float(np.median(shares)), source=source)
        follower = [own for _, own in states]
        stays = all(np.array_equal(each.running, first[1].running) for each in follower)
        leads = not np.array_equal(first[0].running, last[0].running)
        if leads and stays and not any(each.is_training for each in follower):
            yield StatisticsStay(name, leader, source=source)
    elif moved == [True, False] and np.allclose(
        first[0].parameters, first[1].parameters, atol=1e-2
    ):
        line = _conditional_copy(facts, name)
        if line is not None:
            yield NeverFollows(name, leader, len(facts.run.indices), source=line)


def _moved(states: Sequence[State]) -> bool:
    return not all(np.array_equal(each.parameters, states[0].parameters) for each in states)


def _shares(states: Sequence[tuple[State, State]]) -> Iterator[float]:
    """Yield, of pairs of calls in a row, which share of its leader a network has taken, where it
    has moved towards that."""
    for (led, own), (led_now, now) in pairwise(states):
        change = now.parameters - own.parameters
        if now.call != own.call + 1 or not change.any():
            continue
        for goal in (led_now.parameters, led.parameters):
            way = goal - own.parameters
            length = float(way @ way)
            share = float(change @ way) / length if length else 0.0
            if share and np.abs(change - share * way).max() < 0.01 * np.abs(change).max():
                yield share
                break


def _moving_line(facts: Facts) -> Source | None:
    """Return the first line that changes tensors in place, as one does that moves weights."""
    for file in facts[Files].names:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Call) and name_of(node.func) in _MOVING:
                return Source(file, node.lineno)
    return facts.line


def _conditional_copy(facts: Facts, name: str) -> Source | None:
    """Return the line, within a loop or a function, that loads a state into ``name``."""
    last = name.rpartition(".")[2]
    for file in facts[Files].names:
        for part in ast.walk(tree_of(file)):
            if not isinstance(part, ast.If | ast.For | ast.While | ast.FunctionDef):
                continue
            for node in ast.walk(part):
                match node:
                    case ast.Call(func=ast.Attribute(value=owner, attr="load_state_dict")):
                        if name_of(owner) == last and getattr(part, "name", "") != "__init__":
                            return Source(file, node.lineno)
    return None


RULES: Final = (
    Rule(followers, Meaning(
        "follower", "warning", "a network does not follow another one as it should",
        "Both are built alike, one learns, and the other is moved towards it: by nearly the whole "
        "way in each step, never, or without its running statistics.",
        "for slow, fast in zip(teacher.parameters(), net.parameters()):\n"
        "    slow.data.mul_(0.01).add_(fast.data, alpha=0.99)",
        "    slow.data.mul_(0.99).add_(fast.data, alpha=0.01)",
        "When it should be nearly the same as the other one.",
    ), needs=(Objects, Alike, Files)),
)  # fmt: skip
