import os
import tempfile
import uuid
import numpy as np
import torch

tmp_dir = tempfile.TemporaryDirectory()


class SelfDeletingTempFile():
    def __init__(self):
        self.name = os.path.join(tmp_dir.name, str(uuid.uuid4()) + ".npy")

    def __del__(self):
        os.remove(self.name)


def pack_hook(tensor):
    temp_file = SelfDeletingTempFile()
    np.save(temp_file.name, tensor.detach().numpy())
    return temp_file


def unpack_hook(temp_file):
    return torch.from_numpy(np.load(temp_file.name))


SAVE_ON_DISK_THRESHOLD = 5
x = torch.randn(10, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack_hook, unpack_hook):
    y = x.pow(2) * x.sin()
print(len(os.listdir(tmp_dir.name)))
y.sum().backward()
print(torch.allclose(x.grad, 2 * x * x.sin() + x ** 2 * x.cos()))
print(len(os.listdir(tmp_dir.name)))
del y
packed = []


def log(t):
    packed.append((tuple(t.shape), t.is_leaf, t.requires_grad))
    return t


a = torch.ones(5, requires_grad=True)
b = torch.ones(5, requires_grad=True) * 2
with torch.autograd.graph.saved_tensors_hooks(log, lambda t: t * 10):
    c = a * b
c.sum().backward()
print(packed, a.grad)
x = torch.randn(5, requires_grad=True)
y = x.pow(2)
print(x.equal(y.grad_fn._saved_self), x is y.grad_fn._saved_self)
y = x.exp()
print(y.equal(y.grad_fn._saved_result), y is y.grad_fn._saved_result)
y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy() if not t.requires_grad else t.detach().numpy().copy(), lambda p: torch.tensor(p))
y.sum().backward()
print(torch.allclose(x.grad, x.exp()))
try:
    y.grad_fn._saved_result
except RuntimeError as e:
    print(e)
try:
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        with torch.autograd.graph.saved_tensors_hooks(log, log):
            pass
except RuntimeError as e:
    print(e)
with torch.autograd.graph.save_on_cpu(pin_memory=False):
    z = (x * x).tanh()
z.sum().backward()
try:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        z = x.pow(2)
except RuntimeError as e:
    print(e)
with torch.autograd.graph.saved_tensors_hooks(lambda t: 5, lambda t: 5):
    z = x.pow(3)
try:
    z.sum().backward()
except Exception as e:
    print(type(e).__name__, e)
s = x.pow(2)
raw = s.grad_fn._raw_saved_self
try:
    raw.register_hooks(lambda: 1, lambda t: t)
except Exception as e:
    print(type(e).__name__)
raw2 = s.grad_fn._raw_saved_self
print(type(raw2).__name__)
