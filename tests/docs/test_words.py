"""Words that sound translated, in the documentation and in what commands say.

Each is here because it stood in many places once, and readers stumbled over it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[2]
INSTEAD: Final = {
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(a|the|any|no) found\b": "a finding",
    r"(^|[.:;] )Of [a-z]": "For ..., or another order: 'Of every call, the line is kept'",
    r", of which\b": "a sentence of its own",
    r"[.] What [a-z][^.?]*[.,:;]": "a noun, or 'If ...': 'What is left is shown.'",
    r"\b[Ww]hoso?ever\b|\b[Ww]hatever\b|\b[Ww]hoever\b": "you, anyone, any",
    r"\b[Tt]ells? (what|which|why|where|how|whether|of)\b": "says, shows, finds; or 'tells you'",
    r"(?<!-)\banew\b": "again",
    r"\bseldom\b": "rarely",
    r"\bsomething of ours\b": "a bug in gradstep",
    r"\bsomebody\b": "someone",
    r"\bbears?\b": "has",
    r"\b(that|what) is there\b": "existing",
    r"\bso many (times|calls|levels|units)\b": "this many, N times",
    r"\b(came|come|comes) to be\b|\bcomes of\b": "comes from",
    r"\bgoes? on\b|\bwent on\b": "continues",
    r"\b[Oo]ptions( of gradstep)? stand\b|\bstands? (in|below|above|behind|beside)\b": "is, goes",
    r"\bto the bit\b": "bit by bit",
    r"\b(calls?|run|recording) (is|are|was|were) over\b": "has ended",
    r"(?<![Tt]here )\bis no (?!longer|proof|finer|other)[a-zA-Z]+\b": "is not a",
    r"\bthat (is|are) (not )?to (?!be\b)[a-z]+\b": "that should",
    r"\ba defect of gradstep\b": "a bug in gradstep",
    r"\b[Yy]ou find (it|this|the programs?)\b": "it is in",
    r"\b(a|one|each) other of\b|\banother number than\b": "other than",
}
MESSAGES: Final = ("autograd_core", "gradstep", "tui", "viz")  # besides the documentation
HEADINGS: Final = re.compile(r"[=\-~^\"]{3,}$")
LISTED: Final = re.compile(r" *([*-]|#\.|\d+\.) ")
FENCES: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
DIRECTIVES: Final = re.compile(r"^\.\. (?:code-block|console)::.*\n(?:\n| .*\n)*", re.MULTILINE)


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a document, without code, headings and terms, by their lines."""
    text = path.read_text("utf-8")
    code = FENCES if path.suffix == ".md" else DIRECTIVES
    text = code.sub(lambda block: "\n" * block[0].count("\n"), text)
    for part in re.finditer(r"(?:.*\S.*\n)+", text):
        lines = part[0].splitlines()
        # not headings, and not the terms of lists
        said = [one for one, below in zip(lines, [*lines[1:], ""], strict=True)
                if not HEADINGS.match(below) and (
                    LISTED.match(one) or indent(below) <= indent(one))]  # fmt: skip
        line = text.count("\n", 0, part.start()) + 1
        yield line, re.sub(r"``[^`]*``", "x", " ".join(each.strip() for each in said))


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that are no comment and no docstring, by their lines."""
    tree = ast.parse(path.read_text("utf-8"))
    notes = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in notes:
            yield each.lineno, " ".join(each.value.split())


@cache
def texts() -> list[tuple[Path, int, str]]:
    """Return all paragraphs and messages."""
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.rst")])
    modules = sorted(path for folder in MESSAGES for path in (ROOT / folder).rglob("*.py"))
    return [
        *((path, *each) for path in pages for each in paragraphs(path)),
        *((path, *each) for path in modules for each in messages(path)),
    ]


@pytest.mark.parametrize("words", INSTEAD)
def test_no_page_and_no_message_has_them(words: str) -> None:
    hits = [
        f"{path.relative_to(ROOT)}:{line}: {text[max(0, hit.start() - 30) : hit.end() + 30]}"
        for path, line, text in texts()
        for hit in re.finditer(words, text)
    ]
    assert hits == [], f"write: {INSTEAD[words]}"


@pytest.mark.parametrize(
    "sentence",
    [
        "Of every call, the line is kept.",
        "It runs. What is left is shown.",
        "gradstep tells what is wrong.",
        "The page is written anew.",
    ],
)
def test_they_are_found(sentence: str) -> None:
    assert [words for words in INSTEAD if re.search(words, sentence)]
