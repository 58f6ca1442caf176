"""Make the screenshots and plots of README.md and of the documentation with the program itself.

python docs/make_images.py

The graphs in README.md are refreshed by ``gradstep embed README.md``.
"""

from __future__ import annotations

import asyncio
import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from gradstep.console.session import Session
from gradstep.program.calls import InterceptedCall
from gradstep.program.run import chosen_call, run_target
from gradstep.program.target import parse_target
from gradstep_tui.app import DebuggerApp, Outcome
from gradstep_tui.app.plan.picture import tidied

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
THEMES = {"": "gradstep-dark", "-light": "gradstep-light"}
COLUMN, README = 736, 830  # so wide, in pixels, is a page of the documentation, and of GitHub's
SECONDS, HELD = 1.2, 3  # each screen of a film is shown; the last one so many times as long
PATIENCE = 50  # looks at a screen that will not come to rest


class Photograph(NamedTuple):
    """The screen inside the first ``backward()`` of a script: after commands, then keys."""

    name: str
    script: str
    commands: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 26)
    moves: bool = False  # each key is a frame


PHOTOGRAPHS = (
    Photograph("debug-shared-weight", "samples/shared_weight.py", keys=("n",) * 6),
    Photograph(
        "debug-nan", "samples/bugs/nan_from_sqrt.py", ("catch nan", "continue"), size=(132, 30)
    ),
    Photograph(
        "debug-steps", "samples/bugs/nan_from_sqrt.py", keys=(*"nnnn", *"NN", *"nnnn"),
        size=(100, 26), moves=True,
    ),
)  # fmt: skip


def take(photograph: Photograph, theme: str, path: Path) -> None:
    """Run the script up to its first ``backward()``, and write the screen there to ``path``."""

    def stop(found: InterceptedCall) -> bool:
        session = Session.of_call(found.call, names=found.names)
        pictures = [tidied(each) for each in asyncio.run(screens(session, photograph, theme))]
        text = film(pictures) if photograph.moves else pictures[-1]
        path.write_text(text, encoding="utf-8", newline="\n")
        return False

    target = parse_target(photograph.script)
    run_target(target, [], chosen_call(target, None), stop, values=True)


def take_both(photograph: Photograph) -> None:
    """Write the screen in light and dark."""
    for suffix, theme in THEMES.items():
        take(photograph, theme, IMAGES / f"{photograph.name}{suffix}.svg")


async def screens(session: Session, photograph: Photograph, theme: str) -> list[str]:
    """Return the screen before each key and after the last one, as SVG."""
    app = DebuggerApp(session, Path(photograph.script).name)
    app.theme = theme
    async with app.run_test(size=photograph.size) as pilot:
        for command in photograph.commands:
            await pilot.press("colon", *map(_key, command), "enter")
            await at_rest(app, pilot)
        title = f"gradstep debug {photograph.script}"
        pictures = [app.export_screenshot(title=title)]
        for key in photograph.keys:
            await pilot.press(key)
            await at_rest(app, pilot)
            pictures.append(app.export_screenshot(title=title))
        return pictures


def film(pictures: Sequence[str]) -> str:
    """Show screens one after the other, in one SVG that holds once what they share.

    Where nothing may move, it shows the last one.
    """
    head, inside, _ = pictures[0].partition('<g transform="translate(9, 41)"')
    shown: dict[str, list[int]] = {}  # the screens that have an element
    for number, picture in enumerate(pictures):
        terminal = picture.partition(inside)[2]
        for name, style in re.findall(r"\.terminal-(r\d+) \{ (.*?) \}", picture):
            terminal = terminal.replace(f'class="terminal-{name}"', f'style="{style}"')
        for element in re.findall(r"<rect .*?/>|<text .*?</text>", terminal):
            shown.setdefault(element, []).append(number)
    groups: dict[tuple[int, ...], list[str]] = {}
    for element in sorted(shown, key=lambda each: each[:5]):  # backgrounds do not cover texts
        groups.setdefault((element[:5] == "<text", *shown[element]), []).append(element)
    times = len(pictures) + HELD - 1
    css = ""
    for index, (_, *those) in enumerate(groups):
        seen = [int(number in those) for number in range(len(pictures))]
        steps = "".join(f"{100 * n / times:.2f}%{{opacity:{each}}}" for n, each in enumerate(seen))
        animation = f"in-{index} {times * SECONDS:g}s step-end infinite"
        css += f".in-{index}{{opacity:{seen[-1]};animation:{animation}}}\n"
        css += f"@keyframes in-{index}{{{steps}}}\n"
    still = "@media (prefers-reduced-motion: reduce){g{animation:none !important}}"
    head = head.replace("</style>", f"{css}{still}</style>", 1)
    body = "\n".join(
        f'<g class="in-{index}">{"".join(elements)}</g>'
        for index, elements in enumerate(groups.values())
    )
    return f'{head}{inside} class="terminal-matrix">\n{body}\n</g></svg>\n'


def _key(character: str) -> str:
    return "space" if character == " " else character


async def at_rest(app: DebuggerApp, pilot: Pilot[Outcome]) -> None:
    """Wait until the screen does not change any more."""
    before = ""
    for _ in range(PATIENCE):
        await pilot.pause(0.1)
        now = app.export_screenshot()
        if now == before:
            return
        before = now
    raise RuntimeError("the screen does not come to rest")


def draw_beside(script: str) -> None:
    """Draw a program as torchviz, torchview and torchlens draw it, where all are installed."""
    if None in map(find_spec, ("torchviz", "torchview", "torchlens")):
        sys.stderr.write("torchviz, torchview and torchlens: their pictures stay as they are\n")
        return
    import torchlens
    import torchview
    import torchviz

    names = runpy.run_path(script)
    model, images = names["model"], names["images"]
    dot = torchviz.make_dot(names["loss"], dict(model.named_parameters()))
    graph = torchview.draw_graph(model, input_data=images, device="cpu", expand_nested=True)
    for name, drawing in (("torchviz", dot), ("torchview", graph.visual_graph)):
        drawing.render(outfile=IMAGES / f"beside-{name}.svg", cleanup=True)
    torchlens.trace(model, images).draw(
        vis_outpath=str(IMAGES / "beside-torchlens"), vis_fileformat="svg", vis_save_only=True
    )


def paint_card() -> None:
    """Paint what others show of a link to the documentation, where resvg is installed."""
    if find_spec("resvg_py") is None:
        sys.stderr.write("resvg_py is not installed: the card of links stays as it is\n")
        return
    import resvg_py

    logo = (ROOT / "docs" / "_static" / "logo.svg").read_text("utf-8")
    mark = logo[logo.index("<style>") : logo.index("</svg>")].partition("@media")
    style, drawing = mark[0] + "</style>", mark[2].partition("</style>")[2]
    lines = (
        "Find out what is wrong with the gradients",
        "of your PyTorch program, draw its graph,",
        "and step through backward().",
    )
    text = "".join(f'<text x="80" y="{430 + 54 * n}">{line}</text>' for n, line in enumerate(lines))
    card = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">'
        '<rect width="1200" height="630" fill="#fff"/>'
        f'<g transform="translate(80 70) scale(3.4)">{style}{drawing}</g>'
        '<g font-family="DejaVu Sans" fill="#1b1f24">'
        '<text x="340" y="220" font-size="120" font-weight="bold">gradstep</text>'
        f'<g font-size="42" fill="#57606c">{text}</g></g></svg>'
    )
    painted = resvg_py.svg_to_bytes(svg_string=card)
    (ROOT / "docs" / "_static" / "card.png").write_bytes(bytes(painted))


def main() -> None:
    """Make every screenshot, and with PyTorch those of its programs."""
    os.chdir(ROOT)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for photograph in PHOTOGRAPHS:
        take_both(photograph)
    words = ["render", "--view", "both", "-o", str(IMAGES / "page-digits.html")]
    command = [sys.executable, "-m", "gradstep", *words, "samples/digits_mlp.py"]
    subprocess.run(command, check=True)
    paint_card()
    if find_spec("torch") is None:
        sys.stderr.write("PyTorch is not installed: its pictures stay as they are\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        script = str(ROOT / "docs" / "examples" / "late_nan.py")
        words = ["record", "--when", "nan", "--values", "all", "-o", "nan.gsr", script]
        subprocess.run([sys.executable, "-m", "gradstep", *words], check=True, cwd=folder)
        os.chdir(folder)
        take_both(
            Photograph("debug-recorded-nan", "nan.gsr", ("catch nan", "continue"), size=(132, 30))
        )
        os.chdir(ROOT)
    both = "render --view both"
    for command, picture, script in (
        (f"{both} --width {COLUMN}", "pytorch-digits.svg", "samples/pytorch_digits.py"),
        (
            f"render --view both --width {README}",
            "replaced-head.svg",
            "samples/bugs/replaced_head.py",
        ),
        ("render --view flow", "pytorch-digits-rows.svg", "samples/pytorch_digits.py"),
        ("render", "beside-gradstep.svg", "docs/examples/three_losses.py"),
        ("plot", "plot-sick-layers.svg", "docs/examples/sick_layers.py"),
    ):
        words = [*command.split(), "-o", str(IMAGES / picture), script]
        subprocess.run([sys.executable, "-m", "gradstep", *words], check=True)
    page = str(IMAGES / "report-dying-units.html")
    words = ["check", "-o", page, "dying_units.py"]  # which finds something: no exit code of 0
    subprocess.run([sys.executable, "-m", "gradstep", *words], cwd="samples/bugs", check=False)
    draw_beside("docs/examples/three_losses.py")


if __name__ == "__main__":
    main()
