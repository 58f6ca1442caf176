"""One object that stands for all items, by the text of a program alone."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from gradstep.findings.rules.run.one_for_all import ones_of

CASES = {
    "net = nn.Sequential(*[nn.Linear(8, 8)] * 3)": "the nn.Linear(8, 8)",
    "net = nn.ModuleList([Block(4)] * depth)\nclass Block(nn.Module): pass": "the Block(4)",
    "net = nn.ModuleList([Block(4) for _ in range(3)])\nclass Block(nn.Module): pass": "",
    "rows = [torch.zeros(3)] * 4": "",
    "specs = [Spec(1)] * 4\nclass Spec: pass": "",
    """
    for name, part in parts:
        part.register_forward_hook(lambda module, given, out: seen.append((name, out)))
    """: "the last name",
    """
    for name in names:
        read[name] = lambda x: x[name]
    """: "the last name",
    """
    for name, part in parts:
        part.register_forward_hook(lambda module, given, out, name=name: seen.append(name))
    """: "",
    """
    for scale in scales:
        rows.sort(key=lambda row: row[0] * scale)
    """: "",
}


@pytest.mark.parametrize("text", CASES)
def test_one_object_for_all_is_told(text: str) -> None:
    found = [reason.text() for _, reason in ones_of(ast.parse(dedent(text)))]
    assert bool(found) == bool(CASES[text])
    assert all(CASES[text] in each for each in found)
