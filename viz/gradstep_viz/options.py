"""The options of a picture: one set for Python, the command line, Sphinx and Markdown.

Every front end derives its options and their help from :class:`RenderOptions`, so that a field
that is added here exists everywhere.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from textwrap import fill
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from gradstep.graph.model import View
from gradstep_viz.errors import UnknownFormat, VizError
from gradstep_viz.picture.model import RankDir
from gradstep_viz.picture.wording import DEFAULT_FACTS, FACTS

Theme = Literal["auto", "light", "dark"]
LayoutName = Literal["own", "graphviz"]
DrawnView = Literal["auto", View, "flow"]

PAGE_WIDTH: Final = 830
"""So many pixels wide is the text of a README."""

MAX_BOXES: Final = 60
MOST_BOXES: Final = 400
"""No picture has more that was not asked for."""
MAX_BOXES_OF_BOTH: Final = 40
"""Two halves side by side, on one screen: twenty rows of two."""

F = TypeVar("F", bound=Callable[..., Any])
ROOM_TO_OPEN: Final = 30
_PIXELS: Final = {"": 1.0, "px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
"""Of CSS, in one unit of each kind."""
HOPS: Final = 2


SLIDE_WIDTH: Final = 930
"""A picture of a given shape is as fine as can be read at this width: it is seen from further away
than a page."""


_FOR_ALL: Final = ("view", "theme", "title", "captions", "label", "width", "shape", "fold")
"""Options that a picture of rows has, too."""


def _option(default: Any, doc: str, metavar: str = "", *, large: bool = False) -> Any:
    """Make a field with its documentation; ``large`` if it is for large graphs."""
    return field(default=default, metadata={"doc": doc, "metavar": metavar, "large": large})


class Room(NamedTuple):
    """Where a picture is shown, in pixels of CSS."""

    width: float
    height: float = math.inf

    def scale(self, width: float, height: float) -> float:
        """Return the largest scale at which what is so large fits."""
        return min(self.width / width, self.height / height)

    def without(self, height: float) -> Room:
        """Return what is left above something so high."""
        return self._replace(height=self.height - height)


@dataclass(frozen=True)
class RenderOptions:
    """How a graph is drawn.

    A picture is folded until it fits: shape ops join the op that they serve, then scopes, repeats
    and loops fold as far as necessary.

    >>> from gradstep_viz import RenderOptions
    >>> RenderOptions(view="backward", expand="layers.3").expand
    ('layers.3',)

    Attributes:
        {fields}

    Raises:
        VizError: an option has an unknown value, or two options contradict each other.
    """

    view: DrawnView = _option(
        "auto",
        "forward, backward, both with the saved tensors between them, or flow, one row for each "
        "module or op of the program with the gradient that reaches it (default: both where that "
        "can be read at the width of a README, 830 pixels, else flow)",
        "VIEW",
    )
    leaves: bool | None = _option(
        None,
        "draw a box for every leaf and AccumulateGrad (default: only for shared ones, while they "
        "are few)",
    )
    layout: LayoutName = _option("own", "the layout engine: own or graphviz", "LAYOUT")
    rankdir: RankDir = _option(
        "TB",
        "the direction of the forward half: TB (down) or LR (right), as in Graphviz",
        "DIR",
    )
    theme: Theme = _option(
        "auto", "light, dark, or auto, which follows the reader's system", "THEME"
    )
    title: str | None = _option(None, "title of the picture", "TEXT")
    captions: bool | None = _option(
        None, "write below the title what the picture shows (default: yes)"
    )
    magnitude: bool | None = _option(
        None,
        "show the size of gradients by a bar, a shade and a line width, on a log scale "
        "(default: if "
        "they differ by more than a factor of 100)",
    )
    legend: bool = _option(False, "explain the colours, lines and marks in the picture")
    link: str | None = _option(
        None,
        "link boxes to lines of the program: vscode://file/{path}:{line} or "
        "https://host/repo/blob/main/{path}#L{line}",
        "URL",
    )
    label: str | Sequence[str] = _option(
        (),
        "call a node or a leaf by a name of your own, as addmm:1='W₁ x' or fc.weight=W; or the "
        "name of a file with such a line for each; may be repeated",
        "ADDRESS=TEXT",
    )
    show: str | Sequence[str] = _option(
        (),
        "the facts to show, separated by commas: shapes, rms (and other numbers), formulas, saved "
        "(lines to saved values), lines (of the program) (default: all but lines)",
        "FACTS",
    )
    width: str | None = _option(
        None,
        "the width at which the picture is shown, as 800 (pixels), 88mm or 6in: it is as fine as "
        "can be read there (default: a screen)",
        "WIDTH",
    )
    shape: str | None = _option(
        None,
        "the shape to fill, as 16:9 for a slide: long halves continue in further columns, and the "
        "picture is no finer than can be read on a slide",
        "W:H",
    )
    max_boxes: int | None = _option(
        None,
        "the most boxes to draw (default: 60, or 40 if both halves are shown, or fewer if the "
        "picture would not be readable on one screen)",
        "N",
        large=True,
    )
    depth: int | None = _option(
        None, "open modules and scopes down to this depth, and no further", "N", large=True
    )
    expand: str | Sequence[str] = _option(
        (),
        "open this module or scope (layers.3), or this round of a loop (t=3); may be repeated",
        "NAME",
        large=True,
    )
    fold: str | Sequence[str] = _option(
        (),
        "keep this module (layers.3), or all of this class (ResBlock), folded; may be repeated",
        "NAME",
        large=True,
    )
    full: bool = _option(False, "fold nothing", large=True)
    around: str | None = _option(
        None,
        "draw only the neighbourhood of a node, given as an address (encoder.0/addmm:2), an op, a "
        "scope or the name of a leaf",
        "NODE",
        large=True,
    )
    hops: int | None = _option(
        None, "the size of that neighbourhood in edges (default: 2)", "K", large=True
    )
    path: str | None = _option(
        None, "draw only the paths between two nodes (loss..fc1.weight)", "A..B", large=True
    )

    def __post_init__(self) -> None:
        names = (self.expand,) if isinstance(self.expand, str) else tuple(self.expand)
        object.__setattr__(self, "expand", names)
        names = (self.fold,) if isinstance(self.fold, str) else tuple(self.fold)
        object.__setattr__(self, "fold", names)
        labels = (self.label,) if isinstance(self.label, str) else tuple(self.label)
        object.__setattr__(self, "label", labels)
        shown = (self.show,) if isinstance(self.show, str) else self.show
        facts = tuple(fact.strip() for text in shown for fact in text.split(","))
        object.__setattr__(self, "show", facts)
        for fact in facts:
            validate("fact to show", fact, FACTS)
        for option in render_options():
            if option.choices:
                validate(option.name, getattr(self, option.name), option.choices)
        if self.width is not None and not self.pixels:
            raise VizError(
                f"'{self.width}' is not a width",
                remedy="write a number of pixels, or 88mm, 9cm, 6in",
            )
        if self.shape is not None and not self.aspect:
            raise VizError(f"'{self.shape}' is not a shape", remedy="write two numbers, as in 16:9")
        if self.full and self.folds:
            raise VizError(
                "full folds nothing, so max_boxes, depth, expand and fold have no effect",
                remedy="leave out either full or the others",
            )
        if self.hops is not None and self.around is None:
            raise VizError("hops needs around, which names the node", remedy="add around")
        if any(number is not None and number < 1 for number in (self.max_boxes, self.depth)):
            raise VizError("max_boxes and depth must be at least 1", remedy="give a larger number")

    @property
    def pixels(self) -> float | None:
        """The width at which it is shown in CSS pixels, None where that is not given."""
        if self.width is None:
            return None if self.shape is None else SLIDE_WIDTH
        return pixels_of(self.width)

    @property
    def aspect(self) -> float | None:
        """The width of the picture for a height of 1, None where that is not given."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)", (self.shape or "").strip())
        width, height = (float(match[1]), float(match[2])) if match else (0, 0)
        return width / height if width and height else None

    @property
    def room(self) -> Room | None:
        """Where it is shown, None where that is not given."""
        if self.pixels is None:
            return None
        return Room(self.pixels, self.pixels / self.aspect if self.aspect else math.inf)

    @property
    def halves(self) -> View:
        """The halves of the graph that are drawn."""
        return "both" if self.view == "auto" or self.view == "flow" else self.view

    @property
    def is_about_boxes(self) -> bool:
        """Whether options were given that only pictures of boxes have, or how these are folded."""
        known = ((one, getattr(self, one.name)) for one in fields(self))
        return any(
            one.name not in _FOR_ALL and given not in (one.default, ()) for one, given in known
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """Those of :data:`~gradstep_viz.picture.wording.FACTS` that are shown."""
        return tuple(self.show) or DEFAULT_FACTS

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The names of the user's own, by the addresses of nodes.

        Raises:
            VizError: an entry is neither a name for an address nor a file that can be read.
        """
        names: dict[str, str] = {}
        for entry in self.label:
            names |= dict([_label(entry)] if "=" in entry else map(_label, _lines_of(entry)))
        return names

    @property
    def folds(self) -> bool:
        """Return whether folding was asked for."""
        chosen = self.max_boxes is not None or self.depth is not None
        return chosen or bool(self.expand or self.fold)

    @property
    def most_boxes(self) -> int:
        """How many boxes there may be."""
        if self.max_boxes is not None:
            return self.max_boxes
        return MAX_BOXES_OF_BOTH if self.halves == "both" else MAX_BOXES

    def opening(self, names: Sequence[str]) -> RenderOptions:
        """Return the same options with the groups of these names open, and room for them, so that
        little else has to close."""
        if not names:
            return self
        most = self.most_boxes + ROOM_TO_OPEN * len(names)
        return replace(self, expand=(*self.expand, *names), max_boxes=most)


def pixels_of(width: str) -> float | None:
    """Read a width in units of paper or screen as CSS pixels, None of any other.

    >>> pixels_of("800"), pixels_of("1in"), pixels_of("80%")
    (800.0, 96.0, None)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]*)", width.strip())
    return float(match[1]) * _PIXELS[match[2]] if match and match[2] in _PIXELS else None


def _label(entry: str) -> tuple[str, str]:
    """Read ``addmm:1=W x``: an address has no ``=`` but in ``i=3``."""
    address, sign, text = entry.partition("=")
    if not (sign and address.strip() and text.strip()):
        raise VizError(f"'{entry}' is not a label", remedy="write an address, = and a name")
    return address.strip(), text.strip().strip("'\"")


def _lines_of(file: str) -> list[str]:
    try:
        lines = Path(file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise VizError(
            f"cannot read labels from '{file}' ({type(error).__name__})",
            remedy="write ADDRESS=TEXT, or the name of a text file with such lines",
        ) from None
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


class RenderKeywords(TypedDict, total=False):
    """The fields of :class:`RenderOptions`, for the type checkers of those who write them as
    keywords."""

    view: DrawnView
    leaves: bool | None
    layout: LayoutName
    rankdir: RankDir
    theme: Theme
    title: str | None
    captions: bool | None
    magnitude: bool | None
    legend: bool
    link: str | None
    label: str | Sequence[str]
    show: str | Sequence[str]
    width: str | None
    shape: str | None
    max_boxes: int | None
    depth: int | None
    expand: str | Sequence[str]
    fold: str | Sequence[str]
    full: bool
    around: str | None
    hops: int | None
    path: str | None


Kind = Literal["flag", "switch", "number", "choice", "text", "texts"]


class Option(NamedTuple):
    """One option, as front ends that read text need to know it.

    A ``flag`` is off or on, a ``switch`` may also be left to the program; ``texts`` are several.
    ``large`` options are those for large graphs.
    """

    name: str
    kind: Kind
    default: Any
    doc: str
    metavar: str
    choices: tuple[str, ...]
    large: bool


@cache
def render_options() -> tuple[Option, ...]:
    """List the fields of :class:`RenderOptions`, in their order.

    >>> [(option.name, option.kind) for option in render_options()][:3]
    [('view', 'choice'), ('leaves', 'switch'), ('layout', 'choice')]
    """
    hints = get_type_hints(RenderOptions)
    return tuple(
        Option(
            option.name,
            _kind_of(hints[option.name]),
            option.default,
            option.metadata["doc"],
            option.metadata["metavar"],
            get_args(hints[option.name]) if get_origin(hints[option.name]) is Literal else (),
            option.metadata["large"],
        )
        for option in fields(RenderOptions)
    )


def _kind_of(hint: Any) -> Kind:
    if get_origin(hint) is Literal:
        return "choice"
    if hint is bool:
        return "flag"
    kinds: dict[Any, Kind] = {
        bool | None: "switch",
        int | None: "number",
        str | None: "text",
        str | Sequence[str]: "texts",
    }
    return kinds[hint]


def validate(option: str, value: str, values: Collection[str]) -> None:
    """See that ``value`` is one of those that ``option`` may have.

    Raises:
        UnknownFormat: it is not; with those that are.
    """
    if value not in values:
        raise UnknownFormat(
            f"there is no {option} {value!r}", remedy=f"choose one of {', '.join(values)}"
        )


def takes_options(function: F) -> F:
    """Document the keywords ``**options`` of ``function``: each with its default in the
    signature, and with its sentence in the docstring."""
    signature = inspect.signature(function)
    keywords = [
        inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default,
            annotation=RenderKeywords.__annotations__[option.name],
        )
        for option in render_options()
    ]  # fmt: skip
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    function.__signature__ = signature.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
    function.__doc__ = _with_options(function, "{options}")
    return function


def _with_options(documented: Any, place: str) -> str:
    """Return a docstring with the fields in ``place``, an entry of ``Args`` or ``Attributes``."""
    # Python 3.13 takes the indentation from docstrings, earlier ones leave it
    return (inspect.getdoc(documented) or "").replace(
        f"    {place}",
        "\n".join(
            fill(
                f"{option.name}: {option.doc}.",
                100,
                initial_indent=" " * 4,
                subsequent_indent=" " * 8,
                break_on_hyphens=False,
            )
            for option in render_options()
        ),
    )


RenderOptions.__doc__ = _with_options(RenderOptions, "{fields}")
