import torch
from job import job, tell
from torch import nn
from torch.distributed.pipelining import Schedule1F1B, SplitPoint, pipeline

with job() as rank:
    whole = nn.Sequential(*[m for _ in range(2) for m in (nn.Linear(8, 8), nn.Tanh())])
    pipe = pipeline(whole, (torch.rand(2, 8),), split_spec={"2": SplitPoint.BEGINNING})
    stage = pipe.build_stage(rank, torch.device("cpu"))
    schedule = Schedule1F1B(
        stage, n_microbatches=4, loss_fn=lambda given, wanted: (given - wanted).pow(2).mean()
    )
    optimizer = torch.optim.SGD(stage.submod.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        x = torch.rand(8, 8)
        if rank == 0:
            schedule.step(x)
        else:
            schedule.step(target=torch.ones(8, 8))
        optimizer.step()
    tell(stage.submod.parameters())
