"""What a train did at each minute, read from its noise: all ways through a day are added up."""

import torch
import torch.autograd as autograd
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(14)
NEVER = -5000.0
HALTS, ROLLS, DEPOT = 0, 1, 2


class Timetable(nn.Module):
    def __init__(self, noises, width):
        super().__init__()
        self.width = width
        self.noise = nn.Embedding(noises, width)
        self.listen = nn.LSTM(width, width // 2, num_layers=1, bidirectional=True)
        self.guess = nn.Linear(width, 3)
        self.follows = nn.Parameter(torch.randn(3, 3))  # from the second to the first
        self.follows.data[DEPOT, :] = NEVER  # a train leaves the depot once

    def guesses(self, noises):
        silence = [torch.randn(2, 1, self.width // 2) for _ in range(2)]
        heard, _ = self.listen(self.noise(noises).view(len(noises), 1, -1), tuple(silence))
        return self.guess(heard.view(len(noises), self.width))

    def all_days(self, guesses):
        """The logarithm of the sum over all days that there could have been.

        From the last minute back: how much can still happen after each state.
        """
        onward = torch.full((1, 3), -1.0)
        onward[0][ROLLS] = -2.0  # few trains end on the way
        for guess in reversed(list(guesses)):
            ways = []
            for state in range(3):
                to = self.follows[:, state].view(1, -1) + guess.view(1, -1)
                best, _ = torch.max(to + onward, 1)
                rest = to + onward - best.view(1, -1).expand(1, to.size()[1])
                ways.append(best + torch.log(torch.sum(torch.exp(rest))))
            onward = torch.cat(ways).view(1, -1)
        return onward[0, DEPOT]

    def this_day(self, guesses, states):
        score = torch.zeros(1) - (2.0 if states[-1] == ROLLS else 1.0)
        states = torch.cat([torch.tensor([DEPOT], dtype=torch.long), states])
        for minute, guess in enumerate(guesses):
            now, before = states[minute + 1], states[minute]
            score = score + guess[now] + self.follows[now, before]
        return score

    def forward(self, noises, states):
        guesses = self.guesses(noises)
        return self.all_days(guesses) - self.this_day(guesses, states)


timetable = Timetable(7, 6)
sgd = optim.SGD(timetable.parameters(), lr=0.02, weight_decay=0.0005)
noises = torch.tensor([0, 5, 5, 2, 6], dtype=torch.long)
states = torch.tensor([HALTS, ROLLS, ROLLS, HALTS, ROLLS], dtype=torch.long)
for _ in range(3):
    timetable.zero_grad()
    unlikely = timetable(noises, states)
    unlikely.backward()
    sgd.step()
    print(unlikely, timetable.follows.grad.argmax().item())
print(timetable.follows.grad.norm(), timetable.follows.grad[DEPOT].abs().max() < 1e-6)
print(autograd.grad(timetable(noises, states), timetable.guess.bias)[0])
