import torch

width = torch.tensor(2.0, requires_grad=True)
height = torch.tensor(8.0, requires_grad=True)
side = torch.sqrt(width * height)
side.backward()
print(width.grad, height.grad)
