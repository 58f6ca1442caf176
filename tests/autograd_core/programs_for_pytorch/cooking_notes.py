"""Shopping lists are turned into steps of cooking, with one eye on the list at every step."""

import torch
import torch.nn as nn
import torch.nn.functional as F

START = 0


class Reader(nn.Module):
    def __init__(self, goods, size):
        super().__init__()
        self.goods = nn.Embedding(goods, size)
        self.memory = nn.GRU(size, size, batch_first=True)

    def forward(self, lists):
        return self.memory(self.goods(lists))


class Eye(nn.Module):
    """Which line of the list to look at, given what is in mind and what was looked at before."""

    def __init__(self, size):
        super().__init__()
        self.mind, self.line = nn.Linear(size, size), nn.Linear(size, size)
        self.match = nn.Linear(size, 1)

    def forward(self, mind, lines, looked):
        fit = self.match(torch.tanh(self.mind(mind) * self.line(lines))).squeeze(2)
        look = F.softmax((fit - looked).unsqueeze(1), dim=-1)
        return torch.bmm(look, lines), look


class Cook(nn.Module):
    def __init__(self, size, steps):
        super().__init__()
        self.steps = nn.Embedding(steps, size)
        self.eye = Eye(size)
        self.hand = nn.GRU(2 * size, size, batch_first=True)
        self.say = nn.Linear(size, steps)

    def forward(self, lines, mind, told=None, length=5):
        step = torch.empty(lines.size(0), 1, dtype=torch.long).fill_(START)
        said, looks = [], []
        looked = torch.zeros(lines.shape[:2])
        for turn in range(length):
            seen, look = self.eye(mind.permute(1, 0, 2), lines, looked)
            looked = looked + look.squeeze(1)
            moved, mind = self.hand(torch.cat((self.steps(step), seen), dim=2), mind)
            said.append(self.say(moved))
            looks.append(look)
            if told is None:
                _, likely = said[-1].topk(1)
                step = likely.squeeze(-1).detach()
            else:
                step = told[:, turn].unsqueeze(1)
        return F.log_softmax(torch.cat(said, dim=1), dim=-1), torch.cat(looks, dim=1)


reader, cook = Reader(8, 5), Cook(5, 6)
lists, told = torch.randint(0, 8, (4, 3)), torch.randint(0, 6, (4, 5))
hands = [torch.optim.Adam(each.parameters(), 0.02) for each in (reader, cook)]
wrong = nn.NLLLoss()
for dinner in range(3):
    for hand in hands:
        hand.zero_grad()
    said, looks = cook(*reader(lists), told)
    loss = wrong(said.view(-1, said.size(-1)), told.view(-1))
    loss.backward()
    for hand in hands:
        hand.step()
    print(dinner, loss.item(), looks.sum(-1)[2, 1], looks.shape)
with torch.no_grad():
    print(cook(*reader(lists))[0].argmax(-1))
