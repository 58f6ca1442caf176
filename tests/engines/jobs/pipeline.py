import torch
from job import job, tell
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

with job() as rank:
    torch.manual_seed(rank)
    net = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 8))
    stage = PipelineStage(net, rank, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(
        stage, n_microbatches=2, loss_fn=lambda given, wanted: (given - wanted).pow(2).mean()
    )
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        x = torch.rand(4, 8)
        if rank == 0:
            schedule.step(x)
        else:
            schedule.step(target=torch.ones(4, 8))
        optimizer.step()
    tell(net.parameters())
