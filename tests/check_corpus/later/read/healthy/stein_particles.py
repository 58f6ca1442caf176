import torch


def log_posterior(w, x, y):
    logits = x @ w.T
    likelihood = (y.unsqueeze(1) * logits - torch.nn.functional.softplus(logits)).sum(dim=0)
    return likelihood - 0.5 * w.square().sum(dim=1)


def kernel(w):
    square = torch.cdist(w, w).square()
    width = square.detach().median() / torch.log(torch.tensor(len(w) + 1.0))
    return torch.exp(-square / width)


class SVGD:
    def __init__(self, particles, lr):
        self.particles = particles
        self.optimizer = torch.optim.Adagrad([particles], lr=lr)

    def step(self, x, y):
        w = self.particles
        self.optimizer.zero_grad()
        log_posterior(w, x, y).sum().backward()
        score = w.grad.clone()
        w.grad = None
        similarity = kernel(w)
        similarity.sum().backward()
        repulsion = -w.grad / 2
        with torch.no_grad():
            w.grad = -(similarity @ score + repulsion) / len(w)
        self.optimizer.step()


def predict(w, x):
    return torch.sigmoid(x @ w.T).mean(dim=1)


torch.manual_seed(18)
true = torch.tensor([1.5, -1.0, 0.5])
x = torch.randn(120, 3)
y = torch.bernoulli(torch.sigmoid(x @ true))
test_x = torch.randn(500, 3)
test_y = torch.bernoulli(torch.sigmoid(test_x @ true))
particles = torch.randn(20, 3).requires_grad_()
sampler = SVGD(particles, lr=0.3)
for iteration in range(90):
    sampler.step(x, y)
    if iteration % 30 == 29:
        with torch.no_grad():
            accuracy = ((predict(particles, test_x) > 0.5) == test_y.bool()).float().mean()
            spread = particles.std(dim=0).mean()
        print(f"iteration {iteration}: accuracy {accuracy:.3f}, spread {spread:.3f}")
