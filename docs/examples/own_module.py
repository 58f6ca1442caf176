import autograd_core as torch
from autograd_core import nn
from autograd_core.nn import functional as F
from gradstep import check, trace


class PositiveScale(nn.Module):
    """Multiplies each feature by a positive number, which is trained."""

    def __init__(self, features, device=None, dtype=None):
        super().__init__()
        self.features = features
        self.weight = nn.Parameter(torch.zeros(features, device=device, dtype=dtype))

    def forward(self, input):
        return input * F.softplus(self.weight)

    def extra_repr(self):
        return f"{self.features}"


model = nn.Sequential(nn.Linear(3, 2), PositiveScale(2))
print(model)
print(*model.state_dict())

with trace(values=True):
    y = model(torch.ones(4, 3)).sum()
print({result.verdict for result in check(y).derivatives})
