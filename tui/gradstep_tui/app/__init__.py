"""The full-screen debugger: a thin view of a debug session."""

from gradstep_tui.app.app import DebuggerApp, Outcome

__all__ = ["DebuggerApp", "Outcome"]
