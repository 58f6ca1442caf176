import autograd_core as torch

x = torch.tensor([1.0, -2.0], requires_grad=True)
loss = (x.log() * 3).sum()
loss.backward()
