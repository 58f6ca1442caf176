"""What mypy holds the engines to: their classes are those that neutral code is written for."""

from __future__ import annotations

from autograd_core.autograd.call import BackwardCall as NativeCall
from autograd_core.autograd.node import Node as NativeNode
from autograd_core.autograd.plan import Plan as NativePlan
from autograd_core.tensor import Tensor as NativeTensor
from gradstep.engines.driver import Driver
from gradstep.engines.native import NativeEngine
from gradstep.engines.native.driver import NativeDriver
from gradstep.engines.protocol import Engine
from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.engine import PyTorchEngine
from gradstep.engines.pytorch.nodes import TorchNode
from gradstep.engines.pytorch.order import TorchPlan
from gradstep.engines.pytorch.stepping.driver import TorchDriver
from gradstep.engines.pytorch.tensors import SeenTensor
from gradstep.records import BackwardCall, Node, Plan, Tensor


def engines(native: NativeEngine, torch: PyTorchEngine) -> tuple[Engine, Engine]:
    return native, torch


def drivers(native: NativeDriver, torch: TorchDriver) -> tuple[Driver, Driver]:
    return native, torch


def nodes(native: NativeNode, torch: TorchNode) -> tuple[Node, Node]:
    return native, torch


def tensors(native: NativeTensor, torch: SeenTensor) -> tuple[Tensor, Tensor]:
    return native, torch


def calls(native: NativeCall, torch: TorchCall) -> tuple[BackwardCall, BackwardCall]:
    return native, torch


def plans(native: NativePlan, torch: TorchPlan) -> tuple[Plan, Plan]:
    return native, torch
