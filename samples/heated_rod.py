"""How warm a heated rod becomes, computed by NumPy, as a Function with a derivative and a Module.

Each point of the rod passes heat to its neighbours, and loses some to the air. The balance is a
system of equations. NumPy knows nothing of gradients, and need not: they are the solution of the
same system, for the gradients that arrive.
"""

import numpy as np

import autograd_core as torch
from autograd_core.autograd import Function
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter


def balance(contact, loss, heat):
    """The temperatures at which each point gains as much as it loses."""
    passed = np.pad(contact, 1)  # to the neighbours on both sides; the ends have one
    own = np.diag(loss + passed[:-1] + passed[1:])
    return np.linalg.solve(own - np.diag(contact, 1) - np.diag(contact, -1), heat)


class Balance(Function):
    @staticmethod
    def forward(ctx, contact, loss, heat):
        warmth = heat.new(balance(contact.numpy(), loss.numpy(), heat.numpy()))
        ctx.save_for_backward(contact, loss, warmth)
        return warmth

    @staticmethod
    def backward(ctx, g):
        contact, loss, warmth = ctx.saved_tensors
        warm = warmth.detach().numpy()
        answer = balance(contact.detach().numpy(), loss.detach().numpy(), g.data.numpy())
        to_contact = -np.diff(answer) * np.diff(warm)
        return contact.new(to_contact), loss.new(-answer * warm), g.new(answer)


class Rod(Module):
    def __init__(self, points):
        super().__init__()
        rng = np.random.default_rng(0)
        self.contact = Parameter(torch.tensor(rng.uniform(1.0, 3.0, points - 1)))
        self.loss = Parameter(torch.tensor(rng.uniform(0.1, 0.3, points)))

    def forward(self, heat):
        return Balance.apply(self.contact, self.loss, heat)


rod = Rod(10)
flame = np.zeros(10)
flame[3] = 2.0
heat = torch.tensor(flame, requires_grad=True)
warmth = rod(heat)
warmth.backward(torch.tensor(np.linspace(0.0, 1.0, 10)))

print(f"warmest at point {warmth.argmax().item()}, {warmth.max().item():.4f} degrees")
print(f"contact gradient {rod.contact.grad.sum().item():.4f} in all")
print(f"loss gradient {rod.loss.grad.sum().item():.4f}, heat gradient {heat.grad.sum().item():.4f}")
