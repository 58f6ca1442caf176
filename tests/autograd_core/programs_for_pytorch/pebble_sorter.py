"""A machine sorts pictures of pebbles: a whole script with data, training, and a check."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset, random_split


class Pebbles(Dataset):
    """Bright ones and dark ones, large ones and small ones."""

    def __init__(self, count):
        self.pictures = torch.randn(count, 1, 10, 10) * (1 + torch.arange(count) % 2).view(
            -1, 1, 1, 1
        )
        bright = self.pictures.mean((1, 2, 3)) > 0
        self.kinds = bright.long() * 2 + torch.arange(count) % 2

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, number):
        return self.pictures[number], self.kinds[number]


class Sorter(nn.Module):
    def __init__(self, kinds=4):
        super().__init__()
        self.touch = nn.Conv2d(1, 3, 3, 1)
        self.weigh = nn.Conv2d(3, 6, 3, 1)
        self.shake = nn.Dropout(0.0)
        self.roll = nn.Linear(54, 12)
        self.drop = nn.Linear(12, kinds)

    def forward(self, pictures):
        felt = F.max_pool2d(F.relu(self.weigh(F.relu(self.touch(pictures)))), 2)
        rolled = F.relu(self.roll(torch.flatten(self.shake(felt), 1)))
        return F.log_softmax(self.drop(rolled), dim=1)


def learn(sorter, place, pebbles, optimizer):
    sorter.train()
    seen = 0
    for pictures, kinds in pebbles:
        pictures, kinds = pictures.to(place), kinds.to(place)
        optimizer.zero_grad()
        loss = F.nll_loss(sorter(pictures), kinds)
        loss.backward()
        optimizer.step()
        seen += len(pictures)
        done = 100.0 * seen / len(pebbles.dataset)
        print("  {:3.0f} % of the heap, loss {:.4f}".format(done, loss.item()))


def checked(sorter, place, pebbles):
    """The mean loss, and how many of the pebbles are in the right box."""
    sorter.eval()
    lost, right = 0, 0
    with torch.no_grad():
        for pictures, kinds in pebbles:
            boxes = sorter(pictures.to(place))
            lost += F.nll_loss(boxes, kinds.to(place), reduction="sum").item()
            box = boxes.argmax(dim=1, keepdim=True)
            right += box.eq(kinds.view_as(box)).sum().item()
    return lost / len(pebbles.dataset), right


torch.manual_seed(15)
place = torch.device("cpu")
heap, handful = Pebbles(21), Pebbles(9)
sorter = Sorter().to(place)
adagrad = optim.Adagrad(sorter.parameters(), lr=0.02)
slower = StepLR(adagrad, step_size=1, gamma=0.6)
for shift in ("early", "late"):
    print(shift, slower.get_last_lr())
    learn(sorter, place, DataLoader(heap, batch_size=8), adagrad)
    lost, right = checked(sorter, place, DataLoader(handful, batch_size=5))
    print(f"  {lost:.4f} lost, {right} of {len(handful)} right")
    slower.step()

mine, yours = random_split(heap, [14, 7])
print(len(mine), len(yours))
print(len(DataLoader(mine, batch_size=4, drop_last=True)), len(DataLoader(mine, batch_size=4)))
print(sum(len(pictures) for pictures, _ in DataLoader(heap, 6, shuffle=True)))
labels = [{"box": 3, "at": torch.zeros(3)}, {"box": 5, "at": torch.full((3,), 2.0)}]
for batch in DataLoader(labels, batch_size=2):
    print(batch)
print(next(iter(DataLoader([0.5, 4.0, 2.5, 1.0], batch_size=4, collate_fn=lambda some: max(some)))))
print(next(iter(DataLoader(range(3, 8), batch_size=3))))
