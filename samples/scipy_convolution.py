"""A convolution that SciPy computes, as a Function with a derivative of its own and a Module.

NumPy and SciPy are an island that no gradient crosses by itself; the Function is the bridge.
"""

import numpy as np
from scipy.signal import convolve2d, correlate2d

import autograd_core as torch
from autograd_core.autograd import Function
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter


class Correlate(Function):
    """Slides a filter over an image, where it fits whole, and adds a bias."""

    @staticmethod
    def forward(ctx, image, kernel, bias):
        ctx.save_for_backward(image, kernel)
        result = correlate2d(image.numpy(), kernel.numpy(), mode="valid") + bias.numpy()
        return image.new(result)

    @staticmethod
    def backward(ctx, grad_output):
        image, kernel = ctx.saved_tensors
        g = grad_output.data.numpy()
        to_image = convolve2d(g, kernel.detach().numpy(), mode="full")
        to_kernel = correlate2d(image.detach().numpy(), g, mode="valid")
        return image.new(to_image), kernel.new(to_kernel), grad_output.new([[g.sum()]])


class ScipyConvolution(Module):
    def __init__(self, height, width):
        super().__init__()
        rng = np.random.default_rng(0)
        self.kernel = Parameter(torch.tensor(rng.standard_normal((height, width))))
        self.bias = Parameter(torch.tensor(rng.standard_normal((1, 1))))

    def forward(self, image):
        return Correlate.apply(image, self.kernel, self.bias)


layer = ScipyConvolution(3, 3)
picture = torch.tensor(np.random.default_rng(1).standard_normal((10, 10)), requires_grad=True)
output = layer(picture)
output.backward(torch.tensor(np.random.default_rng(2).standard_normal((8, 8))))

print(f"output {tuple(output.shape)}, kernel gradient {tuple(layer.kernel.grad.shape)}")
print(f"bias gradient {layer.bias.grad.item():.4f}, image gradient {picture.grad.sum().item():.4f}")
