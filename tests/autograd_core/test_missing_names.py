"""Names of PyTorch's that the core does not have: one error says so, and what to do."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

# Of modules beside torch.nn and torch.autograd: what is not here, and why.
LEFT_OUT = {
    "the core computes on the CPU, uncompiled, in one process": (
        "_dynamo accelerator amp autocast backends compile compiler cpu cuda distributed fx hub "
        "jit mps multiprocessing nn.attention nn.parallel onnx overrides "
        "set_default_device set_float32_matmul_precision use_deterministic_algorithms "
        "utils.tensorboard version xpu"
    ),
    "probability distributions": "distributions",
    "optimizers and schedules that no example needs": (
        "optim.ASGD optim.Adadelta optim.Adafactor optim.Adamax optim.LBFGS optim.Muon optim.NAdam "
        "optim.RAdam optim.Rprop optim.SparseAdam optim.lr_scheduler.ChainedScheduler "
        "optim.lr_scheduler.ConstantLR optim.lr_scheduler.CosineAnnealingWarmRestarts "
        "optim.lr_scheduler.CyclicLR optim.lr_scheduler.ExponentialLR optim.lr_scheduler.LinearLR "
        "optim.lr_scheduler.MultiStepLR optim.lr_scheduler.MultiplicativeLR "
        "optim.lr_scheduler.OneCycleLR optim.lr_scheduler.PolynomialLR "
        "optim.lr_scheduler.ReduceLROnPlateau optim.lr_scheduler.SequentialLR optim.swa_utils"
    ),
    "weights that are computed or filled in, and sequences that are packed": (
        "nn.init.dirac_ nn.init.eye_ nn.init.sparse_ nn.utils.parameters_to_vector "
        "nn.utils.parametrizations nn.utils.parametrize nn.utils.remove_spectral_norm "
        "nn.utils.remove_weight_norm nn.utils.rnn nn.utils.skip_init nn.utils.spectral_norm "
        "nn.utils.vector_to_parameters nn.utils.weight_norm"
    ),
    "data sets": "utils.data utils.model_zoo",
    "profiles of events: a picture shows what each node took": (
        "autograd.profiler.record_function profiler"
    ),
    "the core knows no complex numbers and no sparse tensors": "is_complex spmm",
}
NAMES = sorted(name for names in LEFT_OUT.values() for name in names.split())
SAID = "it is not part of gradstep's core; import torch instead"


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_name_is_refused_with_a_remedy(name: str) -> None:
    path, _, last = f"autograd_core.{name}".rpartition(".")
    module = importlib.import_module(path)
    with pytest.raises(AttributeError, match=f"module '{path}' has no attribute '{last}': {SAID}"):
        getattr(module, last)
    assert not hasattr(module, last)
    with pytest.raises(ImportError, match=f"module '{path}' has no attribute '{last}': {SAID}"):
        exec(f"from {path} import {last}")
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{path}.{last}'[:;]"):
        exec(f"import {path}.{last}")


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_pytorch_has_what_is_left_out(name: str) -> None:
    pytest.importorskip("torch")
    path, _, last = f"torch.{name}".rpartition(".")
    module = importlib.import_module(path)
    assert hasattr(module, last) or importlib.util.find_spec(f"{path}.{last}")


def test_modules_of_others_are_left_to_other_finders() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_module'$"):
        importlib.import_module("no_such_module")


def test_half_of_the_core_is_imported_when_asked_for() -> None:
    program = """
import sys
import autograd_core as torch
from autograd_core import linalg
import gradstep.debugger, gradstep_tui.cli
torch.ones(2, requires_grad=True).sum().backward()
print("autograd_core.nn" in sys.modules, hasattr(torch, "nn"), "autograd_core.nn" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "True"], done.stderr


def test_a_missing_module_is_refused_with_a_remedy() -> None:
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'autograd_core.jit': {SAID}"):
        importlib.import_module("autograd_core.jit")
