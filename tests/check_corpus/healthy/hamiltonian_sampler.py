import torch

torch.manual_seed(13)
x = torch.randn(100) + 2
position = torch.tensor([0.0, 0.0])
history = []


def potential(p):
    mean, log_scale = p
    return ((x - mean) ** 2 / 2 / (2 * log_scale).exp()).sum() + 100 * log_scale + mean**2 / 20


def gradient(p):
    p = p.detach().requires_grad_()
    u = potential(p)
    return u.detach(), torch.autograd.grad(u, p)[0]


step = 1.0
for trial in range(60):
    momentum = torch.randn(2)
    u, g = gradient(position)
    start = u + momentum.square().sum() / 2
    p, m = position.clone(), momentum - step / 2 * g
    for leap in range(5):
        p = p + step * m
        v, g = gradient(p)
        m = m - step * g * (0.5 if leap == 4 else 1)
    end = v + m.square().sum() / 2
    accepted = bool(torch.rand(()) < (start - end).exp())
    if accepted:
        position = p.detach()
    # a step that goes too far gives inf, and is not taken
    step *= 1.1 if accepted else 0.7
    history.append(float(potential(position)))
