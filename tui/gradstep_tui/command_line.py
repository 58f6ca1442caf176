"""Whose the words of a command line are: options stand before TARGET, and what follows a script is
the script's, as with ``python``."""

from __future__ import annotations

import argparse
import re
import shlex
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from gradstep.guest.ranks import rank_and_size
from gradstep_tui import output
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import say


class _Split(NamedTuple):
    """The words before TARGET, TARGET itself ("" where there is none), and the words after it;
    ``is_marked`` where ``--`` stands before it."""

    before: list[str]
    target: str
    module: bool
    after: list[str]
    is_marked: bool = False


class TargetParser(Parser):
    """A parser for ``[OPTIONS] TARGET [ARGS...]``.

    The options that it returns have ``target``, ``module`` (it stood after ``-m``) and
    ``arguments``, which are the script's; ``operands`` are names for the first of these, which are
    the command's.
    """

    operands: tuple[str, ...] = ()

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Read a command line; a script's own words are left as they are."""
        split = self._split(list(words))
        before, target, module, after, is_marked = split
        runs_whole = module or is_script(target)
        given, own = _cut(["--", *after] if runs_whole else after)
        options, others = self.parse_known_args([*before, *given])
        self.require_known(others, "put arguments for TARGET after --" if given else "")
        if not target:
            self.error("-m takes package.module" if module else "name a TARGET")
        own = [*others, *own]
        for name in self.operands:
            if not own or self.is_option(own[0]):
                self.error(f"{name.upper()} is missing; it comes right after TARGET")
            setattr(options, name, own.pop(0))
        options.target, options.module, options.arguments = target, module, own
        _add_settings(options)
        if runs_whole and not is_marked:
            self._require_meant(split)
        return options

    def _split(self, words: list[str]) -> _Split:
        position = 0
        while position < len(words):
            word = words[position]
            is_marked = word == "--"
            first, *after = words[position + is_marked :] or [""]
            if first.startswith("-m"):
                module, *after = [*filter(None, [first[2:]]), *after] or [""]
                return _Split(words[:position], module, True, after, is_marked)
            if is_marked or first == "-" or not first.startswith("-"):
                return _Split(words[:position], first, False, after, is_marked)
            position += 2 if self._takes_next(word) else 1
        return _Split(words, "", False, [])

    def _takes_next(self, word: str) -> bool:
        """Return whether the word after ``word`` is its value."""
        action = self._option_string_actions.get(word)
        return action is not None and action.nargs is None

    def _require_meant(self, split: _Split) -> None:
        """See that options after a script may be meant for it; where they may be meant for us, too,
        say so.

        Raises:
            Failure: the script takes no such option.
        """
        own, _ = _cut(split.after)
        names = list(dict.fromkeys(word.partition("=")[0] for word in own if self._is_ours(word)))
        if not names:
            return
        # late: it is seldom that a script has such words
        from gradstep.program.script_options import takes_no

        unknown = takes_no(_files_of(split, own), names)
        if unknown:
            self._refuse(split, unknown)
        if rank_and_size()[0] == 0:
            go = "goes" if len(names) == 1 else "go"
            say(f"{', '.join(names)} {go} to {split.target}; options of gradstep go before it")

    def _is_ours(self, word: str) -> bool:
        """Return whether a word is one of the options, or what many programs call ``-o``."""
        return self.is_option(word) or (
            word.partition("=")[0] == _OUTPUT and "-o" in self._option_string_actions
        )

    def _refuse(self, split: _Split, unknown: Sequence[str]) -> NoReturn:
        """End with the command that is right, for options that a script does not take."""
        command, target = self.prog.split(), [*["-m"][: split.module], split.target]
        moved, kept = self._parted(split.after, unknown)
        if {"-h", "--help"}.intersection(unknown):
            right = [*command, "--help"]
        else:
            right = [*command, *split.before, *moved, *target, *kept]
        theirs = [*command, *split.before, "--", *target, *split.after]
        several = len(unknown) > 1
        raise Failure(
            f"{split.target} takes no option{'s' * several} {', '.join(unknown)}, and options of "
            f"gradstep go before it: {shlex.join(right)}; to give {'them' if several else 'it'} "
            f"to {split.target} all the same: {shlex.join(theirs)}",
            ExitCode.USAGE,
        )

    def _parted(self, after: Sequence[str], unknown: Sequence[str]) -> tuple[list[str], list[str]]:
        """Part what follows a script into options of ours, with their values, and the rest."""
        own, _ = _cut([*after])
        words, moved, kept = deque(own), [], []
        while words:
            word = words.popleft()
            name, _, value = word.partition("=")
            if name not in unknown:
                kept.append(word)
                continue
            if name not in self._option_string_actions:
                word = "-o"
                words.extendleft(filter(None, [value]))
            moved.append(word)
            if "=" not in word and self._takes_next(word):
                action = self._option_string_actions[word]
                moved.append(
                    words.popleft() if words else f"{action.metavar or action.dest.upper()}"
                )
        return moved, [*kept, *after[len(own) :]]


def _add_settings(options: argparse.Namespace) -> None:
    """Take from the pyproject.toml of a program what its command line does not choose.

    Raises:
        BadSettings: a key or a value there is wrong.
    """
    names = vars(options).keys() & {"theme", "thresholds", "opens"}
    if not names:
        return
    # late: other commands, and --help, need not wait
    from gradstep.program.settings import settings_for

    script = None if options.module else re.match(r".+?\.py(?=:|$)", options.target)
    settings = settings_for(script[0] if script else "")
    if "theme" in names:
        options.theme = options.theme or settings.theme
    if "opens" in names and options.opens is None:  # nobody looks where no terminal is
        options.opens = "set" if settings.open and output.is_shown_on_terminal() else ""
    if "thresholds" in names:
        options.ignore = [*settings.ignored(), *options.ignore]
        options.thresholds = settings.thresholds


_OUTPUT: Final = "--output"


def _files_of(split: _Split, words: Sequence[str]) -> list[Path]:
    """Return the files of a program, and of others that it is given."""
    # late: it is seldom that they are asked for
    from gradstep.program.errors import BadTarget
    from gradstep.program.target import parse_target

    try:
        files = parse_target(split.target, module=split.module).files()
    except BadTarget:
        return []
    others = [Path(word) for word in words if is_script(word)]
    return [*files, *(file for file in others if file.is_file())] if files else []


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
