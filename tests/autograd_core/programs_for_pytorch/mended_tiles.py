"""A mender fills in cracked tiles; a judge learns to tell mended tiles from whole ones."""

import torch
import torch.nn as nn
import torch.optim as optim

mender = nn.Sequential(
    nn.Conv2d(1, 6, 4, 2, 1, bias=False),
    nn.BatchNorm2d(6),
    nn.ReLU(True),
    nn.ConvTranspose2d(6, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
)
judge = nn.Sequential(
    nn.Conv2d(1, 5, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.1, inplace=True),
    nn.Conv2d(5, 1, 3, 1, 0, bias=False),
    nn.Sigmoid(),
)


def start(module):
    kind = type(module).__name__
    if kind.find("Conv") != -1:
        nn.init.normal_(module.weight.data, 0.0, 0.15)
    elif kind.find("Norm") != -1:
        nn.init.normal_(module.weight.data, 1.0, 0.05)
        nn.init.constant_(module.bias.data, 0.1)


mender.apply(start)
judge.apply(start)
verdict = nn.BCELoss()
mending = optim.Adam(mender.parameters(), lr=0.003, betas=(0.6, 0.99))
judging = optim.Adam(judge.parameters(), lr=0.003, betas=(0.6, 0.99))
whole = torch.cos(torch.arange(6.0)).view(1, 1, 1, 6) * torch.rand(12, 1, 6, 6)
cracked = whole.clone()
cracked[:, :, 2:4] = 0
hidden = torch.full((12,), 1.0, dtype=torch.float)
for round in range(3):
    mended = mender(cracked)
    judge.zero_grad()
    says = judge(whole).view(-1)
    trust = verdict(says, hidden.fill_(1.0))
    trust.backward()
    doubted = judge(mended.detach()).view(-1)
    doubt = verdict(doubted, hidden.fill_(0.0))
    doubt.backward()
    judging.step()

    mender.zero_grad()
    passed = verdict(judge(mended).view(-1), hidden.fill_(1.0)) + (mended - whole).abs().mean()
    passed.backward()
    mending.step()
    print("round %d: judge %.4f, mender %.4f" % (round, (trust + doubt).item(), passed.item()))
    print("   taken for whole: %.4f of whole, %.4f of mended" % (says.mean(), doubted.mean()))
with torch.no_grad():
    shown = mender(cracked[:2]).detach().cpu()
print(shown.shape, shown.mean(), shown.requires_grad, cracked.is_leaf)
print(mender[1].running_var[:3])
mender.eval()
print(mender.training, mender(cracked).std())
