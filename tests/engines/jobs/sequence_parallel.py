import torch
from job import job, tell
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.head = nn.Linear(8, 16)

    def forward(self, words):
        x = self.norm(self.words(words))
        return self.head(self.down(nn.functional.silu(self.up(x))))


with job():
    mesh = init_device_mesh("cpu", (2,))
    net = parallelize_module(
        Net(),
        mesh,
        {
            "words": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
            "norm": SequenceParallel(),
            "up": ColwiseParallel(input_layouts=Shard(1)),
            "down": RowwiseParallel(output_layouts=Shard(1)),
            "head": ColwiseParallel(
                input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False
            ),
        },
    )
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        words = torch.randint(16, (2, 4))
        scores = net(words)
        with loss_parallel():
            nn.functional.cross_entropy(scores.flatten(0, 1), words.flatten()).backward()
        optimizer.step()
    tell(net.parameters())
