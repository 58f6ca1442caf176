"""Compilers and exporters: queries and decorators work and change nothing, compiling raises an
error."""

from __future__ import annotations

import typing
from typing import Any, NamedTuple

from autograd_core.compat.kinds import Names, always, nothing, refused, unchanged
from autograd_core.nn.modules.module import Module

_NO_SCRIPT = RuntimeError(
    "TorchScript is not part of gradstep: save model.state_dict() with torch.save, and load it "
    "into a model of the same class"
)
_NO_ONNX = RuntimeError("ONNX is not part of gradstep: export the model with PyTorch")
_NO_TRACE = RuntimeError("torch.fx graphs are not part of gradstep: use gradstep render")


class ScriptModule(Module):
    """A module; nothing is compiled."""


class Attribute(NamedTuple):
    """A value and its type."""

    value: Any
    type: Any


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value unchanged."""
    return the_value


def isinstance_(obj: Any, target_type: Any) -> bool:
    """Return whether ``obj`` is an instance of the type; element types are not checked."""
    return isinstance(obj, typing.get_origin(target_type) or target_type)


class Proxy:
    """A traced value; there are none."""


class GraphModule(Module):
    """A traced module; there are none."""


MODULES: dict[str, Names] = {
    "jit": {
        **always(False, "is_scripting is_tracing"),
        **unchanged("script script_method script_if_tracing trace ignore unused export interface "
                    "freeze optimize_for_inference _script_if_tracing _overload_method _overload"),
        **refused(_NO_SCRIPT, "save load trace_module"),
        "annotate": annotate, "isinstance": isinstance_, "Attribute": Attribute,
        "ScriptModule": ScriptModule, "Final": typing.Final,
    },
    "_jit_internal": {
        **always(False, "is_scripting"),
        **unchanged("_overload_method _overload _copy_to_script_wrapper export ignore unused"),
        "Final": typing.Final, "Optional": typing.Optional, "List": list, "Tuple": tuple,
    },
    "jit.annotations": {"List": list, **{f"BroadcastingList{n}": list for n in range(1, 4)}},
    "_C": always(None, "_get_tracing_state"),
    "fx": {**unchanged("wrap"), **refused(_NO_TRACE, "symbolic_trace"),
           "Proxy": Proxy, "GraphModule": GraphModule},
    "onnx": {**always(False, "is_in_onnx_export"), **refused(_NO_ONNX, "export"),
             **nothing("register_custom_op_symbolic")},
    "compiler": {
        **always(False, "is_compiling is_dynamo_compiling is_exporting"),
        **unchanged("compile disable allow_in_graph assume_constant_result"),
        **nothing("reset cudagraph_mark_step_begin"),
    },
    "_dynamo": {
        **always(False, "is_compiling"), **unchanged("disable allow_in_graph"),
        **nothing("reset mark_dynamic mark_static graph_break"),
    },
    "_dynamo.config": {},
    "_inductor": {},
    "_inductor.config": {},
    "overrides": always(False, "has_torch_function has_torch_function_unary "
                               "has_torch_function_variadic"),
}  # fmt: skip
