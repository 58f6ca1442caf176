import torch
import torch.nn as nn

torch.manual_seed(26)
backbone = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
head = nn.Sequential(nn.Flatten(), nn.Linear(8 * 16, 2))
optimizer = torch.optim.Adam([*backbone[0].parameters(), *head.parameters()], lr=0.01)


def freeze_norms(module):
    if isinstance(module, nn.BatchNorm2d):
        module.eval()
        module.requires_grad_(False)


images, labels = torch.randn(16, 1, 6, 6), torch.arange(16) % 2
history = []
for epoch in range(20):
    backbone.train()
    backbone.apply(freeze_norms)
    loss = nn.functional.cross_entropy(head(backbone(images)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
