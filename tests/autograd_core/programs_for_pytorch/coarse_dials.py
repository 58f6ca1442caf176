"""Dials with few positions, turned as if they were smooth; and gradients that are turned round."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Switch(torch.autograd.Function):
    """On or off; near the middle the gradient passes as if it were a dial."""

    @staticmethod
    def forward(ctx, turn):
        ctx.save_for_backward(turn)
        return turn.sign()

    @staticmethod
    def backward(ctx, g):
        (turn,) = ctx.saved_tensors
        return g * (turn.double().abs() < 1).type(g.dtype) * (1 - turn.abs())


class Notches(torch.autograd.Function):
    @staticmethod
    def forward(ctx, turn, notches):
        ctx.notches = notches
        return (turn * notches).round() / notches

    @staticmethod
    def backward(ctx, g):
        return g * min(1.0, ctx.notches / 4), None


class Against(torch.autograd.Function):
    """Forward nothing happens; the gradient comes back weaker and with the other sign."""

    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.strength, None


turn = torch.tensor([-0.7, -0.2, 0.0, 0.45, 1.3], requires_grad=True)
light = Switch.apply(turn)
print(light)
(light * torch.arange(1.0, 6.0)).sum().backward()
print(turn.grad)
rounded = turn + (torch.round(4 * turn) / 4 - turn).detach()
rounded.pow(3).sum().backward()
print(rounded, turn.grad)


class Mixer(nn.Linear):
    def __init__(self, *sizes, steps=2, **kwargs):
        super().__init__(*sizes, **kwargs)
        self.steps = steps

    def forward(self, sound):
        return F.linear(sound, Notches.apply(self.weight, 2**self.steps), self.bias)


desk = nn.Sequential(Mixer(3, 6, steps=3), nn.Hardtanh(), Mixer(6, 1, bias=False))
print(desk)
adamw = torch.optim.AdamW(desk.parameters(), lr=0.03, weight_decay=0.02)
sound, wanted = torch.randn(16, 3), torch.randn(16, 1)
for _ in range(10):
    adamw.zero_grad()
    loss = (desk(sound) - wanted).pow(2).mean()
    loss.backward()
    adamw.step()
print(loss)

liking = torch.tensor([[1.2, -0.4, 0.9, 0.0]], requires_grad=True)
shares = F.softmax(liking / 0.8, dim=-1)
best = shares.max(-1, keepdim=True)[1]
chosen = torch.zeros_like(liking).scatter_(-1, best, 1.0)
chosen = chosen - shares.detach() + shares  # one station; the gradient is that of the shares
(chosen * torch.tensor([0.5, 1.0, 2.0, 4.0])).sum().backward()
print(chosen, liking.grad)

wind = torch.full((3,), 2.0, requires_grad=True)
felt = Against.apply(wind, 0.6)
print(felt.grad_fn.name(), felt._is_view() if hasattr(felt, "_is_view") else None)
felt.sum().backward()
print(wind.grad, torch.equal(felt, wind), felt.data_ptr() == wind.data_ptr())
