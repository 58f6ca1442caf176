"""Speed of the numeric core against its peers, as ratios measured in one run.

    python benchmarks/core.py [--rounds 30] [--no-ops]

Every workload runs in all libraries in turn, on one thread, and the lower quartile of the
thread's CPU time counts, so that other load on the machine cancels out.  A ratio below 1
means that this core is faster.  Peers that are not installed are left out.  First of all:
how much more a node costs in a graph of a million, where the forward pass pays for the garbage
collector, which looks at every node about five times, and both for what leaves the caches.
Then what needs a process of its own (``fresh.py``), the workloads, and the ops (``ops.py``).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import os
import time
from typing import Any, NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy and PyTorch read them

import fresh  # noqa: E402
import numpy as np  # noqa: E402
import ops  # noqa: E402
from nets import convolutional, recurrent, transformer  # noqa: E402
from workload import Halves, Workload  # noqa: E402


class Timing(NamedTuple):
    """Seconds per node."""

    forward: float
    backward: float

    @property
    def total(self) -> float:
        return self.forward + self.backward


def chain(size: int, length: int = 1000) -> Workload:
    def make(torch: Any) -> Any:
        x = torch.tensor(np.ones(size, np.float32)).requires_grad_()
        c = torch.tensor(np.full(size, 0.9, np.float32))

        def forward() -> Any:
            y = x
            for _ in range(length):
                y = y * c
            return y.sum()

        return forward, lambda loss: loss.backward()

    def formula(numpy: Any) -> Any:
        c = np.full(size, 0.9, np.float32)

        def total(x: Any) -> Any:
            for _ in range(length):
                x = x * c
            return numpy.sum(x)

        return total, np.ones(size, np.float32)

    def by_hand() -> Halves:
        x, c = np.ones(size, np.float32), np.full(size, 0.9, np.float32)

        def forward() -> Any:
            y = x
            saved = []
            for _ in range(length):
                saved.append(y)
                y = y * c
            return saved

        def backward(saved: Any) -> None:
            g = np.ones(size, np.float32)
            for _ in saved:
                g = g * c

        return forward, backward

    return Workload(f"chain, {size} elements", length, make, formula, by_hand)


def diamond(size: int, length: int = 300) -> Workload:
    def make(torch: Any) -> Any:
        x = torch.tensor(np.full(size, 0.5, np.float32)).requires_grad_()

        def forward() -> Any:
            y = x
            for _ in range(length):
                y = (y * x + y).tanh()
            return y.sum()

        return forward, lambda loss: loss.backward()

    def formula(numpy: Any) -> Any:
        def total(x: Any) -> Any:
            y = x
            for _ in range(length):
                y = numpy.tanh(y * x + y)
            return numpy.sum(y)

        return total, np.full(size, 0.5, np.float32)

    def by_hand() -> Halves:
        x = np.full(size, 0.5, np.float32)

        def forward() -> Any:
            y = x
            saved = []
            for _ in range(length):
                before, y = y, np.tanh(y * x + y)
                saved.append((before, y))
            return saved

        def backward(saved: Any) -> None:
            one = np.ones(size, np.float32)
            g, g_x = one, one * 0
            for before, y in reversed(saved):
                g = g * (one - y * y)
                g_x = g_x + g * before
                g = g * x + g

        return forward, backward

    return Workload(f"diamond, {size} elements", 3 * length, make, formula, by_hand)


def mlp_of_tensors() -> Workload:
    """A step of an MLP 2-16-16-1 for a batch of 100, without modules and optimizer."""

    def make(torch: Any) -> Any:
        rng = np.random.default_rng(0)
        shapes = [(2, 16), (16,), (16, 16), (16,), (16, 1), (1,)]
        parameters = [
            torch.tensor(rng.standard_normal(s).astype(np.float32) * 0.3).requires_grad_()
            for s in shapes
        ]
        a, b, c, d, e, f = parameters
        x = torch.tensor(rng.standard_normal((100, 2)).astype(np.float32))
        target = torch.tensor(rng.standard_normal((100, 1)).astype(np.float32))

        def forward() -> Any:
            y = ((x @ a + b).relu() @ c + d).relu() @ e + f
            difference = y - target
            return (difference * difference).sum() * 0.01

        def backward(loss: Any) -> None:
            loss.backward()
            with torch.no_grad():
                for p in parameters:
                    p.add_(p.grad, alpha=-0.01)
                    p.grad = None

        return forward, backward

    def formula(numpy: Any) -> Any:
        rng = np.random.default_rng(0)
        shapes = [(2, 16), (16,), (16, 16), (16,), (16, 1), (1,)]
        parameters = [rng.standard_normal(s).astype(np.float32) * 0.3 for s in shapes]
        x = rng.standard_normal((100, 2)).astype(np.float32)
        target = rng.standard_normal((100, 1)).astype(np.float32)

        def loss(parameters: Any) -> Any:
            a, b, c, d, e, f = parameters
            y = numpy.maximum(x @ a + b, 0)
            y = numpy.maximum(y @ c + d, 0) @ e + f
            return numpy.sum((y - target) ** 2) * 0.01

        return loss, parameters

    def by_hand() -> Halves:
        _, parameters = formula(np)
        rng = np.random.default_rng(0)
        x = rng.standard_normal((100, 2)).astype(np.float32)
        target = rng.standard_normal((100, 1)).astype(np.float32)
        a, b, c, d, e, f = parameters
        zero, rate = np.float32(0), np.float32(0.01)

        def forward() -> Any:
            y = np.maximum(x @ a + b, zero)
            z = np.maximum(y @ c + d, zero)
            difference = z @ e + f - target
            (difference * difference).sum() * rate
            return y, z, difference

        def backward(saved: Any) -> None:
            y, z, difference = saved
            g = difference * (2 * rate)
            g_z = g @ e.T * (z > zero)
            g_y = g_z @ c.T * (y > zero)
            gradients = x.T @ g_y, g_y.sum(0), y.T @ g_z, g_z.sum(0), z.T @ g, g.sum(0)
            for p, each in zip(parameters, gradients, strict=True):
                p -= rate * each

        return forward, backward

    return Workload("step of an MLP of tensors", 1, make, formula, by_hand)


def mlp() -> Workload:
    def make(torch: Any) -> Any:
        nn, optim = (
            importlib.import_module(f"{torch.__name__}.{part}") for part in ("nn", "optim")
        )
        model = nn.Sequential(
            nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)
        )
        optimizer = optim.SGD(model.parameters(), lr=0.01)
        x = torch.tensor(np.ones((8, 2), np.float32))

        def backward(loss: Any) -> None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return lambda: (model(x) ** 2).mean(), backward

    def formula(numpy: Any) -> Any:
        rng = np.random.default_rng(0)
        sizes = [(2, 16), (16, 16), (16, 1)]
        parameters = [
            rng.standard_normal(s).astype(np.float32) for n, m in sizes for s in ((n, m), (m,))
        ]
        x = np.ones((8, 2), np.float32)

        def loss(parameters: Any) -> Any:
            a, b, c, d, e, f = parameters
            y = numpy.tanh(numpy.tanh(x @ a + b) @ c + d) @ e + f
            return numpy.mean(y**2)

        return loss, parameters

    return Workload("training step of a small MLP", 1, make, formula)


WORKLOADS = (
    chain(1), chain(10), diamond(1), diamond(10), mlp_of_tensors(), mlp(), convolutional(),
    recurrent(), transformer(),
)  # fmt: skip


def use_one_thread(library: str) -> Any:
    """Import this core or PyTorch."""
    found = importlib.import_module(library)
    if library == "torch":
        found.set_num_threads(1)
    return found


def libraries() -> dict[str, Any]:
    """List the libraries that are installed, this one first."""
    found = {"ours": use_one_thread("autograd_core")}
    try:
        return {**found, "torch": use_one_thread("torch")}
    except ImportError:
        return found


def hips(workload: Workload) -> dict[str, Halves]:
    """The workload in HIPS autograd, which differentiates functions of NumPy; without the step of
    an optimizer, as it has none."""
    try:
        import autograd.numpy as numpy  # type: ignore[import-not-found,unused-ignore]
        from autograd import make_vjp  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return {}
    if workload.formula is None:
        return {}
    function, argument = workload.formula(numpy)
    differentiate = make_vjp(function)
    return {"HIPS": (lambda: differentiate(argument), lambda pair: pair[0](np.ones_like(pair[1])))}


def mygrad(workload: Workload) -> dict[str, Halves]:
    """The workload in mygrad, whose tensors take NumPy's functions; without the step of an
    optimizer, as it has none."""
    try:
        import mygrad as library  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return {}
    if workload.formula is None:
        return {}
    function, argument = workload.formula(library)

    def forward() -> Any:
        several = isinstance(argument, list)
        return function(
            [library.tensor(each) for each in argument] if several else library.tensor(argument)
        )

    return {"mygrad": (forward, lambda loss: loss.backward())}


def measure(workload: Workload, rounds: int) -> dict[str, Timing]:
    """Seconds per node of each library, all in turn in every round."""
    steps = {name: workload.make(library) for name, library in libraries().items()}
    if workload.by_hand is not None:
        steps["NumPy"] = workload.by_hand()
    steps.update(hips(workload) | mygrad(workload))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, (forward, backward) in steps.items():
            start = time.thread_time()
            loss = forward()
            middle = time.thread_time()
            backward(loss)
            times[name].append((middle - start, time.thread_time() - middle))
    return {
        name: Timing(*(float(q) / workload.nodes for q in np.quantile(each, 0.25, axis=0)))
        for name, each in times.items()
    }


def flatness(large: int = 1_000_000) -> Timing:
    """Return the cost of a node in a chain of ``large`` nodes, over that in one of 1,000."""

    def costs(length: int, rounds: int) -> Timing:
        forward, backward = chain(10, length).make(importlib.import_module("autograd_core"))
        best = Timing(np.inf, np.inf)
        for _ in range(rounds):
            start = time.thread_time()
            loss = forward()
            middle = time.thread_time()
            backward(loss)
            times = middle - start, time.thread_time() - middle
            del loss  # or the next one would be built beside it
            best = Timing(*(min(old, new / length) for old, new in zip(best, times, strict=True)))
        return best

    small, big = costs(1000, 100), costs(large, 2)
    return Timing(big.forward / small.forward, big.backward / small.backward)


def print_fresh() -> None:
    """What needs processes of its own, of this core and of PyTorch."""
    names = {"ours": "autograd_core"}
    if importlib.util.find_spec("torch") is not None:
        names["torch"] = "torch"
    found = {name: fresh.measured("million", library, 2) for name, library in names.items()}
    print("a chain of 1,000,000 nodes: µs and bytes of memory per node")
    for name, (seconds, held) in found.items():
        print(f"{'':<32}{name:<9}{seconds * 1e6:>10.2f}{held:>10.0f}")
    print("the MNIST net with a batch of 256: MB at the peak of a step")
    for name, library in names.items():
        print(f"{'':<32}{name:<9}{fresh.measured('memory', library, 3)[0]:>10.0f}")
    seconds = fresh.measured("import", "autograd_core", 9)[0]
    print(f"{'import, beyond that of NumPy':<41}{seconds:>10.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--no-ops", action="store_true", help="leave out the table of ops")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    # before peers are imported, whose objects the garbage collector would look at, too
    print("a node in a chain of 1,000,000, by one in a chain of 1,000")
    for name, switch in (("garbage collector on", gc.enable), ("off", gc.disable)):
        switch()
        growth = flatness()
        print(f"{name:<41}{growth.forward:>10.2f}{growth.backward:>10.2f}")
    gc.enable()
    print_fresh()
    print(f"{'workload':<32}{'library':<9}{'forward':>10}{'backward':>10}{'ratio':>8}   (µs)")
    for workload in WORKLOADS:
        measured = measure(workload, rounds)
        for name, timing in measured.items():
            ratio = f"{measured['ours'].total / timing.total:.2f}" if name != "ours" else ""
            print(
                f"{workload.name:<32}{name:<9}{timing.forward * 1e6:>10.2f}"
                f"{timing.backward * 1e6:>10.2f}{ratio:>8}",
                flush=True,
            )
    if not arguments.no_ops and "torch" in libraries():
        ops.main([])


if __name__ == "__main__":
    main()
