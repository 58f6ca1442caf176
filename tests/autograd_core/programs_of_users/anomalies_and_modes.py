import warnings
import torch
from torch import autograd


class MyFunc(autograd.Function):
    @staticmethod
    def forward(ctx, inp):
        return inp.clone()

    @staticmethod
    def backward(ctx, gO):
        raise RuntimeError("Some error in backward")


def run_fn(a):
    out = MyFunc.apply(a)
    return out.sum()


inp = torch.rand(10, 10, requires_grad=True)
try:
    run_fn(inp).backward()
except RuntimeError as e:
    print(e)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with autograd.detect_anomaly():
        try:
            run_fn(inp).backward()
        except RuntimeError as e:
            print(e)
    with torch.autograd.set_detect_anomaly(True):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        y = torch.sqrt(x) * 0
        try:
            y.sum().backward()
        except RuntimeError as e:
            print(e)
        z = torch.tensor([-1.0], requires_grad=True)
        try:
            torch.log(z).sum().backward()
            print(z.grad)
            (z * float('nan')).backward()
        except RuntimeError as e:
            print(e)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        x.grad = None
        (torch.sqrt(x) * 0).sum().backward()
        print(x.grad)
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
with torch.autograd.set_grad_enabled(False):
    print(torch.is_grad_enabled())
with torch.inference_mode():
    with torch.enable_grad():
        t = torch.ones(2, requires_grad=True)
        u = t * 2
        print(torch.is_grad_enabled(), u.requires_grad, u.is_inference(), torch.is_inference_mode_enabled())


@torch.no_grad()
def doubler(x):
    return x * 2


@torch.enable_grad()
def tripler(x):
    return x * 3


print(doubler(inp).requires_grad, doubler.__name__)
with torch.no_grad():
    print(tripler(inp).requires_grad)


@torch.inference_mode()
def infer(x):
    return x + 1


v = infer(inp)
print(v.requires_grad, v.is_inference())
for f in (lambda: v.requires_grad_(), lambda: v * inp, lambda: v.add_(1), lambda: v._version, lambda: setattr(v, "requires_grad", True)):
    try:
        r = f()
        print("fine", r.requires_grad)
    except RuntimeError as e:
        print(e)
torch.set_grad_enabled(False)
print((inp * 2).requires_grad)
torch.set_grad_enabled(True)
print((inp * 2).requires_grad)
