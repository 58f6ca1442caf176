"""A musician who learns how to learn instruments: steps of learning are differentiated."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

torch.manual_seed(12)


class Musician(nn.Module):
    def __init__(self, skill=12):
        super().__init__()
        stages = OrderedDict()
        stages["listen"], stages["warm"] = nn.Linear(1, skill), nn.ReLU()
        stages["move"], stages["hold"] = nn.Linear(skill, skill), nn.ReLU()
        stages["play"] = nn.Linear(skill, 1)
        self.stages = nn.Sequential(stages)

    def forward(self, touch):
        return self.stages(touch)

    def play_with(self, touch, habits):
        pairs = list(zip(habits[::2], habits[1::2]))
        for strength, rest in pairs[:-1]:
            touch = F.relu(F.linear(touch, strength, rest))
        return F.linear(touch, *pairs[-1])


musician = Musician()
habits = list(musician.parameters())
lessons = torch.optim.Adam(habits, 2e-3)
off_key = nn.MSELoss()


def heard(instrument, count=8):
    """What touching an instrument should sound like: each has its own bend and shift."""
    bend, shift = instrument
    touch = 4 * torch.rand(count, 1) - 2
    return touch, bend * touch.abs() + shift


def concert(instrument, rehearsals):
    quick = [habit.clone() for habit in habits]
    for _ in range(rehearsals):
        touch, sound = heard(instrument)
        wrong = off_key(musician.play_with(touch, quick), sound) / 4
        slopes = torch.autograd.grad(wrong, quick, create_graph=True)
        quick = [habit - 0.02 * slope for habit, slope in zip(quick, slopes)]
    touch, sound = heard(instrument)
    return off_key(musician.play_with(touch, quick), sound)


for term in range(3):
    wrong = 0
    for instrument in ((0.5, 1.0), (-1.0, 0.2 * term), (1.5, -0.5)):
        wrong += concert(instrument, rehearsals=2) / 3
    slopes = torch.autograd.grad(wrong, habits)
    for habit, slope in zip(habits, slopes):
        habit.grad = slope
    lessons.step()
    print(term, wrong.item(), [round(float(slope.abs().sum()), 4) for slope in slopes])

named = dict(musician.named_parameters())
touch = torch.linspace(-2, 2, 7).unsqueeze(1)
noise = functional_call(musician, named, (touch,)).square().mean()
slopes = torch.autograd.grad(noise, list(named.values()), create_graph=True)
quick = {name: habit - 0.3 * slope for (name, habit), slope in zip(named.items(), slopes)}
functional_call(musician, quick, (touch,)).pow(2).sum().backward()
print(musician.stages.listen.weight.grad.flatten()[:6])
