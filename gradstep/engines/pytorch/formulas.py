"""The derivative rules that PyTorch's nodes run, from the table that comes with PyTorch.

``torchgen`` carries ``derivatives.yaml``, from which PyTorch's nodes are generated.  The number at
the end of a node's name counts the entries of its op; where what the node saves is not what the
entry says, the entry is another version's, and there is no formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradstep.contract.protocol import Rule
from gradstep.graph.statistics import format_constant

LONGEST: Final = 60
"""Characters of a rule; a longer one is a piece of C++, and tells nobody anything."""


class Derivative(NamedTuple):
    """An entry of the table: its op, the names in the signature, those of them that rules may read
    as plain values, and the rule of each input."""

    op: str
    names: frozenset[str]
    plain: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]


def formula(node: Any, kept: Iterable[Any], names: Any) -> str:
    """Return the rules of the inputs of ``node`` that need a gradient, with the names of the
    program's tensors put in; "" where they are unknown, or too long to read."""
    name = node.name()
    entry, kept = entry_of(name), list(kept)
    if entry is None:
        return ""
    called = tuple([(key, names.of(value)) for key, value, _ in kept if value is not None])
    numbers = _plain_numbers(node, entry) + tuple(
        [
            (key, value.number)
            for key, value, _ in kept
            if value is not None and isinstance(value.number, int | float) and not names.of(value)
        ]
    )
    needed = tuple([edge is not None for edge in node.edges])
    return _formula(name, node.saved_names, needed, called, numbers)


def _plain_numbers(node: Any, entry: Derivative) -> tuple[tuple[str, float], ...]:
    return tuple(
        [
            (key, signed(value))
            for key in entry.plain
            if isinstance(value := node.saved_argument(key), int | float)
        ]
    )


def signed(value: Any) -> Any:
    """Return a number as the op was given it: nodes tell negative ones modulo 2⁶⁴.

    >>> signed((2**64 - 1, 2))
    [-1, 2]
    """
    if isinstance(value, tuple):
        return [signed(number) for number in value]
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


def formulas(node: Any) -> tuple[tuple[str, str], ...]:
    """Return the rule of each input of ``node``, with the names of the table and the numbers of the
    node: (input, text)."""
    entry = entry_of(node.name())
    if entry is None or not {name.rstrip("_") for name in node.saved_names} <= entry.names:
        return ()
    numbers = dict(_plain_numbers(node, entry))
    return tuple((name, readable(rule, {}, numbers)) for name, rule in entry.rules)


def rules_with_names(node: Any) -> Iterator[Rule]:
    """Yield the rules that ``node`` runs for the inputs that need a gradient; nothing where the
    table has not one for each edge."""
    entry = entry_of(node.name())
    saved = {name.rstrip("_"): name for name in node.saved_names}
    if entry is None or not saved.keys() <= entry.names or len(entry.rules) != len(node.edges):
        return
    numbers = dict(_plain_numbers(node, entry))
    for name, value, _ in node.saved():
        if value is not None and isinstance(value.number, int | float):
            numbers[name] = value.number
    for nr, (name, rule) in enumerate(entry.rules):
        if node.edges[nr] is None:
            continue
        read = set(re.findall(r"(?<![.\w])[a-z]\w*\b(?!\()", _in_full(rule)))
        names = {saved[kept] for kept in read & saved.keys() - numbers.keys()}
        if "grad" in read:
            names.add("g")
        yield Rule(name, nr, names, partial(_with_texts, rule, numbers))


def _with_texts(rule: str, numbers: Mapping[str, float], texts: Mapping[str, str]) -> str:
    called = {"grad" if name == "g" else name.rstrip("_"): text for name, text in texts.items()}
    return readable(rule, called, numbers)


@lru_cache(maxsize=4096)
def _formula(
    name: str,
    saved: tuple[str, ...],
    needed: tuple[bool, ...],
    called: tuple[tuple[str, str], ...],
    numbers: tuple[tuple[str, float], ...],
) -> str:
    """Return the formula of all nodes that are alike in this."""
    entry = entry_of(name)
    if entry is None or not {kept.rstrip("_") for kept in saved} <= entry.names:
        return ""
    if len(entry.rules) != len(needed):
        return ""
    rules = [rule for (_, rule), wanted in zip(entry.rules, needed, strict=True) if wanted]
    texts = [readable(rule, dict(called), dict(numbers)) for rule in rules]
    return ", ".join(texts) if texts and max(map(len, texts)) <= LONGEST else ""


_HELPERS: Final[Mapping[str, str]] = {
    "mul_tensor_backward": "{0} * {1}",
    "div_tensor_self_backward": "{0} / {1}",
    "div_tensor_other_backward": "-{0} * {1} / {2}**2",
    "handle_r_to_c": "{1}",
    "maybe_multiply": "{0} * {1}",
    "mm_mat1_backward": "{0} @ {1}.t()",
    "mm_mat2_backward": "{1}.t() @ {0}",
    "pow_backward": "{0} * {2} * {1}**({2} - 1)",
    "pow_backward_self": "{0} * {2} * {1}**({2} - 1)",
    "threshold_backward": "where({1} > {2}, {0}, 0)",
    "tanh_backward": "{0} * (1 - {1}**2)",
    "sigmoid_backward": "{0} * {1} * (1 - {1})",
    "sum_backward": "expand({0}, {1})",
    "mean_backward": "expand({0}, {1}) / {3}",
}
"""Formulas of the helper functions that PyTorch's rules call."""


def readable(rule: str, called: Mapping[str, str], numbers: Mapping[str, float]) -> str:
    """Write a rule as a formula, with the names and the numbers of one node.

    >>> readable("mul_tensor_backward(grad, other, self.scalar_type())", {"other": "w"}, {})
    'g · w'
    >>> readable("pow_backward(grad, self, exponent)", {"self": "x"}, {"exponent": 3.0})
    'g · 3 · x²'
    >>> readable("pow_backward(grad, self, exponent)", {"self": "x"}, {"exponent": 3.5})
    'g · 3.5 · x^2.5'
    """
    text = _in_full(rule).replace(".conj()", "").replace("_symint", "").replace(".sym_", ".")
    for name, number in numbers.items():
        text = re.sub(rf"\b{name}\b(?!\()", format_constant(number), text)
        less = format_constant(number - 1)
        text = text.replace(f"({format_constant(number)} - 1)", less)
    text = re.sub(r" \* 1$", "", text)
    text = re.sub(r"\*\*1(?![\w.])", "", text)
    text = re.sub(r"(?<![.\w])([a-z]\w*)\b(?!\()", lambda m: called.get(m[1]) or m[1], text)
    text = re.sub(r"(?<![.\w])grad\b", "g", text)
    text = re.sub(r"\*\*(\d)(?![\w.])", lambda m: "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(m[1])], text)
    text = text.replace("**", "^").replace(" * ", " · ").replace(".t()", "ᵀ")
    return re.sub(r"-(?=[\w( ])", "\N{MINUS SIGN}", text)


def _in_full(rule: str) -> str:
    match = re.fullmatch(r"(\w+)\((.*)\)", rule)
    template = _HELPERS.get(match[1]) if match else None
    if match is None or template is None:
        return rule
    return template.format(*map(_in_full, _arguments(match[2])), *[""] * 4)


def _arguments(text: str) -> list[str]:
    """
    >>> _arguments("grad, self.size(0, 1), 2")
    ['grad', 'self.size(0, 1)', '2']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


@lru_cache(maxsize=4096)
def entry_of(name: str) -> Derivative | None:
    """Return the entry of a node by its name, None where there is none, or not just one.

    >>> entry_of("MulBackward0").rules[0][0], entry_of("FBackward")
    ('self', None)
    """
    match = re.fullmatch(r"(\w+?)Backward(\d+)", name)
    blocks = _table().get(match[1].lower(), []) if match else []
    entries = [entry for block in blocks if (entry := _entry(block)) is not None]
    number = int(match[2]) if match else 0
    return entries[number] if number < len(entries) else None


@lru_cache(maxsize=1)
def _table() -> dict[str, list[str]]:
    """Read the table, of which the form of each entry is one and the same, and return the entries
    of each op; a library for YAML takes a second."""
    spec = find_spec("torchgen")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    path = folder / "packaged" / "autograd" / "derivatives.yaml" if folder else None
    if path is None or not path.is_file():
        return {}
    table: dict[str, list[str]] = {}
    for block in re.split(r"\n(?=- name: )", path.read_text("utf-8"))[1:]:
        name = block[len("- name: ") : block.index("(")].partition(".")[0]
        stem = name if name.startswith("_") else name.rstrip("_")
        camel = "".join(part.title() for part in stem.split("_")).lower()
        camel = camel.removesuffix("forward")  # nll_loss_forward makes NllLossBackward0
        table.setdefault(camel, []).append(block)
    return table


def _entry(block: str) -> Derivative | None:
    head = re.match(r"- name: (\w+(?:\.\w+)?)\((.*)\) -> (.*)", block)
    if head is None:
        return None
    lines = re.findall(r"^ {2}(?: {4})?([\w, ]+): (.+)$", block, re.MULTILINE)
    rules: dict[str, str] = {}
    outputs = set(re.findall(r"(\w+)[,)]", head[3])) | {"result"}
    for inputs, rule in lines:
        if inputs in ("result", "output_differentiability", "dispatch") or inputs in outputs:
            continue
        if rule.startswith(("not_differentiable", "non_differentiable", "auto_")):
            continue
        for word in inputs.split(", "):
            rules.setdefault(word, rule.strip('"'))
    if not rules:
        return None
    order = [name for name in re.findall(r"(\w+)(?==|,|\)|$)", head[2] + ")") if name in rules]
    names = (
        frozenset(re.findall(r"\w+", head[2]))
        | outputs
        | {"result0", "result1", "result2", "result3"}
    )
    read = set(re.findall(r"\w+", " ".join(rules.values())))
    plain = tuple(re.findall(r"(?:Scalar|int|SymInt|float|bool)\?? (\w+)", head[2]))
    kept = tuple(name for name in plain if name in read)
    return Derivative(head[1], names, kept, tuple((name, rules[name]) for name in order))
