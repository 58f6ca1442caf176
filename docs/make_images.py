"""Makes the screenshots of README.md anew, by the program itself.

python docs/make_images.py

The graphs in it are refreshed by ``gradstep embed README.md``.
"""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

from autograd_core.dag.names import Names
from autograd_core.debug.session import Session
from tui.app import DebuggerApp
from tui.intercept import Intercepted, ScriptDone, intercepting
from tui.script import run_script
from tui.wanted import Wanted

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
STEPS = ("n", "n", "n", "n", "n", "n")


def photograph(script: str, name: str, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    """The debugger's screen inside the first ``backward()`` of ``script``, after ``keys``."""

    async def screen(session: Session) -> str:
        app = DebuggerApp(session, Path(script).name)
        async with app.run_test(size=size) as pilot:
            for key in keys:
                await pilot.press(key)
            await pilot.pause(0.3)
            return app.export_screenshot(title=f"gradstep debug {script}")

    def halt(found: Intercepted) -> bool:
        session = Session.of_call(found.call, names=found.names or Names())
        picture = asyncio.run(screen(session))
        (IMAGES / name).write_text(tidy(picture), encoding="utf-8", newline="\n")
        raise ScriptDone

    with intercepting(halt, Wanted(1)):
        try:
            run_script(Path(script), [])
        except ScriptDone:
            return


def tidy(svg: str) -> str:
    """The screenshot without what it would load from the network, and with ids that depend on
    nothing but the picture."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    svg = svg.replace("font-family: Fira Code", "font-family: ui-monospace, Menlo, Consolas")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def main() -> None:
    """Make every screenshot of the README."""
    os.chdir(ROOT)
    IMAGES.mkdir(parents=True, exist_ok=True)
    photograph("samples/shared_weight.py", "debug-shared-weight.svg", STEPS, (120, 32))


if __name__ == "__main__":
    main()
