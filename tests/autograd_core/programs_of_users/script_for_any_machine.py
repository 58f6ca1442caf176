import os
import torch
import torch.nn as nn
import torch.distributed as dist
import torch.backends.cudnn as cudnn
import torch.multiprocessing as mp
import torch.nn.parallel
from contextlib import nullcontext
from torch.cuda.amp import GradScaler
from torch.amp import autocast, custom_bwd, custom_fwd
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}["float32"]
torch.backends.cuda.matmul.allow_tf32 = True
cudnn.benchmark = False
torch.set_float32_matmul_precision("high")
torch.set_num_threads(1)
use_amp = device.type == "cuda"
context = nullcontext() if not use_amp else autocast(device_type="cuda", dtype=dtype)


def is_main():
    return not dist.is_available() or not dist.is_initialized() or dist.get_rank() == 0


def reduced(value):
    if not (dist.is_available() and dist.is_initialized()):
        return value
    value = value.detach().clone()
    dist.all_reduce(value, op=dist.ReduceOp.SUM)
    return value / dist.get_world_size()


class Cube(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))

    def forward(self, x):
        return Cube.apply(self.net(x))


data = TensorDataset(torch.randn(12, 4), torch.randn(12, 1))


def train(model, epochs=2):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = GradScaler(enabled=use_amp)
    sampler = DistributedSampler(data, shuffle=False) if dist.is_initialized() else None
    for epoch in range(epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for step, (x, y) in enumerate(DataLoader(data, batch_size=4, sampler=sampler)):
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            last = step == 2
            sync = model.no_sync() if isinstance(model, DDP) and not last else nullcontext()
            with sync, context, torch.autocast(device.type, enabled=False):
                loss = nn.functional.mse_loss(model(x), y)
            scaler.scale(loss / 3).backward()
            if last:
                scaler.unscale_(optimizer)
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                if is_main():
                    print(epoch, reduced(loss), norm, scaler.get_scale())
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    raw = model.module if hasattr(model, "module") else model
    return {k: v for k, v in raw.state_dict().items() if "weight" in k}


torch.manual_seed(0)
model = Model()
start = {k: v.clone() for k, v in model.state_dict().items()}
alone = train(model)
model.load_state_dict(start)
shared = train(nn.DataParallel(model))
print([torch.equal(alone[k], shared[k]) for k in alone])
model.load_state_dict(start)
if not dist.is_initialized():
    dist.init_process_group("gloo", rank=0, world_size=1)
print(dist.get_rank(), dist.get_world_size(), dist.get_backend())
print(nn.SyncBatchNorm.convert_sync_batchnorm(Model()))
ddp = DDP(model)
print(list(ddp.state_dict())[:2])
one = train(ddp)
print([torch.equal(alone[k], one[k]) for k in alone])
dist.barrier()
dist.destroy_process_group()
print(torch.compile(lambda x: x) is not None, mp.get_start_method(allow_none=True) is not None or True)
