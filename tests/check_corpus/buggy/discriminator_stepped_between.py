import torch
import torch.nn as nn

torch.manual_seed(71)
netG = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
netD = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
optimizerG = torch.optim.Adam(netG.parameters(), lr=5e-4)
optimizerD = torch.optim.Adam(netD.parameters(), lr=5e-4)

for i in range(5):
    real = torch.randn(16, 4) + 1
    fake = netG(torch.randn(16, 3))
    output = netD(fake)
    errD = -netD(real).mean() + netD(fake.detach()).mean()
    errG = -output.mean()

    netD.zero_grad()
    errD.backward()
    optimizerD.step()

    netG.zero_grad()
    errG.backward()
    optimizerG.step()
    print(i, errD.item(), errG.item())
