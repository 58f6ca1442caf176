import torch
import torch.nn as nn
import torch.autograd as autograd
from torch.optim import Adam

torch.manual_seed(1)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(nn.Linear(10, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1))

    def forward(self, img):
        img_flat = img.view(img.shape[0], -1)
        return self.model(img_flat)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        def block(i, o, normalize=True):
            layers = [nn.Linear(i, o)]
            if normalize:
                layers.append(nn.BatchNorm1d(o, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers
        self.model = nn.Sequential(*block(4, 16, normalize=False), *block(16, 32), nn.Linear(32, 10), nn.Tanh())

    def forward(self, z):
        return self.model(z)


def compute_gradient_penalty(D, real_samples, fake_samples):
    alpha = torch.rand(real_samples.size(0), 1)
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = torch.ones(real_samples.size(0), 1, requires_grad=False)
    gradients = autograd.grad(outputs=d_interpolates, inputs=interpolates, grad_outputs=fake, create_graph=True, retain_graph=True, only_inputs=True)[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


generator, discriminator = Generator(), Discriminator()
print(generator.model[0], discriminator)
opt_g = Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
real = torch.randn(16, 10) + 2
for i in range(10):
    opt_d.zero_grad()
    z = torch.randn(16, 4)
    fake_imgs = generator(z)
    gp = compute_gradient_penalty(discriminator, real.data, fake_imgs.data)
    d_loss = -torch.mean(discriminator(real)) + torch.mean(discriminator(fake_imgs.detach())) + 10 * gp
    d_loss.backward()
    opt_d.step()
    if i % 2 == 0:
        opt_g.zero_grad()
        g_loss = -torch.mean(discriminator(generator(z)))
        g_loss.backward()
        opt_g.step()
        print("[%d] [D loss: %f] [G loss: %f]" % (i, d_loss.item(), g_loss.item()))
print(sum(p.numel() for p in generator.parameters() if p.requires_grad))
print(generator.model[3].num_batches_tracked)
