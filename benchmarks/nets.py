"""The large workloads of ``core.py``, of which most is products of matrices: each in a library like
PyTorch, as a function of arrays, and by hand in NumPy, as one writes it who knows NumPy well.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from workload import Halves, Workload

Arrays = list[Any]


def _normal(rng: Any, *shape: int, scale: float = 0.05) -> Any:
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def convolutional(batch: int = 64) -> Workload:
    """A step of the MNIST net, SGD with momentum."""

    def make(torch: Any) -> Halves:
        nn, optim = (
            importlib.import_module(f"{torch.__name__}.{part}") for part in ("nn", "optim")
        )
        F = importlib.import_module(f"{torch.__name__}.nn.functional")
        first, second = nn.Conv2d(1, 20, 5), nn.Conv2d(20, 50, 5)
        wide, last = nn.Linear(800, 500), nn.Linear(500, 10)
        parameters = [p for m in (first, second, wide, last) for p in m.parameters()]
        optimizer = optim.SGD(parameters, lr=0.01, momentum=0.5)
        rng = np.random.default_rng(0)
        x = torch.tensor(rng.standard_normal((batch, 1, 28, 28)).astype(np.float32))
        target = torch.tensor(rng.integers(0, 10, batch))

        def forward() -> Any:
            y = F.max_pool2d(F.relu(first(x)), 2, 2)
            y = F.max_pool2d(F.relu(second(y)), 2, 2)
            y = last(F.relu(wide(y.view(batch, 800))))
            return F.nll_loss(F.log_softmax(y, dim=1), target)

        def backward(loss: Any) -> None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return forward, backward

    def given() -> tuple[Any, Any, Arrays]:
        rng = np.random.default_rng(0)
        x, target = _normal(rng, batch, 1, 28, 28, scale=1), rng.integers(0, 10, batch)
        shapes = [(20, 1, 5, 5), (20,), (50, 20, 5, 5), (50,), (800, 500), (500,), (500, 10), (10,)]
        return x, target, [_normal(rng, *shape) for shape in shapes]

    def formula(numpy: Any) -> tuple[Callable[[Any], Any], Any]:
        x, target, parameters = given()
        convolve, halve = _images(numpy)
        rows = np.arange(batch)

        def loss(parameters: Any) -> Any:
            a, b, c, d, e, f, g, h = parameters
            y = halve(numpy.maximum(convolve(x, a) + b.reshape(1, -1, 1, 1), 0))
            y = halve(numpy.maximum(convolve(y, c) + d.reshape(1, -1, 1, 1), 0))
            y = numpy.maximum(y.reshape(batch, 800) @ e + f, 0) @ g + h
            y = y - numpy.log(numpy.sum(numpy.exp(y), axis=1, keepdims=True))
            return -numpy.mean(y[rows, target])

        return loss, parameters

    def by_hand() -> Halves:
        x, target, parameters = given()
        a, b, c, d, e, f, g, h = parameters
        speeds = [np.zeros_like(p) for p in parameters]
        rows = np.arange(batch)
        zero, rate, momentum = np.float32(0), np.float32(0.01), np.float32(0.5)

        def forward() -> Any:
            first = _columns(x)
            y1 = np.maximum(first @ a.reshape(20, -1).T + b, zero).reshape(batch, 24, 24, 20)
            z1 = _largest(y1)
            second = _columns(z1.transpose(0, 3, 1, 2))
            y2 = np.maximum(second @ c.reshape(50, -1).T + d, zero).reshape(batch, 8, 8, 50)
            z2 = _largest(y2)
            flat = z2.reshape(batch, 800)
            wide = np.maximum(flat @ e + f, zero)
            out = wide @ g + h
            out -= out.max(1, keepdims=True)
            powers = np.exp(out)
            sums = powers.sum(1, keepdims=True)
            (np.log(sums)[:, 0] - out[rows, target]).mean()
            return first, y1, z1, second, y2, z2, flat, wide, powers / sums

        def backward(saved: Any) -> None:
            first, y1, z1, second, y2, z2, flat, wide, p = saved
            p[rows, target] -= 1
            p /= batch
            g_g, g_h = wide.T @ p, p.sum(0)
            up = (p @ g.T) * (wide > zero)
            g_e, g_f = flat.T @ up, up.sum(0)
            up = _spread((up @ e.T).reshape(z2.shape), y2, z2).reshape(-1, 50)
            g_c, g_d = up.T @ second, up.sum(0)
            up = _added((up @ c.reshape(50, -1)).reshape(batch, 8, 8, 20, 5, 5), (12, 12))
            up = _spread(up.transpose(0, 2, 3, 1), y1, z1).reshape(-1, 20)
            g_a, g_b = up.T @ first, up.sum(0)
            found = (g_a.reshape(a.shape), g_b, g_c.reshape(c.shape), g_d, g_e, g_f, g_g, g_h)
            for parameter, speed, each in zip(parameters, speeds, found, strict=True):
                speed *= momentum
                speed += each
                parameter -= rate * speed

        return forward, backward

    return Workload("training step of the MNIST net", 1, make, formula, by_hand)


def _images(numpy: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The convolution of a library, and its largest of 2x2 places."""
    if numpy.__name__ == "mygrad":
        layers = importlib.import_module("mygrad.nnet.layers")
        return (
            lambda x, w: layers.conv_nd(x, w, stride=1),
            lambda x: layers.max_pool(x, (2, 2), 2),
        )
    signal = importlib.import_module("autograd.scipy.signal")

    def halve(x: Any) -> Any:
        n, channels, height, width = x.shape
        return x.reshape(n, channels, height // 2, 2, width // 2, 2).max(axis=(3, 5))

    axes: Any = {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [1])}
    return lambda x, w: signal.convolve(x, w, mode="valid", **axes), halve


def _columns(x: Any) -> Any:
    """A row of all that a kernel of 5x5 covers, for each place of each image."""
    found = np.lib.stride_tricks.sliding_window_view(x, (5, 5), (2, 3)).transpose(0, 2, 3, 1, 4, 5)
    return found.reshape(-1, x.shape[1] * 25)


def _added(columns: Any, size: tuple[int, int]) -> Any:
    """Add up what :func:`_columns` took apart."""
    n, height, width, channels = columns.shape[:4]
    found = np.zeros((n, channels, *size), np.float32)
    moved = columns.transpose(4, 5, 0, 3, 1, 2)
    for i in range(5):
        for j in range(5):
            found[:, :, i : i + height, j : j + width] += moved[i, j]
    return found


def _largest(y: Any) -> Any:
    """The largest of 2x2 places of images whose channels come last."""
    rows = np.maximum(y[:, ::2], y[:, 1::2])
    return np.maximum(rows[:, :, ::2], rows[:, :, 1::2])


def _spread(g: Any, y: Any, z: Any) -> Any:
    """Give a gradient of largest places to those that were the largest, unless they are 0."""
    n, height, width, channels = z.shape
    parts = y.reshape(n, height, 2, width, 2, channels)
    chosen = parts == (z + (z == 0))[:, :, None, :, None]
    return (g[:, :, None, :, None] * chosen).reshape(y.shape)


def recurrent(steps: int = 200, batch: int = 16, width: int = 128) -> Workload:
    """An LSTM of primitive ops over a sequence."""

    def given() -> tuple[Arrays, Arrays]:
        rng = np.random.default_rng(0)
        inputs = [_normal(rng, batch, width, scale=1) for _ in range(steps)]
        bias = _normal(rng, 4 * width)
        bias[width : 2 * width] += 2  # or gradients would end in numbers too small to be normal
        return inputs, [_normal(rng, width, 4 * width), _normal(rng, width, 4 * width), bias]

    def make(torch: Any) -> Halves:
        arrays, parameters = given()
        inputs = [torch.tensor(each) for each in arrays]
        w, u, b = leaves = [torch.tensor(each).requires_grad_() for each in parameters]
        nothing = torch.zeros(batch, width)

        def forward() -> Any:
            h = c = nothing
            for x in inputs:
                i, f, g, o = (x @ w + h @ u + b).chunk(4, 1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
            return h.sum()

        def backward(loss: Any) -> None:
            loss.backward()
            for leaf in leaves:
                leaf.grad = None

        return forward, backward

    def formula(numpy: Any) -> tuple[Callable[[Any], Any], Any]:
        inputs, parameters = given()

        def sigmoid(x: Any) -> Any:
            return 1 / (1 + numpy.exp(-x))

        def loss(parameters: Any) -> Any:
            w, u, b = parameters
            h = c = np.zeros((batch, width), np.float32)
            for x in inputs:
                z = x @ w + h @ u + b
                i, f, g, o = (z[:, n * width : (n + 1) * width] for n in range(4))
                c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
                h = sigmoid(o) * numpy.tanh(c)
            return numpy.sum(h)

        return loss, parameters

    def by_hand() -> Halves:
        inputs, (w, u, b) = given()
        one = np.float32(1)

        def sigmoid(x: Any) -> Any:
            return one / (one + np.exp(-x))

        def forward() -> Any:
            h = c = np.zeros((batch, width), np.float32)
            saved = []
            for x in inputs:
                z = x @ w + h @ u + b
                i, f = sigmoid(z[:, :width]), sigmoid(z[:, width : 2 * width])
                g, o = np.tanh(z[:, 2 * width : 3 * width]), sigmoid(z[:, 3 * width :])
                before, c = c, f * c + i * g
                t = np.tanh(c)
                saved.append((x, h, before, i, f, g, o, t))
                h = o * t
            h.sum()
            return saved

        def backward(saved: Any) -> None:
            g_w, g_u, g_b = np.zeros_like(w), np.zeros_like(u), np.zeros_like(b)
            g_h, g_c = np.ones((batch, width), np.float32), np.zeros((batch, width), np.float32)
            g_z = np.empty((batch, 4 * width), np.float32)
            for x, h, c, i, f, g, o, t in reversed(saved):
                g_c = g_c + g_h * o * (one - t * t)
                g_z[:, :width] = g_c * g * i * (one - i)
                g_z[:, width : 2 * width] = g_c * c * f * (one - f)
                g_z[:, 2 * width : 3 * width] = g_c * i * (one - g * g)
                g_z[:, 3 * width :] = g_h * t * o * (one - o)
                g_w += x.T @ g_z
                g_u += h.T @ g_z
                g_b += g_z.sum(0)
                g_h = g_z @ u.T
                g_c = g_c * f

        return forward, backward

    return Workload(f"LSTM of ops, {steps} steps", 1, make, formula, by_hand)


def transformer(batch: int = 4, length: int = 128, wide: int = 256, heads: int = 8) -> Workload:
    """A block of a GPT."""
    each = wide // heads
    scale = np.float32(each**-0.5)
    mask = np.triu(np.full((length, length), -np.inf, np.float32), 1)

    def given() -> tuple[Any, Arrays]:
        rng = np.random.default_rng(0)
        one, none = np.ones(wide, np.float32), np.zeros(wide, np.float32)
        return _normal(rng, batch, length, wide, scale=1), [
            one, none, _normal(rng, wide, 3 * wide), _normal(rng, 3 * wide),
            _normal(rng, wide, wide), _normal(rng, wide), one, none,
            _normal(rng, wide, 4 * wide), _normal(rng, 4 * wide),
            _normal(rng, 4 * wide, wide), _normal(rng, wide),
        ]  # fmt: skip

    def make(torch: Any) -> Halves:
        nn = importlib.import_module(f"{torch.__name__}.nn")
        F = importlib.import_module(f"{torch.__name__}.nn.functional")
        layers = nn.ModuleDict(
            {
                "norm1": nn.LayerNorm(wide), "qkv": nn.Linear(wide, 3 * wide),
                "out": nn.Linear(wide, wide), "norm2": nn.LayerNorm(wide),
                "up": nn.Linear(wide, 4 * wide), "down": nn.Linear(4 * wide, wide),
            }
        )  # fmt: skip
        x = torch.tensor(given()[0]).requires_grad_()
        above = torch.tensor(mask)

        def split(t: Any) -> Any:
            return t.view(batch, length, heads, each).transpose(1, 2)

        def forward() -> Any:
            q, k, v = map(split, layers["qkv"](layers["norm1"](x)).chunk(3, dim=-1))
            scores = q @ k.transpose(-2, -1) * float(scale) + above
            mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, length, wide)
            y = x + layers["out"](mixed)
            up = F.gelu(layers["up"](layers["norm2"](y)), approximate="tanh")
            return (y + layers["down"](up)).sum()

        def backward(loss: Any) -> None:
            layers.zero_grad()
            x.grad = None
            loss.backward()

        return forward, backward

    def formula(numpy: Any) -> tuple[Callable[[Any], Any], Any]:
        x, parameters = given()

        def norm(x: Any, w: Any, b: Any) -> Any:
            x = x - numpy.mean(x, axis=-1, keepdims=True)
            return x / numpy.sqrt(numpy.mean(x * x, axis=-1, keepdims=True) + 1e-5) * w + b

        def split(t: Any) -> Any:
            return numpy.transpose(numpy.reshape(t, (batch, length, heads, each)), (0, 2, 1, 3))

        def loss(given: Any) -> Any:
            x, w1, b1, w2, b2, w3, b3, w4, b4, w5, b5, w6, b6 = given
            z = norm(x, w1, b1) @ w2 + b2
            q, k, v = (split(z[:, :, n * wide : (n + 1) * wide]) for n in range(3))
            scores = q @ numpy.transpose(k, (0, 1, 3, 2)) * scale + mask
            powers = numpy.exp(scores - numpy.max(scores, axis=-1, keepdims=True))
            shares = powers / numpy.sum(powers, axis=-1, keepdims=True)
            mixed = numpy.transpose(shares @ v, (0, 2, 1, 3))
            y = x + numpy.reshape(mixed, (batch, length, wide)) @ w3 + b3
            u = norm(y, w4, b4) @ w5 + b5
            u = 0.5 * u * (1 + numpy.tanh(0.7978845608 * (u + 0.044715 * u * u * u)))
            return numpy.sum(y + u @ w6 + b6)

        return loss, [x, *parameters]

    def by_hand() -> Halves:
        x, (w1, b1, w2, b2, w3, b3, w4, b4, w5, b5, w6, b6) = given()
        rows = batch * length
        half, one, three = np.float32(0.5), np.float32(1), np.float32(3)
        root, cubic, eps = np.float32(0.7978845608), np.float32(0.044715), np.float32(1e-5)

        def norm(x: Any, w: Any, b: Any) -> Any:
            x = x - x.mean(1, keepdims=True)
            inverse = one / np.sqrt((x * x).mean(1, keepdims=True) + eps)
            x *= inverse
            return x * w + b, (x, inverse, w)

        def norm_back(g: Any, saved: Any) -> Any:
            x, inverse, w = saved
            g_w, g_b = (g * x).sum(0), g.sum(0)
            g = g * w
            means = g.mean(1, keepdims=True), (g * x).mean(1, keepdims=True)
            return (g - means[0] - x * means[1]) * inverse, g_w, g_b

        def split(t: Any) -> Any:
            return t.reshape(batch, length, heads, each).transpose(0, 2, 1, 3)

        def join(t: Any) -> Any:
            return t.transpose(0, 2, 1, 3).reshape(rows, wide)

        def forward() -> Any:
            flat = x.reshape(rows, wide)
            n, norm1 = norm(flat, w1, b1)
            z = n @ w2 + b2
            q, k, v = split(z[:, :wide]), split(z[:, wide : 2 * wide]), split(z[:, 2 * wide :])
            p = q @ k.swapaxes(2, 3)
            p *= scale
            p += mask
            p -= p.max(3, keepdims=True)
            np.exp(p, p)
            p /= p.sum(3, keepdims=True)
            mixed = join(p @ v)
            y = flat + mixed @ w3 + b3
            m, norm2 = norm(y, w4, b4)
            u = m @ w5 + b5
            t = np.tanh(root * (u + cubic * u * u * u))
            up = half * u * (one + t)
            (y + up @ w6 + b6).sum()
            return n, norm1, q, k, v, p, mixed, m, norm2, u, t, up

        def backward(saved: Any) -> Any:
            n, norm1, q, k, v, p, mixed, m, norm2, u, t, up = saved
            g_y = np.ones((rows, wide), np.float32)
            g_w6, g_b6 = up.T @ g_y, g_y.sum(0)
            g = g_y @ w6.T
            g *= half * (one + t) + half * u * (one - t * t) * root * (one + three * cubic * u * u)
            g_w5, g_b5 = m.T @ g, g.sum(0)
            g, g_w4, g_b4 = norm_back(g @ w5.T, norm2)
            g_y = g_y + g
            g_w3, g_b3 = mixed.T @ g_y, g_y.sum(0)
            g = split(g_y @ w3.T)
            g_v = p.swapaxes(2, 3) @ g
            g_p = g @ v.swapaxes(2, 3)
            g_p = p * (g_p - (g_p * p).sum(3, keepdims=True))
            g_p *= scale
            g_z = np.concatenate([join(g_p @ k), join(g_p.swapaxes(2, 3) @ q), join(g_v)], 1)
            g_w2, g_b2 = n.T @ g_z, g_z.sum(0)
            g, g_w1, g_b1 = norm_back(g_z @ w2.T, norm1)
            return (
                (g_y + g).reshape(x.shape), g_w1, g_b1, g_w2, g_b2, g_w3, g_b3, g_w4, g_b4, g_w5,
                g_b5, g_w6, g_b6,
            )  # fmt: skip

        return forward, backward

    return Workload("block of a GPT", 1, make, formula, by_hand)
