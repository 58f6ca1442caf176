# gradient ascent on an image: what makes this unit fire?
import torch
from torch import nn

torch.manual_seed(41)
unit = nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 1)).double()
image = torch.rand(1, 16, requires_grad=True).double()

for i in range(5):
    activation = unit(image).sum()
    activation.backward()
    image.data += 0.1 * image.grad
    image.grad.zero_()
    print(i, activation.item())
