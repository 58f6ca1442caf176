"""A baker learns how many trays to bake, how hot the oven should be, and how long to knead."""

from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal


class Morning(NamedTuple):
    log_chance: torch.Tensor
    hoped: torch.Tensor
    earned: float


class Baker(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Linear(3, 12)
        self.trays = nn.Linear(12, 4)
        self.worth = nn.Linear(12, 1)
        self.diary = []

    def forward(self, weather):
        seen = F.relu(self.look(weather))
        return F.softmax(self.trays(seen), dim=-1), self.worth(seen)


baker = Baker()
adam = torch.optim.Adam(baker.parameters(), lr=0.02)
for day in range(7):
    chances, hoped = baker(torch.randn(3))
    plan = Categorical(chances)
    trays = plan.sample()
    sold = min(trays.item(), 1 + day % 3)
    baker.diary.append(Morning(plan.log_prob(trays), hoped, 2.0 * sold - trays.item()))

credits, later = [], 0.0
for morning in reversed(baker.diary):  # what is left over is sold the day after
    later = 0.7 * morning.earned + 0.3 * later
    credits.append(later)
credits = torch.tensor(credits[::-1])
credits = (credits - credits.mean()) / (credits.std() + torch.finfo(torch.float32).eps)
blame, surprise = [], []
for morning, credit in zip(baker.diary, credits):
    blame.append(-morning.log_chance * (credit - morning.hoped.item()))
    surprise.append(F.smooth_l1_loss(morning.hoped, torch.tensor([credit])))
loss = torch.stack(blame).sum() + torch.stack(surprise).sum()
adam.zero_grad()
loss.backward()
adam.step()
print("credits", credits)
print("loss", loss)

oven, log_width = nn.Linear(2, 2), nn.Parameter(torch.zeros(2))
dough, taste = torch.randn(6, 2), torch.randn(6)
heat = Normal(oven(dough), log_width.exp())
tried = heat.sample()
before = heat.log_prob(tried).sum(-1).detach()
now = Normal(oven(dough) + 0.3, log_width.exp() * 1.2).log_prob(tried).sum(-1)
change = torch.exp(now - before)
kept = torch.clamp(change, 0.75, 1.25)
regret = -torch.min(change * taste, kept * taste).mean() - 0.02 * heat.entropy().mean()
regret.backward()
print("regret", regret, log_width.grad)

minutes = Normal(oven(dough), log_width.exp())
free = minutes.rsample()
dial = torch.tanh(free)  # the dial has two ends
chance = minutes.log_prob(free).sum(-1) - torch.log(1 - dial.pow(2) + 1e-05).sum(-1)
(chance.mean() + dial.sum()).backward()
print("dial", dial[0], log_width.grad)
