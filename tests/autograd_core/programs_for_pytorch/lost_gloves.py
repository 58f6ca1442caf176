"""Left gloves look for their right ones: several ways to learn what belongs together."""

import torch
import torch.nn as nn
import torch.nn.functional as F

feel = nn.Sequential(nn.Linear(6, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, 3))
sharpness = nn.Parameter(torch.tensor(0.2).log())


def pairs_lost(left, right):
    """How surely each glove picks its partner out of all others in the box."""
    box = F.normalize(torch.cat([left, right]), dim=1)
    count = box.size(0)
    alike = box @ box.T / sharpness.exp()
    alike = alike.masked_fill(torch.eye(count, dtype=torch.bool), float("-inf"))
    return F.cross_entropy(alike, torch.arange(count).roll(count // 2))


wool = torch.randn(5, 6)
lost = pairs_lost(feel(wool), feel(wool + 0.2 * torch.randn_like(wool)))
lost.backward()
print(lost, sharpness.grad)

photo, label = (F.normalize(torch.randn(5, 4), dim=-1) for _ in range(2))
fits = 8 * photo @ label.t()
each = torch.arange(5)
print((F.cross_entropy(fits, each) + 3 * F.cross_entropy(fits.t(), each)) / 4)

hand, memory = nn.Linear(6, 3), nn.Linear(6, 3)
memory.load_state_dict(hand.state_dict())
for weight in memory.parameters():
    weight.requires_grad_(False)


@torch.no_grad()
def remember(share):
    for old, new in zip(memory.parameters(), hand.parameters()):
        old.data.mul_(1 - share).add_(new.data, alpha=share)


sgd = torch.optim.SGD(hand.parameters(), 0.2)
for day in range(3):
    apart = 1 - F.cosine_similarity(hand(wool), memory(wool.flip(0)).detach(), dim=-1)
    sgd.zero_grad()
    apart.square().mean().backward()
    sgd.step()
    remember(0.25)
    print(day, apart.mean())

closer = nn.TripletMarginLoss(margin=0.8, p=2)
mine, partner, stranger = (torch.randn(4, 3, requires_grad=True) for _ in range(3))
gap = closer(mine, partner, stranger)
gap.backward()
print(gap, mine.grad)

shelf = torch.randn(3, 10)
shelf[:, 2:6] = photo[:4, :3].T
place = torch.zeros(1, dtype=torch.long)
place[0] = (int(place) + 6) % 10
print(place, torch.einsum("gc,cs->gs", [mine, shelf]).shape)
