"""The text of an expression, as a syntax tree in which every column is true."""

from __future__ import annotations

import ast
import re
from typing import Final, NoReturn

from gradstep.debugger.errors import ExpressionError

LONGEST: Final = 500  # characters; so nothing is nested deeper than Python can read
_WORD = r"[^\W\d]\w*(?:\.\w+)*"
_LEAF = r"(?:\d+\.)+(?![eE][+-]?\d)[^\W\d]\w*(?:\.\w+)*"  # 0.weight.grad, in a Sequential
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TEXT = r"\"[^\"]*\"|'[^']*'"
_OPERATOR = r"\*\*|[<>=!]=|[-+*/<>()\[\],:.~]"
_TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<text>{_TEXT})|(?P<word>{_LEAF}|{_WORD})"
    rf"|(?P<number>{_NUMBER}(?!\w))|(?P<operator>{_OPERATOR})"
)
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_INSTEAD = {"=": "==", "&": "and", "|": "or", "!": "not", "^": "**"}


class ExpressionText:
    """The syntax tree of ``text``, and the way back from a part of it to what was typed.

    Each word (``out.0.rms`` is one) and each quoted text is replaced by a Python name of the
    same length, so that Python's parser meets nothing but names, numbers and operators.

    Raises:
        ExpressionError: it is no expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._indent = len(text) - len(text.lstrip())
        if len(text) > LONGEST:
            raise ExpressionError(f"an expression has at most {LONGEST} characters", LONGEST)
        self.tree = self._parsed(self._masked()[self._indent :])

    def start(self, tree: ast.expr) -> int:
        """Return the column at which a part begins."""
        return tree.col_offset + self._indent

    def end(self, tree: ast.expr) -> int:
        """Return the column at which a part has ended."""
        assert tree.end_col_offset is not None
        return tree.end_col_offset + self._indent

    def typed(self, tree: ast.expr) -> str:
        """Return a part as it was typed."""
        return self.text[self.start(tree) : self.end(tree)]

    def _masked(self) -> str:
        result: list[str] = []
        at, before = 0, ""
        operand = False  # whether a value has just ended: after one, `in` is an operator
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None or _clash(before, match[0]):
                self._refuse(at)
            token, kind = match[0], match.lastgroup
            at = match.end()
            if kind == "space":
                result.append(" " * len(token))
                continue
            joins = token in ("and", "or", "not") or (token == "in" and operand)
            if kind in ("word", "text") and not joins:
                result.append("x" * len(token))
            else:
                result.append("@" if token == "~" else token)
            if token != "not":  # `not in` follows an operand as `in` does
                operand = token in (")", "]") or (kind != "operator" and not joins)
            before = token
        return "".join(result)

    def _refuse(self, at: int) -> NoReturn:
        character = self.text[at]
        if character in "\"'":
            raise ExpressionError("this quote is not closed", at)
        if character.isdecimal():
            raise ExpressionError("this is neither a number nor a word", at)
        instead = _INSTEAD.get(character)
        hint = f"; write {instead}" if instead else ""
        raise ExpressionError(f"unexpected {character!r}{hint}", at)

    def _parsed(self, python: str) -> ast.expr:
        if not python:
            raise ExpressionError("an expression is missing here, such as rms > 10", self._indent)
        try:
            return ast.parse(python, mode="eval").body
        except SyntaxError as error:
            at = min(error.offset - 1 + self._indent if error.offset else LONGEST, len(self.text))
            if "never closed" in error.msg:
                raise ExpressionError("this bracket is not closed", at) from None
        except (RecursionError, MemoryError):
            raise ExpressionError("this is nested too deeply", self._indent) from None
        at += len(self.text[at:]) - len(self.text[at:].lstrip())
        token = _TOKEN.match(self.text, at)
        if token is None:
            raise ExpressionError("this ends too early", len(self.text.rstrip()))
        raise ExpressionError(f"unexpected '{token[0]}'", at)


def _clash(before: str, token: str) -> bool:
    """Return whether two operators stand together that Python would read as one of its own."""
    return (before in _COMPARISONS and token in _COMPARISONS) or before == token == "/"
