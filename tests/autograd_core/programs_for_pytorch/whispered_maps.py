"""A map is whispered along a noisy line in four numbers, and drawn again at the other end."""

import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

HEIGHT, WIDTH = 3, 6


class Line(nn.Module):
    def __init__(self, words=4, hidden=14):
        super().__init__()
        self.read = nn.Linear(HEIGHT * WIDTH, hidden)
        self.whisper = nn.Linear(hidden, 2 * words)  # the words, and how unclear each one is
        self.hear = nn.Linear(words, hidden)
        self.draw = nn.Linear(hidden, HEIGHT * WIDTH)

    def spoken(self, maps):
        read = F.relu(self.read(maps.view(-1, HEIGHT * WIDTH)))
        return self.whisper(read).split(self.hear.in_features, dim=1)

    def drawn(self, heard):
        return torch.sigmoid(self.draw(F.relu(self.hear(heard))))

    def forward(self, maps):
        words, log_noise = self.spoken(maps)
        noise = torch.exp(0.5 * log_noise) * torch.randn_like(log_noise)
        return self.drawn(words + noise), words, log_noise


def cost(drawn, maps, words, log_noise):
    """What is drawn wrongly, and what it costs to speak up and to be clear."""
    wrong = F.binary_cross_entropy(drawn, maps.view(-1, HEIGHT * WIDTH), reduction="sum")
    loud = 0.5 * torch.sum(words.pow(2) + log_noise.exp() - log_noise - 1)
    return wrong + loud


place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
line = Line().to(place)
adam = optim.Adam(line.parameters(), lr=5e-3)
maps = torch.rand(9, HEIGHT, WIDTH).to(place)
for hour in range(3):
    line.train()
    spent = 0.0
    for (some,) in DataLoader(TensorDataset(maps), batch_size=4):
        adam.zero_grad()
        drawn, words, log_noise = line(some)
        loss = cost(drawn, some, words, log_noise)
        loss.backward()
        adam.step()
        spent += loss.item()
    print(f"hour {hour}: {spent / len(maps):.4f} for each map")
line.eval()
with torch.no_grad():
    dreamt = line.drawn(torch.randn(2, 4).to(place)).cpu()
    print(dreamt.view(2, 1, HEIGHT, WIDTH).shape, dreamt.mean())
print(line, isinstance(TensorDataset(maps), torch.utils.data.Dataset))
