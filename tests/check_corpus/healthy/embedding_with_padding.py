import torch
import torch.nn as nn

torch.manual_seed(28)
bag = nn.Embedding(50, 8, padding_idx=0)  # most rows are in no batch
fc = nn.Linear(8, 2)
optimizer = torch.optim.Adagrad([*bag.parameters(), *fc.parameters()], lr=0.3)
documents = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0], [1, 3, 6, 7], [4, 8, 0, 0]])
topics = torch.tensor([0, 1, 0, 1])
history = []
for epoch in range(15):
    lengths = (documents != 0).sum(dim=1, keepdim=True)
    loss = nn.functional.cross_entropy(fc(bag(documents).sum(dim=1) / lengths), topics)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
