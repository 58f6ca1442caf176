"""``.. console::`` runs commands when the documentation is built, and shows what they print.

A document names the commands, each after ``$``, and the folder in which they run::

    .. console:: samples/bugs

       $ gradstep check wrong_backward.py
       $ echo $?

They run one after the other in a temporary copy of that folder.  What a document shows is
therefore what the program says.  Where a command needs a file of the folder, the reader is told
where to stand.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from shell import ROOT, copy_of, run_commands
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from gradstep_tui.commands.demo import on_the_core

logger = logging.getLogger(__name__)


class Console(SphinxDirective):
    """Runs commands, and shows them with their output.

    A command may fail only where the next one is ``echo $?``: the reader is then told.
    """

    has_content = True
    optional_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0] if self.arguments else "samples"
        folder = ROOT / name
        commands = [line.removeprefix("$ ") for line in self.content if line.startswith("$ ")]
        if not commands or len(commands) != sum(bool(line.strip()) for line in self.content):
            raise self.error("each line is a command, and begins with '$ '")
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                self.env.note_dependency(str(file))
        with copy_of(folder) as copy:
            if name == "samples/bugs":  # as `gradstep demo` writes them where PyTorch is missing
                for program in copy.glob("*.py"):
                    program.write_text(on_the_core(program.read_text("utf-8")), "utf-8")
            results = list(run_commands(commands, copy))
        lines = []
        for done, follower in zip(results, [*commands[1:], ""], strict=True):
            if done.code and follower != "echo $?":
                logger.warning(
                    "'%s' ended with exit code %d:\n%s",
                    done.command,
                    done.code,
                    done.output,
                    location=self.get_location(),
                )
            lines += [f"$ {done.command}", *done.output.rstrip("\n").splitlines()]
        block = nodes.literal_block("\n".join(lines), "\n".join(lines), language="console")
        block["classes"] += self.options.get("class", [])
        self.set_source_info(block)
        words = [word for command in commands for word in command.split()[1:]]
        if not any((folder / word.partition(":")[0]).is_file() for word in words):
            return [block]
        return [standing_in(name), block]


def standing_in(folder: str) -> nodes.paragraph:
    """Return the sentence that says where commands are typed."""
    where = nodes.paragraph(classes=["standing"])
    where += nodes.Text("In ")
    where += nodes.literal("", folder)
    if folder == "samples/bugs":
        where += nodes.Text(", or in the folder that ")
        where += nodes.literal("", "gradstep demo")
        where += nodes.Text(" makes")
    where += nodes.Text(":")
    return where


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive ``console`` with Sphinx."""
    app.add_directive("console", Console)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
