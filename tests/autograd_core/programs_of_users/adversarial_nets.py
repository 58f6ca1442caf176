import torch
import torch.nn as nn
import torch.optim as optim

latent, n = 3, 16
netG = nn.Sequential(nn.ConvTranspose2d(latent, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False), nn.Tanh())
netD = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 1, 4, 1, 0, bias=False), nn.Sigmoid())


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.1)
    elif classname.find('BatchNorm') != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


netG.apply(weights_init)
netD.apply(weights_init)
criterion = nn.BCELoss()
fixed_noise = torch.randn(4, latent, 1, 1)
optimizerD = optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.002, betas=(0.5, 0.999))
data = torch.rand(n, 1, 8, 8) * 2 - 1
for it in range(3):
    netD.zero_grad()
    label = torch.full((n,), 1., dtype=torch.float)
    output = netD(data).view(-1)
    errD_real = criterion(output, label)
    errD_real.backward()
    D_x = output.mean().item()
    noise = torch.randn(n, latent, 1, 1)
    fake = netG(noise)
    label.fill_(0.)
    output = netD(fake.detach()).view(-1)
    errD_fake = criterion(output, label)
    errD_fake.backward()
    errD = errD_real + errD_fake
    optimizerD.step()
    netG.zero_grad()
    label.fill_(1.)
    output = netD(fake).view(-1)
    errG = criterion(output, label)
    errG.backward()
    optimizerG.step()
    print('[%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f' % (it, errD.item(), errG.item(), D_x, output.mean().item()))
with torch.no_grad():
    fake = netG(fixed_noise).detach().cpu()
print(fake.shape, fake.mean(), fake.requires_grad)
print(fixed_noise.is_leaf, netG[1].running_var[:3])
netG.eval()
print(netG.training, netG(fixed_noise).std())
