import torch
from job import job, tell
from torch import nn
from torch.distributed.fsdp import fully_shard


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x):
        return x + self.linear(self.norm(x)).relu()


with job() as rank:
    net = nn.Sequential(*[Part() for _ in range(4)], nn.Linear(8, 2))
    for part in net[:4]:
        fully_shard(part)
    fully_shard(net)
    optimizer = torch.optim.AdamW(net.parameters(), 0.01)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(torch.rand(3, 8) + rank).pow(2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    tell(net.parameters())
