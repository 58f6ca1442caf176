"""Settings of layers and optimizers that are far from what anybody uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from gradstep.contract.module_paths import joined, named_modules
from gradstep.findings.facts import Fact, Facts, Objects
from gradstep.findings.facts.program import Files
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import calls_of, calls_with
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.guest.fence import attribute_of
from gradstep.recording.look import Look

Means = Literal["dropped", "all", "hides", "slope", "smooth", "forgets", "damps", "grows"]


class Usual(NamedTuple):
    """What is usual: the classes and the name of a setting, whether a number is strange there, what
    the number means, and what is usual in its place."""

    kinds: tuple[str, ...]
    setting: str
    is_strange: Callable[[float], bool]
    means: Means
    usual: str


_DROPOUTS: Final = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")
_NORMS: Final = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "GroupNorm", "RMSNorm")
_ADAMS: Final = ("Adam", "AdamW", "NAdam", "RAdam", "Adamax")
USUAL: Final = (
    Usual(_DROPOUTS, "p", lambda p: 0.8 <= p < 1, "dropped", "0.1 to 0.5"),
    Usual(_DROPOUTS, "p", lambda p: p == 1, "all", "0.1 to 0.5"),
    Usual(_NORMS, "eps", lambda eps: eps >= 0.1, "hides", "1e-05"),
    Usual(("LeakyReLU",), "negative_slope", lambda slope: not 0 <= slope < 1, "slope", "0.01"),
    Usual(("CrossEntropyLoss",), "label_smoothing", lambda share: share >= 0.5, "smooth", "0.1"),
    Usual(_ADAMS, "betas[1]", lambda share: share < 0.5, "forgets", "0.999"),
    Usual(_ADAMS, "eps", lambda eps: eps >= 0.1, "damps", "1e-08"),
    Usual(("SGD", "RMSprop"), "momentum", lambda share: not 0 <= share < 1, "grows", "0.9"),
    Usual(("RMSprop",), "alpha", lambda share: share < 0.5, "forgets", "0.99"),
)


@dataclass(frozen=True)
class Strange(Reason):
    """A ``setting`` of ``owner``, a ``kind``, is a number far from the ``usual`` one."""

    code = "setting"
    owner: str
    kind: str
    setting: str
    number: float
    means: Means
    usual: str

    def text(self) -> str:
        means = {
            "dropped": "is the share that is dropped, not the share that is kept",
            "all": "drops everything",
            "hides": "is added to the variance, and hides that of small numbers",
            "slope": "is what negative numbers are multiplied by",
            "smooth": "is the share of each target that goes to all classes alike",
            "forgets": (
                "is the share that is kept of the mean of squared gradients: a step is nearly as "
                "large for each gradient"
            ),
            "damps": (
                "is added to the size of gradients, by which a step divides: where gradients are "
                "smaller, steps are, too"
            ),
            "grows": "is the share of each step that is added to the next one: steps grow",
        }[self.means]
        return f"{self.setting}={format_number(self.number)} of {self.owner} ({self.kind}) {means}"

    def remedy(self) -> str:
        return f"{self.setting} is usually {self.usual}"


class Settings(Fact):
    """The settings of modules and optimizers, by their class and name: the first object that has
    each, and its number."""

    def __init__(self) -> None:
        self.known: dict[tuple[Usual, str], tuple[str, float]] = {}

    def closely(self, look: Look) -> None:
        if look.looks > 1:
            return
        for name, outermost in look.names.modules.items():
            for path, module in named_modules(outermost):
                kind = type(module).__name__
                self._take(kind, joined(name, path), partial(attribute_of, module))
        optimizers = look.names.optimizers
        for name, group, _ in look.names.trained():
            self._take(type(optimizers.get(name)).__name__, name, group.get)

    def _take(self, kind: str, name: str, read: Callable[[str], Any]) -> None:
        for usual in _OF_KIND.get(kind, ()):
            setting, _, place = usual.setting.partition("[")
            value = read(setting)
            if place and isinstance(value, tuple | list) and len(value) == 2:
                value = value[int(place[0])]
            if isinstance(value, int | float):
                self.known.setdefault((usual, kind), (name, float(value)))
                if usual.is_strange(float(value)):
                    self.known[usual, kind] = name, float(value)


_OF_KIND: Final[dict[str, list[Usual]]] = {}
for _usual in USUAL:
    for _kind in _usual.kinds:
        _OF_KIND.setdefault(_kind, []).append(_usual)


def settings(facts: Facts) -> Iterator[Reason]:
    """Yield settings whose numbers are strange."""
    for (usual, kind), (name, number) in facts[Settings].known.items():
        if usual.is_strange(number):
            yield Strange(
                name, kind, usual.setting, number, usual.means, usual.usual,
                source=_made(facts, kind, usual.setting) or facts.line,
            )  # fmt: skip


def _made(facts: Facts, kind: str, setting: str) -> Source | None:
    """Return the line that makes the first object of a class, with the setting where one names
    it."""
    for file in facts[Files].names:
        lines = calls_of(kind, file)
        named = [line for line in lines if line in calls_with(setting.partition("[")[0], file)]
        if lines:
            return min(named or lines)
    return None


RULES: Final = (
    Rule(settings, Meaning(
        "setting", "warning", "a setting of a layer or an optimizer is far from usual",
        "It may mean something else here than in another library or paper: the share that is kept "
        "there is the share that is dropped here.",
        "nn.Dropout(0.9)  # the share that is kept", "nn.Dropout(0.1)",
        "When you have chosen it on purpose.",
    ), needs=(Objects, Settings), uses=(Files,)),
)  # fmt: skip
