"""How the command ends: what is told, and the exit code of the process."""

from __future__ import annotations

import sys
from pathlib import Path

from gradstep_tui import output
from gradstep_tui.errors import ExitCode, Failure


def tell(error: BaseException) -> int | None:
    """Print what a user can do something about, and return its exit code; None, and nothing is
    printed, for a defect of this program.

    Where the user's own program failed, both are what Python would have printed and returned.
    """
    if isinstance(error, KeyboardInterrupt):
        output.say("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, Failure):
        output.say(error.message)
        return error.code
    # imported late: they take NumPy with them, for which --help need not wait
    from gradstep.contract.lookup import NoEngine, UnreadablePyTorch
    from gradstep.graph.errors import NotInGraph
    from gradstep.program import errors as program
    from gradstep.recording.errors import RecordingError
    from gradstep_viz import errors as viz

    match error:
        case program.ScriptFailed():
            if not error.tell_by_hook():
                output.relay(str(error))
            elif error.note:
                output.say(error.note)
            if isinstance(error.error, ModuleNotFoundError):
                remedy = "pip install torch" if error.error.name == "torch" else "install it"
                output.say(
                    f"programs run in the environment of gradstep, {sys.prefix}: {remedy} there, "
                    "or install gradstep where it is"
                )
            if error.findings:
                # it is slow to load, as above
                from gradstep.findings.report import finding_text

                for finding in error.findings:
                    output.relay(f"\n{finding_text(finding, Path.cwd())}")
            return ExitCode.SCRIPT_FAILED
        case program.ScriptExited(code=int(code)):
            output.say(str(error))
            return code
        case program.ScriptExited():  # with a text, which Python prints
            output.relay(str(error))
            return ExitCode.SCRIPT_FAILED
        case program.BadTarget():
            kind = ExitCode.USAGE
        case program.ProgramError() | viz.NothingToDraw() | NotInGraph() | RecordingError():
            kind = ExitCode.TARGET
        case UnreadablePyTorch():  # which was told when the program imported it
            return ExitCode.TARGET
        case NoEngine():
            kind = ExitCode.TARGET
        case viz.RendererUnavailable() | viz.RenderingFailed():
            kind = ExitCode.NO_RENDERER
        case viz.VizError():
            kind = ExitCode.USAGE
        case _:
            return None
    output.say(str(error))
    return kind


def end_as(failure: BaseException | None, code: int = ExitCode.FINE) -> int:
    """Tell how the user's program failed, if it did; its exit code, unless ``code`` says more."""
    exit_code = None if failure is None else tell(failure)
    return code or exit_code or ExitCode.FINE
