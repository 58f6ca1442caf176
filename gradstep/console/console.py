"""Commands, and what carries them out for one session, remembering what spans several lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

from gradstep.console.language import LONGEST_LINE, Operands
from gradstep.debugger.errors import CommandError, StepLost
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Leave, Reply
from gradstep.recording.errors import RecordingError
from gradstep.text import did_you_mean

Operand = Literal["", "place", "condition", "expression", "leaf", "point", "topic", "file", "word"]
_PATIENCE: Final = 1000  # lines that one line may lead to, beyond ten per node
DEFECT: Final = "this is a bug in gradstep, please report it"


class Command(NamedTuple):
    """A word of the language: what it takes, what it does, who carries it out.

    ``operand`` says what a completion is to offer; ``details`` is what ``help WORD`` adds.
    """

    usage: str
    summary: str
    run: Callable[[Console, Operands], str]
    short: tuple[str, ...] = ()
    operand: Operand = ""
    details: str = ""

    @property
    def word(self) -> str:
        return self.usage.split()[0]


class _Block(NamedTuple):
    """Lines that are being taken down, up to ``end``, and what is to become of them."""

    lines: list[str]
    done: Callable[[tuple[str, ...]], str]


class Console:
    """The command language at work on ``session``, with the words of ``table``.

    ``path`` is the way to the loss on which ``up`` and ``down`` stand at ``depth``.  ``sourcing``
    names the files that are being carried out, outermost first.  ``marks`` are positions by name.
    ``values`` are what the line that is carried out was asked for, as data.
    """

    def __init__(self, session: PassSession, table: Sequence[Command]) -> None:
        self.session = session
        self.table = table
        self.path: list[int] = []
        self.depth = 0
        self.sourcing: list[str] = []
        self.marks: dict[str, int] = {}
        self.leaving: Leave = ""
        self.values: dict[str, Any] = {}
        self._by_word = {
            word: command for command in table for word in (command.word, *command.short)
        }
        self._last_line = ""
        self._block: _Block | None = None
        self._to_do: deque[str] = deque()

    def do(self, line: str, place: str = "") -> Reply:
        """Carry out one line; what is wrong with it comes back as an error, never raised.

        An empty line repeats the last one.  ``place`` says where a line stands that was read
        from a file.
        """
        if not self.open_block:
            self._last_line = line = line.rstrip() or self._last_line
        self.leaving, self.values = "", {}
        answers: list[str] = []
        try:
            self.carry_out(line, answers)
        except CommandError as error:
            error.place = error.place or place
            text = "\n".join([*answers, error.text])
            return Reply(
                text, error=True, open_block=self.open_block, problem=str(error),
                column=error.column,
            )  # fmt: skip
        return Reply(
            "\n".join(answers), leave=self.leaving, open_block=self.open_block, values=self.values
        )

    def carry_out(self, line: str, answers: list[str]) -> None:
        """Carry out ``line`` and the commands of the stops that it leads to; ``answers`` grows.

        Raises:
            CommandError: what is wrong with one of them.
        """
        outer, self._to_do = self._to_do, deque([line])
        patience = 10 * self.session.length + _PATIENCE
        try:
            while self._to_do and not self.leaving:
                patience -= 1
                if patience < 0:
                    raise CommandError("the commands of breakpoints keep triggering each other")
                text = self._carry_out_one(self._to_do.popleft())
                if text:
                    answers.append(text)
        finally:
            self._to_do = outer

    def _carry_out_one(self, line: str) -> str:
        if self._block is not None:
            return self._take_down(line.strip())
        if len(line) > LONGEST_LINE:
            raise CommandError(f"a line has at most {LONGEST_LINE} characters")
        word, operands = Operands.after(line, 0).first()
        try:
            return self.find(word).run(self, operands) if word.text else ""
        except CommandError as error:
            error.line = error.line or line
            raise
        except (StepLost, RecordingError) as error:
            raise CommandError(str(error)) from error
        except Exception as error:  # our own mistake must not end the user's program
            what = f"{type(error).__name__}: {error}"
            raise CommandError(f"{DEFECT}: '{word.text}' raised {what}") from error

    def find(self, word: Operands) -> Command:
        """Return the command that ``word`` names, or begins alone.

        Raises:
            CommandError: none, or several.
        """
        command = self._by_word.get(word.text)
        if command is not None:
            return command
        begins = [command.word for command in self.table if command.word.startswith(word.text)]
        if len(begins) == 1:
            return self._by_word[begins[0]]
        if begins:
            raise word.error(f"'{word.text}' may be {', '.join(begins)}: write more of it")
        hint = did_you_mean(word.text, self._by_word)
        raise word.error(f"unknown command: {word.text}{hint and f'; {hint}'} (help lists them)")

    def follow(self, lines: Iterable[str]) -> None:
        """Something has moved: look at the current node again, and go on with ``lines``."""
        self.session.select(None)
        self.path = []
        self._to_do = deque(lines)

    # lines up to ``end``

    @property
    def open_block(self) -> bool:
        """True while lines are being taken down."""
        return self._block is not None

    def take_down(self, done: Callable[[tuple[str, ...]], str]) -> None:
        """Keep the lines that follow, up to ``end``, and hand them to ``done``."""
        self._block = _Block([], done)

    def drop_block(self) -> None:
        """Forget the lines that were taken down."""
        self._block = None

    def _take_down(self, line: str) -> str:
        assert self._block is not None
        if line != "end":
            self._block.lines.append(line)
            return ""
        block, self._block = self._block, None
        return block.done(tuple(line for line in block.lines if line))
