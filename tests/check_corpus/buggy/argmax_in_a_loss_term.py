import torch
import torch.nn as nn

torch.manual_seed(26)
parent_of = torch.tensor([0, 0, 1, 1])


def dependency_loss(coarse, fine):
    """Punish a fine class whose parent is not the coarse class."""
    coarse_pred = torch.argmax(nn.Softmax(dim=1)(coarse), dim=1)
    fine_pred = torch.argmax(nn.Softmax(dim=1)(fine), dim=1)
    wrong = torch.where(parent_of[fine_pred] == coarse_pred, 0.0, 1.0)
    return torch.exp(wrong).mean() - 1


trunk = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
coarse_head, fine_head = nn.Linear(16, 2), nn.Linear(16, 4)
params = [p for m in (trunk, coarse_head, fine_head) for p in m.parameters()]
optimizer = torch.optim.Adam(params, lr=0.01)
criterion = nn.CrossEntropyLoss()
x, fine_y = torch.randn(40, 8), torch.randint(4, (40,))
for epoch in range(20):
    h = trunk(x)
    coarse, fine = coarse_head(h), fine_head(h)
    layer_loss = criterion(coarse, parent_of[fine_y]) + criterion(fine, fine_y)
    dloss = dependency_loss(coarse, fine)
    total = layer_loss + 2.0 * dloss
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
print(layer_loss.item(), dloss.item())
