"""Answers that are found by searching, and differentiated by what holds once they are found."""

import torch
import torch.autograd as autograd
import torch.nn as nn


class Beam(nn.Module):
    """A beam bends under its load, and the load shifts as it bends."""

    def __init__(self, points, springs):
        super().__init__()
        self.down = nn.Linear(points, springs)
        self.up = nn.Linear(springs, points)
        self.even = nn.LayerNorm(points)
        for part in (self.down, self.up):
            part.weight.data.mul_(0.25)

    def forward(self, bent, load):
        return torch.tanh(self.even(load) + self.up(torch.relu(self.down(bent))))


def settle(step, start, most=100, close=1e-6):
    """Repeat ``step`` until nothing moves; returns the place, and how far each step went."""
    place, went = step(start), []
    while len(went) < most:
        following = step(place)
        went.append((following - place).norm().item() / (1e-8 + following.norm().item()))
        place = following
        if went[-1] < close:
            break
    return place, went


class Settled(nn.Module):
    """The bent beam; its gradient is that of one more step, solved for all steps at once."""

    def __init__(self, beam, search, **limits):
        super().__init__()
        self.beam, self.search, self.limits = beam, search, limits

    def forward(self, load):
        with torch.no_grad():
            start = torch.zeros_like(load)
            bent, self.went = self.search(lambda b: self.beam(b, load), start, **self.limits)
        result = self.beam(bent, load)
        free = result.clone().detach().requires_grad_()
        again = self.beam(free, load)
        rows = [autograd.grad(part, free, retain_graph=True)[0] for part in again]
        left = torch.eye(len(rows), dtype=load.dtype) - torch.stack(rows)
        result.register_hook(lambda g: torch.linalg.solve(left.T, g))
        return result


bridge = Settled(Beam(3, 6).double(), settle, close=1e-12, most=150)
load = torch.randn(3, dtype=torch.double, requires_grad=True)
print(autograd.gradcheck(bridge, load, eps=1e-5, atol=1e-3, check_undefined_grad=False))
bridge(load).square().sum().backward()
print(load.grad, bridge.went[-1] < 1e-12)


class CubeRoot(torch.autograd.Function):
    """The side of a box with this volume."""

    @staticmethod
    def forward(ctx, volume):
        side = torch.ones_like(volume)
        for _ in range(40):
            side = (2 * side + volume / side**2) / 3
        ctx.save_for_backward(side)
        return side

    @staticmethod
    def backward(ctx, g):
        (side,) = ctx.saved_tensors
        with torch.enable_grad():
            free = side.detach().requires_grad_()
            (growth,) = autograd.grad((free * free * free).sum(), free, create_graph=True)
        return g / growth


volume = torch.tensor([8.0, 27.0, 1.0], requires_grad=True)
side = CubeRoot.apply(volume)
side.sum().backward()
print(side, volume.grad)


class Weights(torch.autograd.Function):
    """The forces that hold a frame in balance."""

    @staticmethod
    def forward(ctx, frame, load):
        forces = torch.linalg.solve(frame, load)
        ctx.save_for_backward(frame, forces)
        return forces

    @staticmethod
    def backward(ctx, g):
        frame, forces = ctx.saved_tensors
        to_load = torch.linalg.solve(frame.transpose(-1, -2), g)
        return to_load.unsqueeze(-1) * -forces.unsqueeze(-2), to_load


frame = torch.randn(4, 4, dtype=torch.double) + 4 * torch.eye(4, dtype=torch.double)
frame.requires_grad_()
load = torch.randn(4, dtype=torch.double, requires_grad=True)
print(autograd.gradcheck(Weights.apply, (frame, load)))
print(autograd.gradgradcheck(Weights.apply, (frame, load)))
