import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count):
    x = torch.randn(count, 8)
    score = torch.stack([x[:, 0] * x[:, 1], x[:, 2] - x[:, 3], x[:, 4].abs() - 0.7], dim=1)
    return TensorDataset(x, score.argmax(dim=1))


def network(width):
    return nn.Sequential(
        nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
    )


def train_teacher(loader, epochs=4):
    teacher = network(64)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=5e-3)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(teacher(x), y).backward()
            optimizer.step()
    return teacher.eval()


def distillation_loss(logits, targets, y, temperature=3.0, alpha=0.7):
    soft = F.kl_div(
        F.log_softmax(logits / temperature, dim=1), targets, reduction="batchmean", log_target=True
    )
    return alpha * temperature**2 * soft + (1 - alpha) * F.cross_entropy(logits, y)


@torch.no_grad()
def accuracy(model, data):
    x, y = data.tensors
    return (model(x).argmax(dim=1) == y).float().mean().item()


torch.manual_seed(25)
train, valid = make(800), make(400)
loader = DataLoader(train, batch_size=50, shuffle=True)
teachers = [train_teacher(loader) for _ in range(2)]
print("teachers", *(f"{accuracy(teacher, valid):.3f}" for teacher in teachers))
student = network(16)
optimizer = torch.optim.Adam(student.parameters(), lr=8e-3)
for epoch in range(12):
    for x, y in loader:
        with torch.inference_mode():
            votes = torch.stack([teacher(x) / 3.0 for teacher in teachers])
            targets = votes.log_softmax(dim=-1).logsumexp(dim=0)
            targets = targets.log_softmax(dim=-1)
        loss = distillation_loss(student(x), targets.clone(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, student {accuracy(student, valid):.3f}")
