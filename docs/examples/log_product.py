import autograd_core as torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)
z = torch.log(x * y)
