"""What each finding means: the one place of its texts, for commands and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent, wrap
from typing import Final, NamedTuple

from gradstep.findings.linting.finding import Code, Severity
from gradstep.text import WIDTH


class Meaning(NamedTuple):
    """The texts of a finding: a title of a few words, what it means, a wrong and a right program,
    and when to ignore it, "" if never; ``severity`` is the usual one."""

    severity: Severity
    title: str
    means: str
    wrong: str
    right: str
    ignore: str = ""


MEANINGS: Final[Mapping[Code, Meaning]] = {
    "derivative": Meaning(
        "error", "a custom Function has a wrong backward",
        "Its rule and finite differences of its forward differ. A rule whose forward returns what "
        "it was given is not reported: it changes the gradient on purpose.",
        "return 3 * x", "return grad_output * 3 * x**2",
        "When the gradient is meant to be another one, as with a straight-through estimator.",
    ),
    "freed": Meaning(
        "error", "a saved value was freed by an earlier backward()",
        "A backward pass frees what its nodes saved. A second pass through the same nodes fails.",
        "state = cell(state)\nloss(state).backward()",
        "state = cell(state.detach())\nloss(state).backward()",
    ),
    "changed": Meaning(
        "error", "a saved value was changed in place",
        "A node needs a value as it was in the forward pass. An in-place operation, or a step of "
        "an optimizer, has changed it since, and backward() will fail.",
        "y = x.exp()\ny += 1\ny.sum().backward()", "y = x.exp() + 1\ny.sum().backward()",
    ),
    "not-finite": Meaning(
        "warning", "a value or a gradient is NaN or infinite",
        "The finding names where it began. All that is computed from it is wrong.",
        "torch.where(q != 0, p / q, 0.0)", "p / torch.where(q != 0, q, 1.0)",
        "A gradient scaler skips such a step now and then: that is only a note.",
    ),
    "cut": Meaning(
        "warning", "a value left the graph, so leaves have no gradient",
        "detach(), no_grad(), a cast to integers or NumPy took a value out of the graph, and no "
        "call of the run reached the leaves behind it in another way.",
        "loss = criterion(D(G(z).detach()), ones)", "loss = criterion(D(G(z)), ones)",
        "When these leaves are not to learn: take them out of the optimizer.",
    ),
    "create-graph": Meaning(
        "warning", "autograd.grad() returned a constant, and the loss uses it",
        "Without create_graph=True, the result of autograd.grad() has no graph.",
        "(g,) = torch.autograd.grad(f, x)", "(g,) = torch.autograd.grad(f, x, create_graph=True)",
        "When the gradient is meant as a constant, as in first-order MAML.",
    ),
    "unreached": Meaning(
        "warning", "an optimizer has leaves that no call reaches",
        "No backward() of the run came to these leaves, so they never change.",
        "action = Normal(mean, 1).sample()", "action = Normal(mean, 1).rsample()",
        "When they are for later: of a part of what an optimizer has, it is only a note.",
    ),
    "untrained": Meaning(
        "warning", "leaves get gradients, and no optimizer has them",
        "The leaves never change, and their gradients pile up.",
        "self.blocks = [nn.Linear(8, 8)]", "self.blocks = nn.ModuleList([nn.Linear(8, 8)])",
        "When they are not to learn: set requires_grad=False.",
    ),
    "unchanged": Meaning(
        "warning", "leaves have gradients, and do not change",
        "In the last three calls or more, and for twice as long as before, the leaf was the same.",
        "loss.backward()\nopt.zero_grad()\nopt.step()",
        "opt.zero_grad()\nloss.backward()\nopt.step()",
    ),
    "zero-grad": Meaning(
        "warning", "a gradient is exactly 0 in every call",
        "The finding names the operation that multiplies by 0. Zeros in some calls only are not "
        "reported.",
        "code = encoder(x).round()", "h = encoder(x)\ncode = h + (h.round() - h).detach()",
        "When the sum of the gradients is 0 by construction: that is only a note.",
    ),
    "vanishing": Meaning(
        "warning", "gradients vanish on their way from the loss",
        "In the first call on a line, the gradient of one weight is 100,000 times smaller than "
        "that of another nearer to the loss, or all are below 1e-12 of their weights.",
        "nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), ...)",
        "nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), ...)",
    ),
    "exploding": Meaning(
        "warning", "gradients explode on their way from the loss",
        "In the first call on a line, a gradient grows 100,000 times, or all gradients are more "
        "than a million times larger than their weights.",
        "w = torch.randn(10, 10) * 30", "w = torch.randn(10, 10) / 10**0.5",
    ),
    "stale-grad": Meaning(
        "warning", "a gradient is used in two steps",
        "A step used .grad, nothing cleared it, and the next call added to it.",
        "loss.backward()\nopt.step()", "opt.zero_grad()\nloss.backward()\nopt.step()",
        "Gradients that are accumulated and cleared after the step are right, and not reported.",
    ),
    "small-steps": Meaning(
        "warning", "each step changes weights by less than a millionth",
        "So it is of every weight of an optimizer, in the middle of five steps or more.",
        "scaler.scale(loss).backward()\nclip_grad_norm_(net.parameters(), 1.0)",
        "scaler.scale(loss).backward()\nscaler.unscale_(opt)\n"
        "clip_grad_norm_(net.parameters(), 1.0)",
        "In the last steps of a schedule.",
    ),
    "large-steps": Meaning(
        "warning", "each step changes weights by more than half of their size",
        "So it is of every weight of an optimizer, in the middle of five steps or more.",
        "torch.optim.SGD(net.parameters(), lr=20.0)", "torch.optim.SGD(net.parameters(), lr=0.01)",
        "With weights that begin at 0.",
    ),
    "eval-mode": Meaning(
        "warning", "modules stay in evaluation mode",
        "They were in training mode in the first call, and never again since eval().",
        "net.eval()\nvalidate(net)", "net.eval()\nvalidate(net)\nnet.train()",
        "When batch norm is frozen on purpose for the rest of the training.",
    ),
    "constant-loss": Meaning(
        "warning", "the loss is the same to the bit in five calls",
        "There were gradients, and they changed nothing that the loss depends on.",
        "loss = criterion(old_output, y)", "loss = criterion(net(x), y)",
    ),
    "graph-grows": Meaning(
        "warning", "each call has a larger graph than the one before",
        "The graph contains those of earlier calls, which retain_graph=True keeps.",
        "center = 0.9 * center + 0.1 * h", "center = (0.9 * center + 0.1 * h).detach()",
    ),
    "misspelt": Meaning(
        "warning", "an attribute has nearly the name of one that autograd reads",
        "Python makes a new attribute, which nothing reads.",
        "p.require_grad = False", "p.requires_grad = False",
    ),
    "softmax-dim": Meaning(
        "warning", "a softmax runs over the samples of a batch",
        "The rows that a linear layer gives are samples; dim=0 mixes them.",
        "nn.Softmax(dim=0)", "nn.Softmax(dim=1)",
        "When attention over the samples is meant.",
    ),
    "probabilities": Meaning(
        "warning", "a loss takes logarithms, and is given probabilities",
        "nll_loss() needs the result of log_softmax().",
        "F.nll_loss(F.softmax(h, 1), y)", "F.nll_loss(F.log_softmax(h, 1), y)",
    ),
    "target-graph": Meaning(
        "warning", "the target of a loss gets gradients, too",
        "Both sides of the loss come from the same leaves, and one of them is called a target, or "
        "the loss has no other term: then equal constants are its minimum.",
        "F.mse_loss(q, r + net(s2).max(1).values)",
        "F.mse_loss(q, r + net(s2).max(1).values.detach())",
        "When other terms of the loss keep the outputs apart.",
    ),
    "constant-term": Meaning(
        "warning", "a term of the loss has no derivative",
        "argmax(), a comparison or a cast to integers made it, so it changes the number that the "
        "loss is, and no gradient.",
        "loss = ce + (h.argmax(1) != y).float().mean()",
        "loss = ce + (1 - h.softmax(1).gather(1, y[:, None])).mean()",
        "When it is there to be printed only.",
    ),
    "overflow": Meaning(
        "warning", "a result is too large for float16, and the loss does not show it",
        "Its inputs are finite, and it is infinite. 1 / inf is 0.",
        "unit = h / (h * h).sum().sqrt()", "unit = h / (h.float() ** 2).sum().sqrt()",
    ),
    "graph-kept": Meaning(
        "warning", "graphs of earlier calls are kept in memory",
        "Five losses of earlier calls are alive, or a variable has a graph that grows in each of "
        "five calls.",
        "history.append(loss)", "history.append(loss.item())",
    ),
    "initialization": Meaning(
        "warning", "the units of a layer begin equal, and stay so",
        "All rows of its weight were the same to the bit in the first call, and still are after "
        "steps that changed them.",
        "nn.init.constant_(layer.weight, 0.5)", "nn.init.xavier_uniform_(layer.weight)",
    ),
    "loss-falls": Meaning(
        "warning", "the loss falls without end",
        "It is below 0 by 100 times its first size, and by 100 at least.",
        "kl = 0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()",
        "kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()",
        "With losses that have no lower limit on purpose, as a critic's.",
    ),
    "aliased": Meaning(
        "warning", "a copy of a network is the network itself",
        "Python gave it a second name. Each step changes both.",
        "target_net = net", "target_net = copy.deepcopy(net)",
    ),
    "equal-leaves": Meaning(
        "warning", "two weights begin equal and are trained apart",
        "They are equal to the bit, one optimizer has both, and neither feeds the other.",
        "right = copy.deepcopy(left)", "right = left",
    ),
    "no-leaf": Meaning(
        "warning", "the .grad of a tensor is read that is no leaf",
        "An op made it of the leaf, which has no name, and only leaves get a .grad.",
        "x = torch.rand(4, requires_grad=True).double()",
        "x = torch.rand(4).double().requires_grad_()",
    ),
    "no-graph": Meaning(
        "error", "the loss has no graph, and backward() fails",
        "Gradients were switched off, or a value was made anew from numbers.",
        "loss = torch.tensor(losses).sum()", "loss = torch.stack(losses).sum()",
    ),
    "squashed-twice": Meaning(
        "warning", "a loss makes probabilities of probabilities",
        "cross_entropy() and the with_logits losses take scores.",
        "F.cross_entropy(F.softmax(h, 1), y)", "F.cross_entropy(h, y)",
    ),
    "broadcast": Meaning(
        "warning", "[N, 1] and [N] were broadcast to [N, N]",
        "The loss compares every output with every target.",
        "F.mse_loss(net(x), y)", "F.mse_loss(net(x).squeeze(1), y)",
    ),
    "saturated": Meaning(
        "warning", "most results of a sigmoid, tanh or softmax are at its ends",
        "There, its derivative is 0.", "torch.sigmoid(pixels)", "torch.sigmoid(pixels / 255)",
    ),
    "dead-units": Meaning(
        "warning", "most units of a relu are 0 for all samples",
        "No gradient passes through them.", "F.relu(h - 100)", "F.leaky_relu(h)",
    ),
    "duplicate-hook": Meaning(
        "warning", "a hook is registered more than once",
        "It runs as often as it is registered.",
        "for x in data:\n    w.register_hook(clip)", "w.register_hook(clip)\nfor x in data: ...",
    ),
    "loss-flat": Meaning(
        "info", "the loss does not fall in 100 calls or more",
        "Of one line, in a program with one optimizer: the mean over the last fifth is not smaller "
        "than over the first.",
        "lr=10.0", "lr=0.01", "With losses that measure something else, as those of policies.",
    ),
    "shared": Meaning(
        "info", "several ops use a leaf", "Its gradient is the sum over all uses.",
        "decoder.weight = encoder.weight", "decoder.weight = encoder.weight",
        "When it is intended.",
    ),
    "memory": Meaning(
        "info", "what is kept for the backward pass, by module", "",
        "y = block(x)", "y = checkpoint(block, x)",
    ),
    "untraced": Meaning(
        "info", "the forward pass was not traced", "Where values left the graph is unknown.",
        "loss = f(x)", "with gradstep.trace(values=True):\n    loss = f(x)",
    ),
}  # fmt: skip


def explanation(code: Code) -> str:
    """Return what a finding means.

    >>> print(explanation("misspelt"))
    [misspelt] an attribute has nearly the name of one that autograd reads
    <BLANKLINE>
      Python makes a new attribute, which nothing reads.
    <BLANKLINE>
      wrong:
        p.require_grad = False
      right:
        p.requires_grad = False
    """
    found = MEANINGS[code]
    blocks = [f"[{code}] {found.title}"]
    if found.means:
        blocks.append(
            "\n".join(wrap(found.means, WIDTH, initial_indent="  ", subsequent_indent="  "))
        )
    blocks.append(
        f"  wrong:\n{indent(found.wrong, '    ')}\n  right:\n{indent(found.right, '    ')}"
    )
    if found.ignore:
        blocks.append(
            "\n".join(
                wrap(
                    f"ignore it: {found.ignore}", WIDTH, initial_indent="  ", subsequent_indent="  "
                )
            )
        )
    return "\n\n".join(blocks)


def summary() -> str:
    """Return the codes by severity, for a help text."""
    lines = []
    for severity in ("error", "warning", "info"):
        codes = [code for code, each in MEANINGS.items() if each.severity == severity]
        indents = f"  {severity:<9}", " " * 11
        lines += wrap(
            ", ".join(codes), WIDTH, initial_indent=indents[0], subsequent_indent=indents[1],
            break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)
