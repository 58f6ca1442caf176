"""A first look: a ball is thrown, its graph is walked through, and gradients add up."""

import torch

speed = torch.tensor([12.0, 20.0], requires_grad=True)
seconds = torch.tensor([1.0, 1.5], requires_grad=True)
height = speed * seconds - 5 * seconds**2
print(height, height.grad_fn.name())
height.backward(gradient=torch.tensor([1.0, 1.0]))
print(speed.grad == seconds, seconds.grad == speed.detach() - 10 * seconds)

grass, snow = torch.rand(3, 4), torch.rand((3, 4), requires_grad=True)
print(f"grass and grass: {(grass + grass).requires_grad}; and snow: {(grass + snow).requires_grad}")


def shown(node, depth):
    """Each node in front of those that it passes its gradients to."""
    if node is not None:
        print("." * depth, type(node).__name__, len(node.next_functions))
        for following, number in node.next_functions:
            print("." * depth, number)
            shown(following, depth + 1)


friends = torch.rand(3, 4)
warmth, hunger = torch.randn(4, requires_grad=True), torch.randn((), requires_grad=True)
wish = torch.matmul(friends, warmth) - hunger.exp()
came = (friends[:, 0] > 0.5).float()
surprise = torch.nn.functional.binary_cross_entropy_with_logits(wish, came)
shown(surprise.grad_fn, 1)
print(type(wish.grad_fn).__name__)
surprise.backward()
print(warmth.grad, hunger.grad)

rain = torch.rand(2, 3, requires_grad=True)
river = rain.cumsum(0).exp().t()
weight = torch.ones_like(river)
for _ in range(2):
    river.backward(weight, retain_graph=True)
    print("on top of what was there:", rain.grad)
rain.grad.zero_()
river.backward(weight, retain_graph=True)
print("from zero:", rain.grad)
for last in (
    lambda: river.backward(),
    lambda: river.backward(weight),
    lambda: river.backward(weight),
):
    try:
        last()
    except RuntimeError as error:
        print(error)
