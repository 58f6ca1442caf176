"""What a page of thousands of boxes costs in Chromium: the first paint, and the longest frame.

    python benchmarks/page.py [--boxes 2000] [--rounds 2]

A transformer is drawn in full, and its page is opened without a window (and without a graphics
card, unless Chromium finds one).  Then the wheel turns as a reader's would: the whole picture is
moved and zoomed into, its texts are moved about, and it is zoomed out of.  A frame is the time
between two callbacks of ``requestAnimationFrame``; 17 ms is the least.  The frames after each turn,
when the page paints what is on the screen anew, count as well.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from pictures import transformer

from gradstep_viz import render
from tests.viz.browser import CHROMIUM, Browser

NODES_PER_BOX = 0.61
TURNS = 30
CONTROL = 2  # the key, as a bit of Chromium's modifiers

GESTURES = (
    # name, across, down, with the control key
    ("move", 0, 20, False),
    ("move back", 0, -20, False),
    ("zoom in", 0, -14, True),
    ("move texts", 0, 30, False),
    ("zoom out", 0, 14, True),
)

COUNT_FRAMES = """
window.frames_ = []; let last = performance.now();
const count = now => { frames_.push(now - last); last = now; requestAnimationFrame(count); };
requestAnimationFrame(count);
const painted = performance.getEntriesByName("first-contentful-paint")[0];
fit();
return [nodes.length, painted ? painted.startTime : NaN];
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if CHROMIUM is None:
        raise SystemExit("needs Chromium on the PATH")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "page.html"
        render(transformer(int(options.boxes * NODES_PER_BOX)), path, view="both", full=True)
        browser = Browser(Path(name))
        try:
            boxes, painted = browser.say(path, COUNT_FRAMES)
            size = path.stat().st_size / 1e6
            print(f"{boxes:,} boxes, {size:.1f} MB, first paint after {painted:.0f} ms")
            time.sleep(1)
            for _ in range(options.rounds):
                for name, across, down, control in GESTURES:
                    measure(browser, name, across, down, control)
        finally:
            browser.close()


def measure(browser: Browser, name: str, across: int, down: int, control: bool) -> None:
    """Turn the wheel, and print how long the frames took."""
    browser.ask("Runtime.evaluate", expression="frames_.length = 0")
    for _ in range(TURNS):
        browser.ask(
            "Input.dispatchMouseEvent", type="mouseWheel", x=500, y=400,
            deltaX=across, deltaY=down, modifiers=CONTROL * control,
        )  # fmt: skip
        time.sleep(0.016)
    time.sleep(0.7)
    read = {"expression": "frames_.slice(1)", "returnByValue": True}
    frames = browser.ask("Runtime.evaluate", **read)["result"]["value"]
    slow = sum(frame > 50 for frame in frames)
    print(f"{name:<12} longest frame {max(frames):4.0f} ms, {slow} of {len(frames)} over 50 ms")


if __name__ == "__main__":
    main()
