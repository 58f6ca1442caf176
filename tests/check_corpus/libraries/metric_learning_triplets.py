"""Triplets that a miner chooses; a batch may have none that is hard."""

import torch
from pytorch_metric_learning.losses import TripletMarginLoss
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
criterion = TripletMarginLoss(margin=0.2)
miner = TripletMarginMiner(margin=0.2, type_of_triplets="semihard")
optimizer = torch.optim.Adam(trunk.parameters(), lr=3e-3)
centres = torch.randn(5, 8)
share = []
for step in range(40):
    labels = torch.randint(5, (32,))
    embeddings = trunk(centres[labels] + 0.5 * torch.randn(32, 8))
    triplets = miner(embeddings, labels)
    loss = criterion(embeddings, labels, triplets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    share.append(miner.num_triplets)
assert sum(share[-8:]) < 0.7 * sum(share[:8])
