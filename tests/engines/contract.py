"""What mypy holds the engines to: their classes are those that neutral code is written for.

The capabilities of an engine are held to theirs where its ``Engine`` is made.
"""

from __future__ import annotations

from autograd_core.autograd.call import BackwardCall as NativeCall
from autograd_core.autograd.node import Node as NativeNode
from autograd_core.autograd.plan import Plan as NativePlan
from autograd_core.tensor import Tensor as NativeTensor
from gradstep.contract.driver import Driver
from gradstep.engines.native.driver import NativeDriver
from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.nodes import TorchNode
from gradstep.engines.pytorch.order import TorchPlan
from gradstep.engines.pytorch.stepping.driver import TorchDriver
from gradstep.engines.pytorch.tensors import SeenTensor
from gradstep.engines.recorded import RecordedCall, RecordedNode, RecordedTensor
from gradstep.engines.recorded.driver import RecordedDriver
from gradstep.records import BackwardCall, Node, Plan, Tensor
from tests.engines.hips_engine import HipsNode, SeenBox


def drivers(
    native: NativeDriver, torch: TorchDriver, recorded: RecordedDriver
) -> tuple[Driver, Driver, Driver]:
    return native, torch, recorded


def nodes(native: NativeNode, torch: TorchNode, recorded: RecordedNode) -> tuple[Node, Node, Node]:
    return native, torch, recorded


def tensors(
    native: NativeTensor, torch: SeenTensor, recorded: RecordedTensor
) -> tuple[Tensor, Tensor, Tensor]:
    return native, torch, recorded


def calls(
    native: NativeCall, torch: TorchCall, recorded: RecordedCall
) -> tuple[BackwardCall, BackwardCall, BackwardCall]:
    return native, torch, recorded


def plans(native: NativePlan, torch: TorchPlan) -> tuple[Plan, Plan]:
    return native, torch


def third_engine(node: HipsNode, tensor: SeenBox) -> tuple[Node, Tensor]:
    return node, tensor
