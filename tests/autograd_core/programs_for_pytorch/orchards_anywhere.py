"""One script for a barn, a farm or many farms: here there is one barn, and all give the same."""

import os
from contextlib import nullcontext

import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.parallel
from torch.amp import autocast, custom_bwd, custom_fwd
from torch.cuda.amp import GradScaler
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
cudnn.benchmark = False
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")
torch.set_num_threads(1)
barn = torch.device("cuda" if torch.cuda.is_available() else "cpu")
baskets = {"half": torch.float16, "short": torch.bfloat16, "full": torch.float32}
on_gpu = barn.type == "cuda"
weather = autocast(device_type="cuda", dtype=baskets["full"]) if on_gpu else nullcontext()


def many_farms():
    return dist.is_available() and dist.is_initialized()


def mean_of_farms(value):
    if many_farms():
        value = value.detach().clone()
        dist.all_reduce(value, op=dist.ReduceOp.SUM)
        value /= dist.get_world_size()
    return value


class Ripen(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx, sun):
        ctx.save_for_backward(sun)
        return sun * sun.sigmoid()

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, g):
        (sun,) = ctx.saved_tensors
        share = sun.sigmoid()
        return g * (share + sun * share * (1 - share))


class Orchard(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.Linear(6, 1))

    def forward(self, weather):
        return Ripen.apply(self.rows(weather))


harvests = TensorDataset(torch.randn(15, 3), torch.rand(15, 1))


def grown(orchard, years=2):
    """The weights after some years; gradients of three baskets make one step."""
    adamw = torch.optim.AdamW(orchard.parameters(), lr=2e-2)
    press = GradScaler(enabled=on_gpu)
    for year in range(years):
        for basket, (sun, apples) in enumerate(DataLoader(harvests, batch_size=5)):
            sun, apples = (each.to(barn, non_blocking=True) for each in (sun, apples))
            alone = isinstance(orchard, DistributedDataParallel) and basket < 2
            quiet = orchard.no_sync() if alone else nullcontext()
            with quiet, weather, torch.autocast(barn.type, enabled=False):
                loss = nn.functional.mse_loss(orchard(sun), apples)
            press.scale(loss / 3).backward()
        press.unscale_(adamw)
        length = torch.nn.utils.clip_grad_norm_(orchard.parameters(), 0.5)
        press.step(adamw)
        press.update()
        adamw.zero_grad(set_to_none=True)
        if not many_farms() or dist.get_rank() == 0:
            print(year, mean_of_farms(loss), length, press.get_scale())
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    inner = orchard.module if hasattr(orchard, "module") else orchard
    return [kept for name, kept in inner.state_dict().items() if name.endswith("weight")]


torch.manual_seed(17)
orchard = Orchard()
spring = {name: kept.clone() for name, kept in orchard.state_dict().items()}
alone = [kept.clone() for kept in grown(orchard)]
orchard.load_state_dict(spring)
farm = [kept.clone() for kept in grown(nn.DataParallel(orchard))]
orchard.load_state_dict(spring)
if not dist.is_initialized():
    dist.init_process_group("gloo", rank=0, world_size=1)
print(dist.get_rank(), dist.get_world_size(), dist.get_backend())
farms = DistributedDataParallel(orchard)
print(list(farms.state_dict())[-2:])
together = grown(farms)
print([torch.equal(one, other) for one, other in zip(alone, farm)])
print([torch.equal(one, other) for one, other in zip(alone, together)])
dist.barrier()
dist.destroy_process_group()
print(callable(torch.compile(lambda sun: sun)), callable(mp.get_start_method))
