import os
import tempfile
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

folder = tempfile.mkdtemp()
PATH = os.path.join(folder, "model.pt")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 2)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.steps += 1
        return self.head(self.body(x))


def make():
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    return (net, opt, torch.optim.lr_scheduler.StepLR(opt, 2, 0.5))


net, opt, sched = make()
data = TensorDataset(torch.randn(20, 4), torch.randint(0, 2, (20,)))
train, val = random_split(data, [16, 4], generator=torch.Generator().manual_seed(7))
print(len(train), len(val))


def epoch(net, opt, sched):
    for x, y in DataLoader(data, batch_size=5):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    return loss.item()


best = float("inf")
for e in range(3):
    l = epoch(net, opt, sched)
    if l < best:
        best = l
        torch.save(
            {
                "epoch": e,
                "model_state_dict": net.state_dict(),
                "optimizer_state_dict": opt.state_dict(),
                "scheduler": sched.state_dict(),
                "loss": l,
            },
            PATH,
        )
ckpt = torch.load(PATH, map_location=torch.device("cpu"), weights_only=True)
print(ckpt["epoch"])
print(ckpt["loss"])
print(list(ckpt))
print(type(ckpt["model_state_dict"]).__name__)
print(ckpt["optimizer_state_dict"]["param_groups"][0]["lr"])
a, oa, sa = make()
b, ob, sb = make()
for n, o, s in ((a, oa, sa), (b, ob, sb)):
    ckpt = torch.load(PATH)
    n.load_state_dict(ckpt["model_state_dict"])
    o.load_state_dict(ckpt["optimizer_state_dict"])
    s.load_state_dict(ckpt["scheduler"])
print(epoch(a, oa, sa) == epoch(b, ob, sb), a.steps, sa.get_last_lr())
torch.save(net.head.weight, PATH)
w = torch.load(PATH)
print(w, isinstance(w, nn.Parameter), w.requires_grad)
torch.save([torch.arange(3), (1, "a", None, 2.5), {"k": torch.tensor(True)}], PATH)
print(torch.load(PATH))
print("Model's state_dict:")
for name in net.state_dict():
    print(name, "\t", net.state_dict()[name].size())
pre = {k: v for k, v in ckpt["model_state_dict"].items() if not k.startswith("head")}
new = Net()
new.load_state_dict(pre, strict=False)
new.head = nn.Linear(8, 3)
print([n for n, p in new.named_parameters()])
state = torch.get_rng_state()
r = torch.rand(2)
torch.set_rng_state(state)
