"""Drum patterns are followed beat by beat; what happened long ago is let go of, or not."""

import torch
import torch.nn as nn


class Drummer(nn.Module):
    def __init__(self, kind, drums=6, memory=7):
        super().__init__()
        self.memory = memory
        self.strokes = nn.Embedding(drums, 5)
        self.beat = getattr(nn, kind)(5, memory, num_layers=2, batch_first=True)
        self.stick = nn.Linear(memory, drums)

    def forward(self, bar, mood=None):
        felt, mood = self.beat(self.strokes(bar), mood)
        return self.stick(felt.contiguous().view(-1, self.memory)), mood


def let_go(mood):
    """The same mood, without how it came about."""
    return mood.detach() if isinstance(mood, torch.Tensor) else tuple(map(let_go, mood))


song = torch.randint(0, 6, (3, 17))
for kind in ("LSTM", "GRU", "RNN"):
    torch.manual_seed(16)
    drummer = Drummer(kind)
    adagrad = torch.optim.Adagrad(drummer.parameters(), lr=0.05)
    off_beat = nn.CrossEntropyLoss()
    mood = None
    for bar in range(0, 16, 4):
        drummer.zero_grad()
        mood = mood if mood is None else let_go(mood)
        sticks, mood = drummer(song[:, bar : bar + 4], mood)
        loss = off_beat(sticks, song[:, bar + 1 : bar + 5].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(drummer.parameters(), 0.4)
        adagrad.step()
        print(kind, bar, round(loss.item(), 4))
    print([name for name, _ in drummer.beat.named_parameters()][4:])

cell = nn.RNNCell(2, 3)
sgd = torch.optim.SGD(cell.parameters(), lr=0.2)
mood = torch.zeros(1, 3)
try:
    for _ in range(3):  # nothing is let go of, and the second pass runs through the first
        mood = cell(torch.full((1, 2), 0.5), mood)
        mood.sum().backward()
        sgd.step()
except RuntimeError as error:
    print(str(error)[:60])


class Metronome(nn.Module):
    """A memory made of two layers: which of three dances is this?"""

    def __init__(self, drums, memory, dances):
        super().__init__()
        self.memory = memory
        self.remember = nn.Linear(drums + memory, memory)
        self.decide = nn.Linear(drums + memory, dances)
        self.surely = nn.LogSoftmax(dim=1)

    def forward(self, stroke, mood):
        both = torch.cat((mood, stroke), 1)
        return self.surely(self.decide(both)), torch.tanh(self.remember(both))

    def silence(self):
        return torch.zeros(1, self.memory)


metronome, wrong_dance = Metronome(4, 6, 3), nn.NLLLoss()
strokes = torch.zeros(5, 1, 4)
for beat in range(5):
    strokes[beat][0][(beat * 3) % 4] = 1
for lesson in range(4):
    mood = metronome.silence()
    metronome.zero_grad()
    for beat in range(strokes.size()[0]):
        dance, mood = metronome(strokes[beat], mood)
    loss = wrong_dance(dance, torch.tensor([2]))
    loss.backward()
    for weight in metronome.parameters():
        weight.data.add_(weight.grad.data, alpha=-0.1)
    _, best = dance.topk(1)
    print(lesson, loss.item(), best[0].item())
