"""What is wrong with a recording, or is not in it."""

from __future__ import annotations


class RecordingError(Exception):
    """A recording cannot be read, or written; ``remedy`` says what helps, "" where nothing does."""

    def __init__(self, problem: str, *, remedy: str = "") -> None:
        super().__init__(f"{problem}; {remedy}" if remedy else problem)
        self.problem, self.remedy = problem, remedy


class NotRecorded(RecordingError, LookupError):
    """What was asked for is not in the recording."""


class BadRecording(RecordingError):
    """The file is no recording, is damaged, or was made by another version."""
