"""Recipes that are used more than once, under one name, under two, or as often as needed."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class FoldAndOpen(nn.Module):
    """Folds four numbers to two and opens them again with the same creases."""

    def __init__(self):
        super().__init__()
        self.creases = nn.Parameter(torch.randn(2, 4) * 0.4)
        self.fold = nn.Parameter(torch.zeros(2))
        self.open = nn.Parameter(torch.zeros(4))

    def forward(self, paper):
        folded = torch.sigmoid(F.linear(paper, self.creases, self.fold))
        return F.linear(folded, self.creases.t(), self.open)


class Menu(nn.Module):
    """What goes with what: each dish is asked and answered by the same list."""

    def __init__(self, dishes, flavours):
        super().__init__()
        self.asked = nn.Embedding(dishes, flavours)
        self.answered = nn.Linear(flavours, dishes, bias=False)
        self.answered.weight = self.asked.weight

    def forward(self, plates):
        return self.answered(self.asked(plates).mean(1))


paper = FoldAndOpen()
sgd = torch.optim.SGD(paper.parameters(), lr=0.3, momentum=0.8, nesterov=True, weight_decay=2e-3)
sheets = torch.randn(8, 4)
for _ in range(15):
    sgd.zero_grad()
    loss = F.mse_loss(paper(sheets), sheets)
    loss.backward()
    sgd.step()
print(loss.item(), paper.creases.grad)

menu = Menu(6, 3)
print([name for name, _ in menu.named_parameters()], list(menu.state_dict()))
print(len(list(menu.parameters())))
plates = torch.tensor([[0, 4], [5, 5], [2, 1], [4, 4]])
F.cross_entropy(menu(plates), torch.tensor([3, 2, 0, 5])).backward()
print(menu.asked.weight.grad)
print(menu.asked.weight.grad is menu.answered.weight.grad)


class Soup(nn.Module):
    """As many rounds of the same spice as the guests want."""

    def __init__(self):
        super().__init__()
        self.salt = nn.Parameter(torch.randn(()))
        self.spice = nn.Parameter(torch.randn(()))

    def forward(self, water, rounds):
        taste = self.salt * water
        for _ in range(rounds):
            taste = taste + self.spice * torch.sin(taste)
        return taste

    def recipe(self):
        return f"{self.salt.item():.4f} of salt, {self.spice.item():.4f} of spice"


soup, water = Soup(), torch.linspace(-1, 1, 50)
pot = torch.optim.SGD(soup.parameters(), lr=1e-3, momentum=0.5)
off = torch.nn.MSELoss(reduction="sum")
for guest in range(12):
    loss = off(soup(water, guest % 4), water**3)
    pot.zero_grad()
    loss.backward()
    pot.step()
print(loss.item(), soup.recipe())
