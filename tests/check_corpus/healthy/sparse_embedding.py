import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(85)
words = nn.Embedding(50, 8, sparse=True)
context = nn.Embedding(50, 8, sparse=True)
optimizer = torch.optim.SparseAdam([*words.parameters(), *context.parameters()], lr=0.05)
history = []
for step in range(60):
    middle = torch.randint(0, 50, (64,))
    near = (middle + torch.randint(1, 3, (64,))) % 50
    far = torch.randint(0, 50, (64, 3))
    centre = words(middle).unsqueeze(1)
    positive = (centre * context(near).unsqueeze(1)).sum(dim=2)
    negative = (centre * context(far)).sum(dim=2)
    loss = -F.logsigmoid(positive).mean() - F.logsigmoid(-negative).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
