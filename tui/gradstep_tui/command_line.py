"""Whose the words of a command line are: options stand before TARGET, and what follows a script is
the script's, as with ``python``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

from gradstep.ranks import rank_and_size
from gradstep_tui.options import Parser
from gradstep_tui.output import say


class _Split(NamedTuple):
    """The words before TARGET, TARGET itself ("" where there is none), and the words after it."""

    before: list[str]
    target: str
    module: bool
    after: list[str]


class TargetParser(Parser):
    """A parser for ``[OPTIONS] TARGET [ARGS...]``.

    The options that it returns have ``target``, ``module`` (it stood after ``-m``) and
    ``arguments``, which are the script's; ``operands`` are names for the first of these, which are
    the command's.
    """

    operands: tuple[str, ...] = ()

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Read a command line; a script's own words are left as they are."""
        before, target, module, after = self._split(list(words))
        runs_whole = module or is_script(target)
        given, own = _cut(["--", *after] if runs_whole else after)
        options, others = self.parse_known_args([*before, *given])
        self.require_known(others, "what is meant for TARGET stands after --" if given else "")
        if not target:
            self.error("-m takes package.module" if module else "name a TARGET")
        own = [*others, *own]
        for name in self.operands:
            if not own or self.is_option(own[0]):
                self.error(f"{name.upper()} is missing; it comes right after TARGET")
            setattr(options, name, own.pop(0))
        options.target, options.module, options.arguments = target, module, own
        if runs_whole:
            self._tell_lookalikes(f"-m {target}" if module else target, own)
        return options

    def _split(self, words: list[str]) -> _Split:
        position = 0
        while position < len(words):
            word = words[position]
            if word.startswith("-m"):
                module, *after = [*filter(None, [word[2:]]), *words[position + 1 :]] or [""]
                return _Split(words[:position], module, True, after)
            if word in ("-", "--") or not word.startswith("-"):
                target, *after = words[position + (word == "--") :] or [""]
                return _Split(words[:position], target, False, after)
            position += 2 if self._takes_next(word) else 1
        return _Split(words, "", False, [])

    def _takes_next(self, word: str) -> bool:
        """Return whether the word after ``word`` is its value."""
        action = self._option_string_actions.get(word)
        return action is not None and action.nargs is None

    def _tell_lookalikes(self, target: str, words: Sequence[str]) -> None:
        """Say which of the script's words might have been meant for us."""
        own = words[: words.index("--")] if "--" in words else words
        names = list(dict.fromkeys(word.partition("=")[0] for word in own if self.is_option(word)))
        if names and rank_and_size()[0] == 0:
            go = "goes" if len(names) == 1 else "go"
            say(f"{', '.join(names)} {go} to {target}; options of gradstep stand before it")


def is_script(target: str) -> bool:
    """Return whether what follows ``target`` is its own: it runs whole.

    >>> is_script("train.py"), is_script("train.py:loss"), is_script("graph.json")
    (True, False, False)
    """
    return target.removesuffix(":").endswith(".py")


def _cut(words: list[str]) -> tuple[list[str], list[str]]:
    """Return what stands before ``--``, and what stands after it."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
