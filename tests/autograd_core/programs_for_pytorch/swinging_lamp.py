"""A lamp swings in a wind that is learned; going back in time recovers where it was.

The steps can be taken backwards, so the pass back needs no memory of the way.
"""

import torch
import torch.nn as nn


class Wind(nn.Module):
    def __init__(self):
        super().__init__()
        self.feel, self.push = nn.Linear(1, 5), nn.Linear(5, 1)

    def forward(self, place):
        return self.push(torch.tanh(self.feel(place))) - place


def kick_and_drift(wind, place, speed, dt):
    speed = speed + dt * wind(place)
    return place + dt * speed, speed


class Swing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, wind, place, speed, steps, *weights):
        ctx.wind, ctx.steps = wind, steps
        with torch.no_grad():
            for _ in range(steps):
                place, speed = kick_and_drift(wind, place, speed, 1 / steps)
        ctx.save_for_backward(place, speed, *weights)
        return place, speed

    @staticmethod
    def backward(ctx, to_place, to_speed):
        place, speed, *weights = ctx.saved_tensors
        dt = 1 / ctx.steps
        to_weights = [torch.zeros_like(weight) for weight in weights]
        for _ in range(ctx.steps):
            place = place - dt * speed  # where the lamp was before this step
            with torch.enable_grad():
                place = place.detach().requires_grad_()
                pull = ctx.wind(place)
                to_speed = to_speed + dt * to_place
                through, *more = torch.autograd.grad(
                    pull, [place, *weights], dt * to_speed, allow_unused=True
                )
            speed = speed - dt * pull.detach()
            place, to_place = place.detach(), to_place + through
            to_weights = [total + part for total, part in zip(to_weights, more)]
        return (None, to_place, to_speed, None, *to_weights)


wind = Wind()
height = torch.tensor([[0.8], [-0.5]], requires_grad=True)
still = torch.zeros(2, 1, requires_grad=True)
end, speed = Swing.apply(wind, height, still, 12, *wind.parameters())
print(end, end.grad_fn.name())
(end.pow(2) + speed).sum().backward()
print(height.grad, still.grad)
print(wind.feel.weight.grad.norm(), wind.push.bias.grad)

wind.zero_grad()
place, speed = height, still
for _ in range(12):
    place, speed = kick_and_drift(wind, place, speed, 1 / 12)
(place**2 + speed).sum().backward()
print(height.grad / 2, still.grad / 2)
print(wind.feel.weight.grad.norm(), wind.push.bias.grad)
