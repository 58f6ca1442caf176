import torch
import torch.nn as nn
import torch.nn.functional as F


def masked_loss(logits, targets, mask):
    per_token = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    return (per_token * mask).sum() / mask.sum()


torch.manual_seed(45)
embed, head = nn.Embedding(9, 16), nn.Linear(16, 9)
optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=0.01)
for step in range(60):
    tokens = (torch.randint(8, (2, 1)) + torch.arange(6)) % 8 + 1
    mask = (torch.rand(2, 6) < 0.15).float()  # the tokens to predict
    corrupted = torch.where(mask.bool(), torch.zeros_like(tokens), tokens)
    context = embed(corrupted).mean(dim=1, keepdim=True) + embed(corrupted)
    loss = masked_loss(head(context), tokens, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
