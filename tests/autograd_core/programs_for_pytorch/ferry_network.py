"""Islands and the ferries between them: news travels along the lines, in two kinds of layers."""

import torch
import torch.nn as nn
import torch.nn.functional as F

lines = torch.tensor([[0, 2, 1, 4, 0, 4], [2, 0, 3, 0, 4, 1]])  # from, to; none from island 3
islands = torch.randn(5, 4)
north = torch.tensor([1, 0, 1, 0, 1])


class Ferries(nn.Module):
    """Each island keeps its own news, and hears what lines carry: less from busy ports."""

    def __init__(self, before, after):
        super().__init__()
        self.kept = nn.Linear(before, after)
        self.retold = nn.Linear(before, after, bias=False)
        self.rumour = nn.Parameter(torch.zeros(after))

    def forward(self, news, lines):
        ports, targets = lines
        traffic = torch.zeros(news.size(0)).scatter_add_(0, ports, torch.ones(ports.size(0)))
        share = traffic.pow(-0.5)
        share[share == float("inf")] = 0
        carried = share[ports].view(-1, 1) * self.retold(news)[ports] + self.rumour
        heard = torch.zeros(news.size(0), self.kept.out_features)
        return self.kept(news) + heard.index_add_(0, targets, carried)


class Gulls(nn.Module):
    """Each island listens to those of its lines that have something in common with it."""

    def __init__(self, before, after):
        super().__init__()
        self.cry = nn.Parameter(torch.empty(before, after))
        self.ear = nn.Parameter(torch.empty(after, 1))
        nn.init.xavier_uniform_(self.cry.data, gain=1.2)
        nn.init.xavier_uniform_(self.ear.data)

    def forward(self, news, near):
        heard = torch.mm(news, self.cry)
        in_common = (heard.unsqueeze(0) * heard.unsqueeze(1)) @ self.ear
        liking = F.leaky_relu(in_common.squeeze(2).T, 0.1)
        silent = -1e12 * torch.ones_like(liking)
        return F.elu(F.softmax(torch.where(near > 0, liking, silent), dim=1) @ heard)


first, second = Ferries(4, 6), Ferries(6, 2)
adam = torch.optim.Adam([*first.parameters(), *second.parameters()], 0.03)
for week in range(3):
    guess = second(F.relu(first(islands, lines)), lines)
    loss = F.cross_entropy(guess[1:], north[1:])
    adam.zero_grad()
    loss.backward()
    adam.step()
    print(week, loss)
to_itself = torch.arange(5).repeat(2, 1)
lines = torch.cat([lines, to_itself], 1)
near = torch.zeros(5, 5).index_put_((lines[0], lines[1]), torch.tensor(1.0))
gulls = Gulls(4, 3)
told = gulls(islands, near)
told.sum().backward()
print(told, gulls.ear.grad)
coast = torch.tensor([0, 1, 1, 0, 1]).view(-1, 1).expand(-1, 3)
print(torch.zeros(2, 3).scatter_reduce(0, coast, told, "amax", include_self=False))
