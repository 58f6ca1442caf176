"""What an editor is told that it may ask for; no more than is met."""

from __future__ import annotations

from typing import Final

from gradstep.dap.protocol import Body
from gradstep.dap.stops import FILTERS

CAPABILITIES: Final[Body] = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsDataBreakpoints": True,
    "supportsBreakpointLocationsRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsExceptionFilterOptions": True,
    "exceptionBreakpointFilters": [
        {"filter": name, "label": label, "supportsCondition": True,
         "conditionDescription": "an expression, such as rms > 10"}
        for name, label in FILTERS
    ],
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsGotoTargetsRequest": True,
    "supportsRestartFrame": True,
    "supportsSetVariable": True,
    "supportsEvaluateForHovers": True,
    "supportsCompletionsRequest": True,
    "completionTriggerCharacters": [" ", "."],
    "supportsDelayedStackTraceLoading": True,
    "supportsLoadedSourcesRequest": True,
    "supportsCancelRequest": True,
    "supportsTerminateRequest": True,
    "supportsRestartRequest": True,
    "supportTerminateDebuggee": True,
}  # fmt: skip
