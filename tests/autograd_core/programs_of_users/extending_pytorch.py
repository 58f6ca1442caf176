import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck
from torch.nn.parameter import Parameter


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


linear = LinearFunction.apply


class Linear(nn.Module):
    def __init__(self, input_features, output_features, bias=True):
        super().__init__()
        self.input_features = input_features
        self.output_features = output_features
        self.weight = nn.Parameter(torch.empty(output_features, input_features))
        if bias:
            self.bias = nn.Parameter(torch.empty(output_features))
        else:
            self.register_parameter('bias', None)
        nn.init.uniform_(self.weight, -0.1, 0.1)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -0.1, 0.1)

    def forward(self, input):
        return LinearFunction.apply(input, self.weight, self.bias)

    def extra_repr(self):
        return 'input_features={}, output_features={}, bias={}'.format(
            self.input_features, self.output_features, self.bias is not None
        )


input = (torch.randn(4, 5, dtype=torch.double, requires_grad=True), torch.randn(3, 5, dtype=torch.double, requires_grad=True))
test = gradcheck(linear, input, eps=1e-6, atol=1e-4)
print(test)
layer = Linear(20, 30)
print(layer)
out = layer(torch.randn(2, 20))
print(out.shape, out.grad_fn.name(), out.grad_fn.next_functions[1][0].name())
print(out.grad_fn.needs_input_grad, out.grad_fn.saved_tensors[1].shape)
out.sum().backward()
print(layer.weight.grad.norm(), layer.bias.grad)
print(Linear(2, 3, bias=False))
print([n for n, _ in Linear(2, 3, bias=False).named_parameters()])


class MyCube(Function):
    @staticmethod
    def forward(ctx, x):
        dx = 3 * x ** 2
        ctx.save_for_backward(x, dx)
        return x ** 3, dx

    @staticmethod
    def backward(ctx, grad_output, grad_dx):
        x, dx = ctx.saved_tensors
        return grad_output * dx + grad_dx * 6 * x


def my_cube(x):
    result, dx = MyCube.apply(x)
    return result


p = torch.tensor([1.5, -2.0], dtype=torch.double, requires_grad=True)
print(my_cube(p))
print(torch.autograd.gradcheck(my_cube, (p,)), torch.autograd.gradgradcheck(my_cube, (p,)))


class MulConstant(Function):
    @staticmethod
    def forward(tensor, constant):
        return tensor * constant

    @staticmethod
    def setup_context(ctx, inputs, output):
        tensor, constant = inputs
        ctx.set_materialize_grads(False)
        ctx.constant = constant

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None
        return grad_output * ctx.constant, None


q = MulConstant.apply(p, 5.5)
print(q, q.grad_fn.constant)
q.sum().backward()
print(p.grad)


class Inplace(Function):
    @staticmethod
    def forward(ctx, x):
        x_npy = x.numpy()
        x_npy += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        return grad_output


a = torch.tensor(1., requires_grad=True, dtype=torch.double).clone()
b = a * a
Inplace.apply(a)
print(a)
try:
    b.backward()
except RuntimeError as e:
    print(str(e).split(";")[0])
leaf = torch.tensor(1., requires_grad=True)
try:
    Inplace.apply(leaf)
except RuntimeError as e:
    print(e)
