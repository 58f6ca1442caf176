"""A format that lists the boxes of a picture, a line each."""

import autograd_core as torch
import gradstep
from gradstep_viz.formats import FORMATS, Drawing, Format


def write_list(drawing: Drawing) -> bytes:
    """List the title of each box."""
    return "".join(f"{box.title}\n" for box in drawing.picture.boxes).encode()


FORMATS["list"] = Format((".list",), write_list, is_laid_out=False, has_size=False)

x = torch.tensor(3.0, requires_grad=True)
print(gradstep.render(x * x + x, format="list", view="backward"))
