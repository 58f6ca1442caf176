"""Samples of the ops in ``autograd_core/ops/losses``."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_LOG_PROBS = np.log(np.random.default_rng(0).dirichlet(np.ones(4), (5, 2)))
REDUCTIONS = tuple({"reduction": name} for name in ("mean", "sum", "none"))
PAIR = tuple(Sample(((2, 3), (2, 3)), each) for each in REDUCTIONS)
_SHARES = [[0.2, 0.7, 0.5], [0.9, 0.1, 0.4]]
_LABELS = np.array([2, 0, 1, 0])
_MARGIN_LOSS_LABELS = np.array([2, 0])

SAMPLES = {
    # ctc
    "ctc_loss": (
        Sample(
            (_LOG_PROBS,),
            {
                "targets": np.array([[1, 2, 2], [3, 1, 0]]),
                "input_lengths": (5, 4),
                "target_lengths": (3, 2),
                "blank": 0,
            },
            normalized=True,
        ),
    ),
    # elementwise_loss
    "smooth_l1_loss": (*PAIR, Sample(((3,), (3,)), {"beta": 0.3})),
    "huber_loss": (*PAIR, Sample(((3,), (3,)), {"delta": 0.3})),
    "soft_margin_loss": tuple(
        Sample(((3,), np.array([1.0, -1.0, 1.0])), each) for each in REDUCTIONS
    ),
    "binary_cross_entropy": (
        *(Sample((_SHARES, _SHARES[::-1]), each) for each in REDUCTIONS),
        Sample((_SHARES, _SHARES[::-1], np.array([1.0, 2.0, 0.5]))),
    ),
    "binary_cross_entropy_with_logits": (
        *(Sample(((2, 3), _SHARES), each) for each in REDUCTIONS),
        Sample(((2, 3), _SHARES, np.array([1.0, 2.0, 0.5]), np.array([1.0, 3.0, 0.5]))),
    ),
    # loss
    "nll_loss": (
        Sample(((4, 3), _LABELS)),
        Sample(((3,), np.array(1))),
        Sample(((4, 3), _LABELS), {"reduction": "none", "ignore_index": 0}),
        Sample(((4, 3), _LABELS, np.array([0.5, 1.0, 2.0])), {"ignore_index": 2}),
    ),
    "nll_loss2d": (
        Sample(((2, 3, 2), np.array([[0, 1], [2, 2]])), {"reduction": "sum"}),
        Sample(((2, 3, 1, 2), np.array([[[0, 1]], [[2, 2]]])), {"ignore_index": 1}),
    ),
    "nll_loss_backward": (
        Sample(((), _LABELS), {"shape": (4, 3), "reduction": "mean", "ignore_index": 1}),
        Sample(((4,), _LABELS), {"shape": (4, 3), "reduction": "none", "ignore_index": -100}),
    ),
    "nll_loss2d_backward": (
        Sample(
            ((), np.array([[0, 1], [2, 2]])),
            {"shape": (2, 3, 2), "reduction": "mean", "ignore_index": 1},
        ),
    ),
    "mse_loss": (Sample(((2, 3), (2, 3))), Sample(((3,), (3,)), {"reduction": "none"})),
    # margin_loss
    "multi_margin_loss": (
        *(Sample(((2, 3), _MARGIN_LOSS_LABELS), each) for each in REDUCTIONS),
        Sample(((2, 3), _MARGIN_LOSS_LABELS, np.array([1.0, 2.0, 0.5])), {"p": 2, "margin": 0.7}),
    ),
    "multilabel_margin_loss": tuple(
        Sample(((2, 4), np.array([[3, 0, -1, 1], [1, -1, 0, 0]])), each) for each in REDUCTIONS
    ),
}
