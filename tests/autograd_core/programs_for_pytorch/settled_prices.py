"""Prices that settle where supply meets demand; their gradients without the way there."""

import torch
from torch import nn


def react(ties, cost, price):
    return torch.sigmoid(price @ ties.T - cost)


class Settle(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ties, cost):
        with torch.no_grad():
            price = torch.zeros_like(cost)
            for _ in range(80):
                price = react(ties, cost, price)
        ctx.save_for_backward(ties, cost, price)
        return price

    @staticmethod
    def backward(ctx, g):
        leaves = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
        with torch.enable_grad():
            once_more = react(*leaves)
        settled = g
        for _ in range(80):
            (echo,) = torch.autograd.grad(once_more, leaves[2], settled, retain_graph=True)
            settled = g + echo
        return torch.autograd.grad(once_more, leaves[:2], settled)


torch.manual_seed(1)
ties = torch.randn(4, 4, dtype=torch.float64).mul(0.3).requires_grad_()
cost = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
price = Settle.apply(ties, cost)
price.sum().backward()
print(price, ties.grad, cost.grad)
print(torch.autograd.gradcheck(Settle.apply, (ties, cost)))


class Market(nn.Module):
    """The same by a hook on the last round, in place of a Function."""

    def __init__(self, trade):
        super().__init__()
        self.trade = trade

    def forward(self, cost):
        price = torch.zeros_like(cost)
        with torch.no_grad():
            for _ in range(60):
                price = self.trade(cost, price)
        price = self.trade(cost, price)
        if not price.requires_grad:
            return price
        start = price.clone().detach().requires_grad_()
        again = self.trade(cost, start)

        def settle(g):
            total = g
            for _ in range(60):
                total = g + torch.autograd.grad(again, start, total, retain_graph=True)[0]
            return total

        price.register_hook(settle)
        return price


copy = ties.detach().requires_grad_()
market = Market(lambda cost, price: react(copy, cost, price))
market(cost.detach()).sum().backward()
print(torch.allclose(copy.grad, ties.grad))

stock = torch.tensor(5.0, requires_grad=True)
guess = torch.tensor(2.0)
for _ in range(4):  # where guess * guess * guess is the stock
    guess = guess - (guess**3 - stock) / (3 * guess**2)
guess.backward()
print(guess, stock.grad, (1 / (3 * guess**2)).item())
