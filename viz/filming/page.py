"""A page around a film, with buttons and a scrubber.

The film plays without the script; the script only sets the time of the animations that the SVG
brings along.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from viz import theme
from viz.filming.shots import Shot
from viz.svg import escape

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{schemes}">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{svg}</main>
<nav aria-label="film" hidden>
<button type="button" id="first" aria-label="first frame" title="first frame (Home)">|◀</button>
<button type="button" id="back" aria-label="one frame back" title="one frame back (←)">◀</button>
<button type="button" id="play" title="play or pause (space)">Pause</button>
<button type="button" id="next" aria-label="one frame on" title="one frame on (→)">▶</button>
<button type="button" id="last" aria-label="last frame" title="last frame (End)">▶|</button>
<input type="range" id="frame" min="0" max="{last}" value="0" aria-label="frame">
<output id="said" aria-live="polite"></output>
</nav>
<script>
const shots = {shots};
const length = {milliseconds};
{script}</script>
</body>
</html>
"""

_SCRIPT = """\
const get = id => document.getElementById(id);
const animations = document.getAnimations();
let frame = 0, timer = null;
function show(number) {
  frame = Math.max(0, Math.min(shots.length - 1, number));
  for (const animation of animations) {
    animation.pause();
    animation.currentTime = (frame + 0.5) * length;
  }
  get("frame").value = frame;
  get("said").textContent = `${frame + 1} / ${shots.length}  ${shots[frame]}`;
}
function stop() {
  clearInterval(timer);
  timer = null;
  get("play").textContent = "Play";
}
function play() {
  if (timer) return stop();
  if (frame === shots.length - 1) show(0);
  get("play").textContent = "Pause";
  timer = setInterval(() => {
    show(frame + 1);
    if (frame === shots.length - 1) stop();
  }, length);
}
function go(number) { stop(); show(number); }
get("first").onclick = () => go(0);
get("back").onclick = () => go(frame - 1);
get("play").onclick = play;
get("next").onclick = () => go(frame + 1);
get("last").onclick = () => go(shots.length - 1);
get("frame").oninput = event => go(Number(event.target.value));
document.addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const moves = {ArrowLeft: frame - 1, ArrowRight: frame + 1, Home: 0, End: shots.length - 1};
  if (event.key in moves) go(moves[event.key]);
  else if (event.key === " " && event.target.tagName !== "BUTTON") play();
  else return;
  event.preventDefault();
});
if (animations.length) {
  document.querySelector("nav").hidden = false;
  show(0);
  play();
}
"""


def write_page(svg: str, shots: Sequence[Shot], title: str, seconds: float, theme_name: str) -> str:
    """The page; ``svg`` is the playing film, whose frames last ``seconds``."""
    said = [": ".join(part for part in shot[:2] if part) for shot in shots]
    return _PAGE.format(
        schemes={"auto": "light dark", "light": "light", "dark": "dark"}[theme_name],
        title=escape(title),
        style=_style(theme_name),
        svg=svg,
        last=len(shots) - 1,
        # "</" would end the script element, wherever it stands
        shots=json.dumps(said).replace("<", "\\u003c"),
        milliseconds=f"{1000 * seconds:g}",
        script=_SCRIPT,
    )


def _style(theme_name: str) -> str:
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    rules = [f"body{{margin:0;background:{base['bg']};color:{base['ink']}}}"]
    if theme_name == "auto":
        rules.append(
            f"@media (prefers-color-scheme:dark){{body{{background:{theme.DARK['bg']};"
            f"color:{theme.DARK['ink']}}}}}"
        )
    font = f"font:{theme.TEXT_SIZE}px {theme.FONT_FAMILY}"
    bar = "position:sticky;bottom:0;display:flex;gap:8px;align-items:center;flex-wrap:wrap"
    button = "min-width:36px;height:30px;padding:0 8px;border:1px solid;border-radius:6px"
    rules += [
        "main{overflow:auto;padding:12px}",
        "svg{display:block;margin:auto}",
        f"nav{{{bar};padding:8px 16px;background:inherit;{font}}}",
        "nav[hidden]{display:none}",
        f"button{{{button};font:inherit;color:inherit;background:none;cursor:pointer}}",
        "input{flex:1 1 160px}",
        "output{flex:1 1 100%;min-height:1.4em}",
    ]
    return "\n".join(rules)
