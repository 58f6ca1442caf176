"""Windows of stained glass, written so that compilers could read them; nothing is compiled here."""

from typing import List  # noqa: UP035

import torch
import torch.fx
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn.modules.utils import _pair


def _some_panes(panes: Tensor, missing: float, open_air: bool) -> Tensor:
    """In open air some windows have no glass; the others are the brighter for it."""
    if missing == 0.0 or not open_air:
        return panes
    there = torch.rand([len(panes), *(1 for _ in panes.shape[1:])]) >= missing
    return panes * there / (1 - missing)


torch.fx.wrap("_some_panes")


@torch.jit.script_if_tracing
def dimmed(light: Tensor, share: float) -> Tensor:
    return light - share * light


class Cutter(nn.Module):
    __constants__ = ["side"]  # noqa: RUF012
    side: torch.jit.Final[int]

    def __init__(self, side, colours):
        super().__init__()
        self.side = side
        self.knife = nn.Conv2d(2, colours, _pair(side), _pair(side))
        before, after = nn.init._calculate_fan_in_and_fan_out(self.knife.weight)
        nn.init.normal_(self.knife.weight, std=(2 / (before + after)) ** 0.5)

    def forward(self, windows):
        width = windows.shape[-1]
        torch._assert(width % self.side == 0, f"{width} cannot be cut into panes of {self.side}")
        return self.knife(windows).flatten(2).transpose(1, 2)


class Lead(nn.Module):
    """Joins glass of several kinds; it is melted again for the pass back."""

    def __init__(self, colours):
        super().__init__()
        self.clean = nn.LayerNorm(2 * colours)
        self.solder = nn.Linear(2 * colours, colours)

    def is_learned(self, glass: List[Tensor]) -> bool:  # noqa: UP006
        return any(pane.requires_grad for pane in glass)

    def melted(self, *glass):
        return F.gelu(self.solder(self.clean(torch.cat(glass, -1))))

    @torch.jit.unused
    def melted_twice(self, glass):
        return torch.utils.checkpoint.checkpoint(self.melted, *glass, use_reentrant=False)

    @torch.jit._overload_method
    def forward(self, glass: Tensor) -> Tensor:
        pass

    @torch.jit._overload_method
    def forward(self, glass: List[Tensor]) -> Tensor:  # noqa: F811, UP006
        pass

    def forward(self, glass):  # noqa: F811
        glass = [glass, glass] if isinstance(glass, Tensor) else glass
        if self.is_learned(glass) and not torch.jit.is_scripting():
            return self.melted_twice(glass)
        return self.melted(*glass)

    @torch.jit.export
    def worked(self) -> str:
        return "by machine" if torch.jit.is_tracing() or torch.jit.is_scripting() else "by hand"


class Chapel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cutter, self.lead = Cutter(3, 5), Lead(5)
        self.altar = nn.Linear(5, 2)

    @torch.jit.ignore
    def kept(self):
        return {"cutter.knife.bias", "altar.bias"}

    def forward(self, windows):
        glass = self.cutter(windows)
        joined = self.lead(self.lead([glass.cos(), glass]))
        joined = _some_panes(joined, 0.25, self.training)
        if torch.is_complex(joined):
            joined = joined.real
        return self.altar(dimmed(joined, 0.3).mean(1))


chapel = Chapel().train()
hours = F.cross_entropy(chapel(torch.randn(5, 2, 6, 9)), torch.tensor([1, 0, 0, 1, 1]))
hours.backward()
print(hours, chapel.lead.worked(), sorted(chapel.kept()))
for name, glass in chapel.named_parameters():
    print(name, glass.grad.norm())
try:
    chapel(torch.randn(1, 2, 6, 8))
except AssertionError as error:
    print(type(error).__name__, error)

shines_on = torch.tensor([[0.0, 0.5, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
walls = torch.randn(3, 4, requires_grad=True)
torch.spmm(shines_on, walls).sigmoid().sum().backward()
print(walls.grad, walls.is_xpu)
print(torch.onnx.is_in_onnx_export() if hasattr(torch, "onnx") else None)
convolution, norm = nn.modules.conv._ConvNd, nn.modules.batchnorm._BatchNorm
print([m.stride for m in chapel.modules() if isinstance(m, (convolution, norm))])
