import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, vmap, grad, vjp, jacrev, jacfwd

model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
data, targets = torch.randn(4, 6), torch.tensor([0, 2, 1, 1])
params = {k: v.detach() for k, v in model.named_parameters()}
buffers = {k: v.detach() for k, v in model.named_buffers()}


def compute_loss(params, buffers, sample, target):
    batch = sample.unsqueeze(0)
    targets = target.unsqueeze(0)
    predictions = functional_call(model, (params, buffers), (batch,))
    return F.cross_entropy(predictions, targets)


ft_compute_grad = grad(compute_loss)
ft_compute_sample_grad = vmap(ft_compute_grad, in_dims=(None, None, 0, 0))
ft = ft_compute_sample_grad(params, buffers, data, targets)
for k, v in ft.items():
    print(k, v.shape, v.requires_grad)
loss = F.cross_entropy(model(data), targets)
loss.backward()
print([torch.allclose(p.grad, ft[k].mean(0), atol=1e-6) for k, p in model.named_parameters()])


# neural tangent kernel
def fnet_single(params, x):
    return functional_call(model, params, (x.unsqueeze(0),)).squeeze(0)


def empirical_ntk(fnet_single, params, x1, x2):
    jac1 = vmap(jacrev(fnet_single), (None, 0))(params, x1)
    jac1 = [j.flatten(2) for j in jac1.values()]
    jac2 = vmap(jacrev(fnet_single), (None, 0))(params, x2)
    jac2 = [j.flatten(2) for j in jac2.values()]
    result = torch.stack([torch.einsum('Naf,Mbf->NMab', j1, j2) for j1, j2 in zip(jac1, jac2)])
    return result.sum(0)


print(empirical_ntk(fnet_single, params, data, data[:2]).shape)
print(empirical_ntk(fnet_single, params, data, data[:2])[0, 1])
inner = lambda w: (w ** 2).sum()
print(vmap(grad(inner))(torch.arange(6.).reshape(3, 2)))
batched = vmap(torch.dot)
print(batched(torch.ones(3, 5), torch.ones(3, 5)))
y, vjp_fn = vjp(lambda a: a ** 2, torch.arange(3.))
unit = torch.eye(3)
print(vmap(vjp_fn)(unit))
