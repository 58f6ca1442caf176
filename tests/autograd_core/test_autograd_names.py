"""Every public name of ``torch.autograd`` is here, or left out for a reason that is stated."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

GPU = "GPUs only"
INSIDE = "internal to PyTorch, not for users"
NESTED = "an undocumented leftover of PyTorch 0.4 for nested inputs"
OLD = "deprecated: gradcheck gives the same answer"
COMPILER = "torch.compile only"
VARIABLE = "a leftover of PyTorch 0.3: every tensor is one"
SELECTIVE = "selective checkpointing relies on dispatch modes, which gradstep does not have"

LEFT_OUT = {
    "autograd": {
        "NestedIOFunction": NESTED, "enforce_grad_layout_policy": GPU,
        "Variable": VARIABLE, "variable": VARIABLE,
    },
    "autograd.graph": {
        "region_activation_memory_budget": COMPILER,
        "set_warn_on_accumulate_grad_stream_mismatch": GPU,
        "set_override_stale_capture_stream": GPU,
    },
    "autograd.functional": {},
    "autograd.forward_ad": {},
    "autograd.function": {
        "BackwardCFunction": INSIDE,
        "FunctionMeta": INSIDE,
        "InplaceFunction": NESTED,
        "NestedIOFunction": NESTED,
    },
    "autograd.anomaly_mode": {},
    "autograd.grad_mode": {"enforce_grad_layout_policy": GPU},
    "utils.checkpoint": {
        "check_backward_validity": INSIDE, "detach_variable": INSIDE,
        "get_device_states": GPU, "set_device_states": GPU, "DefaultDeviceType": GPU,
        "set_checkpoint_debug_enabled": "tracing shows more", "GraphExecGroup": COMPILER,
        "CheckpointPolicy": SELECTIVE, "SelectiveCheckpointContext": SELECTIVE,
        "create_selective_checkpoint_contexts": SELECTIVE, "SAC_IGNORED_OPS": SELECTIVE,
    },
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("module", LEFT_OUT)
def test_every_public_name_is_here_or_left_out_for_a_reason(module: str) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    theirs = importlib.import_module(f"torch.{module}")
    ours = importlib.import_module(f"autograd_core.{module}")
    public = getattr(theirs, "__all__", None) or [n for n in dir(theirs) if n[0] != "_"]
    missing = {name for name in public if not hasattr(ours, name)}
    assert missing == set(LEFT_OUT[module])


def test_gradcheck_stays_a_function_beside_the_module_of_its_name() -> None:
    from autograd_core.autograd import gradcheck, gradgradcheck

    assert callable(gradcheck)
    assert callable(gradgradcheck)
