"""Values that the program computes, or is given, and never reads, so that they have no effect."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from gradstep.findings.dataflow import Unread, ended_in, overwritten_in, unread_at_top, unread_in
from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Defined, Files, functions_of, name_of, names_read
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.guest.cells import is_cell
from gradstep.text import listed

How = Literal[
    "computed", "argument", "field", "round", "setting", "made", "function", "last", "once"
]
_IN_LOOPS: Final = ("round", "last", "once")
"""What makes a training wrong as a rule; of others, many programs that are right have leftovers."""
_ACTING: Final = frozenset([
    "acquire", "add", "add_module", "append", "apply", "backward", "clear", "close", "collect",
    "compile", "copy", "cpu", "cuda", "eval", "exec", "extend", "fit", "getLogger", "init", "input",
    "insert", "learn", "load", "load_state_dict", "log", "manual_seed", "next", "open", "pop",
    "popleft", "print", "push", "put", "read", "readline", "register_buffer",
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
    "register_hook", "register_parameter", "remove", "reset", "run", "seed", "send", "setattr",
    "share_memory", "start", "step", "submit", "to", "train", "update", "write", "zero_grad",
])  # fmt: skip
"""Functions and methods that may do more than return something, wherever they come from."""
_MEASURING: Final = frozenset(["item", "float", "tolist", "clone", "detach", "deepcopy", "time"])
_VIEWING: Final = ("view", "view_as", "view_as_real", "view_as_complex")
_SEVERAL: Final = ("next", "map", "unbind", "chunk", "split", "tensor_split", "zip")
_DRAWING: Final = re.compile("sample|batch|fetch|draw")
_SETTING: Final = re.compile(
    r"(^|_)(alpha|beta|clip|coef|coeff|decay|discount|dropout|entropy|eps|epsilon|gamma|lambda|"
    r"lambd|lr|margin|max_norm|momentum|penalty|polyak|scale|sigma|smoothing|tau|temp|temperature|"
    r"warmup|weight|weights)($|_)",
    re.IGNORECASE,
)
"""Names of numbers that are given to make a difference in a training."""
_WITHOUT_PARAMETERS: Final = re.compile(r"(Alpha|Feature)?Dropout\d?d?|Softmax\d?d?|(Log)?Sigmoid")
_STANDARD: Final = (
    "combinations", "enumerate", "items", "named_buffers", "named_children", "named_modules",
    "named_parameters", "permutations", "product", "range", "sorted", "walk", "zip",
)  # fmt: skip
"""Iterators that yield more than their users need."""
_READS_ALL: Final = frozenset(["vars", "asdict", "getattr", "__dict__", "locals", "globals"])
_TRAINING: Final = frozenset(["backward", "grad", "fit", "train"])
_LONGEST: Final = 60
_UPDATING: Final = re.compile(
    r"anneal|clip|constrain|copy|decay|detach|ema|follow|freeze|init_|_init|mask|momentum|norm|"
    r"polyak|project|refresh|renorm|soft|sync|target|update|warm"
)
"""What functions are called that a training needs now and then."""
_BASES: Final = ("Module", "object", "Dataset")


@dataclass(frozen=True)
class NeverRead(Reason):
    """No line reads a value, or none before the line ``other`` assigns to the same name; ``owner``
    is what it is an argument, or a field, of, or its class."""

    code = "unread"
    is_hint = True
    name: str
    how: How
    owner: str = ""
    kept: tuple[str, ...] = ()

    def text(self) -> str:
        again = ", before the same name is assigned again" if self.other else ""
        match self.how:
            case "argument":
                return (
                    f"{self.owner}() is given {self.name}, and never reads it{again}: it is not "
                    "used, and has no effect"
                )
            case "field":
                are = "is" if len(self.kept) == 1 else "are"
                kept = f"{listed(self.kept)} {are}"
                return f"{self.name}, a part of {self.owner}, is never read or used; {kept}"
            case "round":
                return (
                    f"the loop never reads {self.name}: each round does the same with all "
                    "else that it reads"
                )
            case "setting":
                return f"no line reads {self.name}: this number is not used, and has no effect"
            case "last":
                return (
                    f"each round of the loop assigns {self.name} again, and none reads it: what is "
                    "read behind the loop is that of the last round only"
                )
            case "once":
                return (
                    f"this {self.name} ends the loop in its first round: what the loop sums up, or "
                    "trains, has one round only"
                )
            case "function":
                return f"no line calls {self.name}(): what it changes stays as it was"
            case "made":
                return f"no line reads {self.name}: the {self.owner} is made, and never used"
        return f"{self.name} is computed here, and never read{again}: it is not used"


def unread(facts: Facts) -> Iterator[Reason]:
    """Yield what lines of the program compute, or are given, and no line reads."""
    for file, tree in facts[Files].trees():
        if not is_cell(file):
            yield from unread_of(file, tree, facts[Files].read_elsewhere(file))


def unread_of(
    file: str, tree: ast.Module, elsewhere: frozenset[str] = frozenset()
) -> Iterator[NeverRead]:
    """Yield what is never read in a file, but for names that other files read."""
    program = _Program.of(tree, elsewhere)
    for defined in functions_of(tree):
        if defined.owner or defined.node.name in program.read:
            for each in unread_in(defined.node):
                is_given = each.kind == "given"
                found = program.argument(each, defined) if is_given else program.value(each)
                if found is not None:
                    yield found.at(file, each)
    is_whole = not _TRAINING.isdisjoint(program.read)  # else others use what it has
    for each in unread_at_top(tree) if is_whole else ():
        found = None if each.name in elsewhere else program.value(each, is_top=True)
        if found is not None:
            yield found.at(file, each)
    for body in [tree.body, *(defined.node.body for defined in functions_of(tree))]:
        for lost in overwritten_in(body):
            began = Source(file, lost.began) if lost.began else None
            yield _Found(lost.name, "last").on(Source(file, lost.line), began)
    for loop, end in ended_in(tree):
        name = "return" if isinstance(end, ast.Return) else "break"
        yield _Found(name, "once").on(Source(file, end.lineno), Source(file, loop.lineno))
    for defined in functions_of(tree):
        if program.is_forgotten(defined):
            yield _Found(defined.node.name, "function").on(Source(file, defined.node.lineno))
    if _READS_ALL.isdisjoint(program.read):
        for line, found in program.settings(tree):
            yield found.on(Source(file, line))


class _Found(NamedTuple):
    """What is said of a value that nobody reads."""

    name: str
    how: How
    owner: str = ""
    kept: tuple[str, ...] = ()
    is_note: bool = False

    def at(self, file: str, each: Unread) -> NeverRead:
        is_again = each.again not in (0, each.line) and self.how in ("argument", "computed")
        return self.on(Source(file, each.line), Source(file, each.again) if is_again else None)

    def on(self, source: Source, other: Source | None = None) -> NeverRead:
        return NeverRead(
            self.name, self.how, self.owner, self.kept,
            source=source, other=other, is_note=self.is_note or self.how not in _IN_LOOPS,
        )  # fmt: skip


class _Program(NamedTuple):
    """What a file has: how often it defines functions of a name, the names, and of these the
    attributes, that are read, its classes, what holds an object of each of them, and all calls."""

    defined: Mapping[str, int]
    read: frozenset[str]
    attributes: frozenset[str]
    classes: Mapping[str, ast.ClassDef]
    holding: Mapping[str, frozenset[str]]
    calls: tuple[ast.Call, ...]

    @classmethod
    def of(cls, tree: ast.Module, elsewhere: frozenset[str]) -> _Program:
        nodes = list(ast.walk(tree))
        classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
        return cls(
            Counter(each.node.name for each in functions_of(tree)),
            elsewhere.union(names_read(tree)),
            elsewhere.union(names_read(tree, variables=False)),
            classes,
            {name: _holding(name, nodes) for name in classes},
            tuple([node for node in nodes if isinstance(node, ast.Call)]),
        )

    def argument(self, each: Unread, defined: Defined) -> _Found | None:
        """Return what is said of an argument that a function does not read, although somebody
        gives it more than a constant there."""
        node, owner = defined.node, self.classes.get(defined.owner)
        if each.name.startswith("_") or each.name not in defined.parameters:
            return None
        if all(isinstance(part, ast.Pass | ast.Raise | ast.Expr) for part in node.body):
            return None  # it has no body yet
        is_call = node.name in ("forward", "__call__")
        if is_call and owner is not None:
            others = [names for name, names in self.holding.items() if name != owner.name]
            names = self.holding[owner.name].difference(*others)
        elif self.defined[node.name] > 1 or node.name == "__init__":
            return None  # others of its name may need it
        else:
            names = frozenset({node.name})
        if owner is not None and any(name_of(base).endswith("Function") for base in owner.bases):
            return None
        place = defined.parameters.index(each.name)
        given = [
            _given(call, place, each.name) for call in self.calls if name_of(call.func) in names
        ]
        if all(value is None or isinstance(value, ast.Constant) for value in given):
            return None
        return _Found(each.name, "argument", defined.owner if is_call else node.name)

    def value(self, each: Unread, *, is_top: bool = False) -> _Found | None:
        """Return what is said of a value that is assigned, unpacked, or one of those of a loop."""
        value = each.value
        if each.name.startswith("_") or value is None:
            return None
        if each.kind == "assigned":
            return self._assigned(each, value, is_top)
        if not each.others:
            is_data = isinstance(value, ast.Name | ast.Attribute) and not _is_size(value)
            is_round = each.kind == "looped" and each.place == 0 and is_data
            return _Found(each.name, "round") if is_round else None
        if each.kind == "looped" and isinstance(value, ast.Call):
            if name_of(value.func) == "enumerate" and each.place > 0 and value.args:
                value = value.args[0]
            elif name_of(value.func) in _STANDARD:
                return None
        if isinstance(value, ast.Call):
            called = name_of(value.func)
            is_drawn = called in _SEVERAL or _DRAWING.search(called.lower())
            if not (is_drawn or each.kind == "looped") or _is_size(value.func):
                return None
        elif not isinstance(value, ast.Attribute | ast.Name | ast.Subscript) or _is_size(value):
            return None
        is_label = len(each.others) == 1 and each.place > 0  # images may be all that is needed
        return _Found(each.name, "field", _short(value), each.others, is_note=is_label)

    def _assigned(self, each: Unread, value: ast.expr, is_top: bool) -> _Found | None:
        calls = [part for part in ast.walk(value) if isinstance(part, ast.Call)]
        names = [name_of(call.func) for call in calls]
        if isinstance(value, ast.Call) and names[0][:1].isupper():
            is_lost = is_top and not each.again and names[0] not in self.classes
            return _Found(each.name, "made", names[0]) if is_lost else None
        if is_top and not _MEASURING.isdisjoint(names):
            return None  # it may be there to be looked at
        is_plain = isinstance(value, ast.Call) and names[0] in self.defined
        # what a function of the program returns may not matter, unless more is made of it
        own = self.defined if is_plain or (is_top and not each.again) else ()
        acts = any(
            name in _ACTING or name in own or not name or name.endswith("_")
            or name[:1].isupper()
            for name in names
        )  # fmt: skip
        is_computed = isinstance(value, ast.Call | ast.BinOp | ast.UnaryOp)
        if acts or not is_computed or (names and names[0] in _VIEWING):
            return None
        is_walrus = any(isinstance(part, ast.NamedExpr | ast.Await) for part in ast.walk(value))
        return None if is_walrus else _Found(each.name, "computed")

    def is_forgotten(self, defined: Defined) -> bool:
        """Return whether a function changes something, as a training needs it, and nobody names
        it."""
        node, owner = defined.node, self.classes.get(defined.owner)
        if node.name in self.read or node.decorator_list or node.name.startswith("__"):
            return False
        if not _UPDATING.search(node.name):
            return False
        if owner is not None and any(name_of(base) not in _BASES for base in owner.bases):
            return False  # who calls its methods is unknown
        return any(
            name_of(part.func).endswith("_") or name_of(part.func) == "load_state_dict"
            if isinstance(part, ast.Call)
            else any(isinstance(target, ast.Attribute) for target in _targets(part))
            for part in ast.walk(node)
        )

    def settings(self, tree: ast.Module) -> Iterator[tuple[int, _Found]]:
        """Yield numbers that are set by name, and layers without parameters, that no line reads."""
        for node in tree.body:
            if isinstance(node, ast.Assign) and _is_number(node.value):
                for target in node.targets:
                    name = name_of(target)
                    if name not in self.read and _SETTING.search(name):
                        yield node.lineno, _Found(name, "setting")
        for owner in self.classes.values():
            for part in ast.walk(owner):
                match part:
                    case ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value
                    ):
                        kind = name_of(value.func) if isinstance(value, ast.Call) else ""
                        if name in self.attributes:
                            continue
                        if _WITHOUT_PARAMETERS.fullmatch(kind):
                            yield part.lineno, _Found(f"self.{name}", "made", kind)
                        elif isinstance(value, ast.Name | ast.Constant) and _SETTING.search(name):
                            yield part.lineno, _Found(f"self.{name}", "setting")
                    case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() as value):
                        is_field = part in owner.body and name not in self.attributes
                        if is_field and _is_number(value) and _SETTING.search(name):
                            yield part.lineno, _Found(f"{owner.name}.{name}", "setting")


def _holding(name: str, nodes: list[ast.AST]) -> frozenset[str]:
    """Return the names of variables and attributes that hold what is made of a class, or a list of
    that, and those of loops over it."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and any(
            isinstance(part, ast.Call) and name_of(part.func) == name
            for part in ast.walk(node.value)
        ):
            targets = [part for target in node.targets for part in _parts(target)]
            names.update(map(name_of, targets))
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension) and any(
            name_of(part) in names for part in ast.walk(node.iter) if isinstance(part, ast.expr)
        ):
            names |= {name_of(part) for part in ast.walk(node.target) if isinstance(part, ast.expr)}
    return frozenset(names - {""})


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _given(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """Return what a call gives as an argument, None where it gives nothing, or it is unknown."""
    if any(isinstance(value, ast.Starred) for value in call.args[: place + 1]):
        return None
    if place < len(call.args):
        return call.args[place]
    return next((each.value for each in call.keywords if each.arg == name), None)


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign) else []


def _is_size(value: ast.expr) -> bool:
    return name_of(value) in ("shape", "size")


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def _short(value: ast.expr) -> str:
    text = ast.unparse(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


RULES: Final = (
    Rule(unread, Meaning(
        "unread", "warning", "a value is computed, or given, and never read",
        "No line reads it on any path through its function, so that it has no effect: an argument "
        "that callers give, a field of a batch, the result of a computation, or a setting.",
        "state, reward, done = batch\ntarget = reward + gamma * value(state)",
        "target = reward + gamma * (1 - done) * value(state)",
        "When it is a leftover: delete it, or begin its name with an underscore.",
    ), needs=(Files,)),
)  # fmt: skip
