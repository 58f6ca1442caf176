import shutil
import subprocess
from typing import Literal

import autograd_core as torch
from gradstep import capture
from gradstep_viz.errors import RendererUnavailable, RenderingFailed
from gradstep_viz.options import RenderOptions
from gradstep_viz.rendering import render_graph


class Librsvg:
    """PNG, by the program ``rsvg-convert``."""

    name = "librsvg"
    formats = frozenset({"png"})
    source: Literal["dot", "svg"] = "svg"

    def render(self, text: str, format: str) -> bytes:
        program = shutil.which("rsvg-convert")
        if program is None:
            raise RendererUnavailable(
                "rsvg-convert is not installed", remedy="apt install librsvg2-bin"
            )
        done = subprocess.run([program], input=text.encode(), capture_output=True, timeout=20)
        if done.returncode:
            raise RenderingFailed(f"rsvg-convert: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout


x = torch.tensor(2.0, requires_grad=True)
graph = capture(torch.log(x * x), "backward")
png = render_graph(graph, "png", RenderOptions(view="backward"), renderers=[Librsvg()])
print(png.data[1:4])
