"""A ball is thrown straight up at 30 m/s. How high is it after 2 s, and what would change that?

height = speed · time − 5 · time². By hand: ∂height/∂speed = time = 2, and ∂height/∂time =
speed − 10 · time = 10, which is how fast the ball still rises.
"""

import autograd_core as torch

speed = torch.tensor(30.0, requires_grad=True)
time = torch.tensor(2.0, requires_grad=True)

rise = speed * time
fall = 5 * time**2
height = rise - fall

height.backward()

print(f"height = {height.item():g}")
print(f"d height / d speed = {speed.grad.item():g}")
print(f"d height / d time = {time.grad.item():g}")

behind = " and ".join(node.name() for node, _ in height.grad_fn.next_functions)
print(f"{height.grad_fn.name()} hands gradients on to {behind}")
