"""Connections over a port of this machine, to which every user of it can connect.

Whoever comes is a stranger until a secret was shown: little is heard of strangers, and there are
never many.
"""

from __future__ import annotations

import secrets
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import BinaryIO, Final

from gradstep.dap.protocol import BadMessage, Body, Channel, Unframed, read_message

LOCAL: Final = "127.0.0.1"
_STRANGERS: Final = 16
_LONGEST_BODY: Final = 2**20  # bytes, from a stranger
_WRONG: Final = (
    "'secret' is missing or wrong: give the one that gradstep dap --port printed; this connection "
    "is closed"
)


def new_secret() -> str:
    """Return a secret that nobody can guess."""
    return secrets.token_hex(16)


def is_secret(shown: object, secret: str) -> bool:
    """Return whether somebody has shown ``secret``; how long that takes does not tell."""
    return isinstance(shown, str) and secrets.compare_digest(
        shown.encode(errors="replace"), secret.encode()
    )


def welcome(
    listener: socket.socket, meet: Callable[[socket.socket, Callable[[], None]], None]
) -> None:
    """Have ``meet`` serve each connection, in a thread of its own, until ``listener`` is closed.

    It also gets what to call once the secret was shown. Where too many have not shown it, the
    oldest of them is closed, so that none that only waits keeps others out.
    """
    strangers: deque[socket.socket] = deque()
    lock = Lock()

    def forget(connection: socket.socket) -> None:
        with lock, suppress(ValueError):
            strangers.remove(connection)

    def serve(connection: socket.socket) -> None:
        with connection:
            with suppress(OSError):  # it has gone
                meet(connection, partial(forget, connection))
            forget(connection)
            hang_up(connection)

    while True:
        try:
            connection, _ = listener.accept()
        except ConnectionAbortedError:  # it has gone before it was met
            continue
        except OSError:
            return
        with lock:
            strangers.append(connection)
            oldest = strangers.popleft() if len(strangers) > _STRANGERS else None
        if oldest is not None:
            hang_up(oldest)
        Thread(target=serve, args=[connection], daemon=True).start()


def hang_up(connection: socket.socket) -> None:
    """End a connection, or a listener, for whoever waits at it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def channel_of(connection: socket.socket) -> Channel:
    """Return the channel over a socket."""
    return Channel(*_streams(connection))


def _streams(connection: socket.socket) -> tuple[BinaryIO, BinaryIO]:
    """Return what reads and what writes; each message leaves at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection.makefile("rb"), connection.makefile("wb")


class LockedChannel(Channel):
    """A channel to a stranger: before ``secret`` is shown, ``initialize`` alone is heard, and
    ``launch`` and ``attach`` show it; anything else is the end, and is not answered."""

    def __init__(
        self, connection: socket.socket, secret: str, when_shown: Callable[[], None]
    ) -> None:
        super().__init__(*_streams(connection))
        self._secret, self._when_shown = secret, when_shown
        self._is_locked = True

    def read(self) -> Body | None:
        """Return the next message, None where there are no more; see :func:`read_message`."""
        if not self._is_locked:
            return super().read()
        try:
            message = read_message(self._reader, _LONGEST_BODY)
        except (BadMessage, Unframed, OSError):
            return None
        if message is None or message.get("type") != "request":
            return None
        command, given = message.get("command"), message.get("arguments")
        if command == "initialize":
            return message
        if command in ("launch", "attach"):
            if isinstance(given, dict) and is_secret(given.pop("secret", None), self._secret):
                self._is_locked = False
                self._when_shown()
                return message
            self.refuse(message, _WRONG)
        return None
