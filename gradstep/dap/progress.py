"""Progress of a long move, for an editor that shows it and lets a person end it."""

from __future__ import annotations

from threading import Event, Thread
from types import TracebackType
from typing import Final

from gradstep.dap.protocol import Channel
from gradstep.debugger.session import Session

_PATIENCE: Final = 0.5  # seconds before a move is told of
_INTERVAL: Final = 0.25  # seconds


class Progress:
    """While it is entered, tells ``channel`` how far ``session`` is, once that takes long."""

    def __init__(self, channel: Channel, session: Session, name: str) -> None:
        self._channel, self._session, self._name = channel, session, name
        self._over = Event()
        self._thread = Thread(target=self._tell, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self._over.set()
        self._thread.join()

    def _tell(self) -> None:
        if self._over.wait(_PATIENCE):
            return
        title = f"gradstep: {self._name}"
        self._channel.event(
            "progressStart", progressId=self._name, title=title, cancellable=True, percentage=0
        )
        while not self._over.wait(_INTERVAL):
            position, length = self._session.position, self._session.length
            self._channel.event(
                "progressUpdate",
                progressId=self._name,
                message=f"{position:,} of {length:,} nodes",
                percentage=100 * position // max(length, 1),
            )
        self._channel.event("progressEnd", progressId=self._name)
