"""Messages of the Debug Adapter Protocol: JSON behind a header with its length."""

from __future__ import annotations

import json
from contextlib import suppress
from threading import Lock
from typing import Any, BinaryIO, Final, TypeVar

T = TypeVar("T")
Body = dict[str, Any]
"""A JSON object; https://microsoft.github.io/debug-adapter-protocol/specification has them all."""

_LONGEST_BODY: Final = 64 * 2**20  # bytes
_LONGEST_HEADER: Final = 4096  # bytes
_HEADERS: Final = (b"content-length", b"content-type")


class BadMessage(ValueError):
    """A message that means nothing; the next one may."""


class Unframed(ValueError):
    """Bytes in which no message begins, so that nothing after them can be read."""


class Refused(Exception):
    """A request that cannot be met; the text says why, and what could be."""


def read_message(stream: BinaryIO, longest: int = _LONGEST_BODY) -> Body | None:
    """Read one message; None at the end of the stream.

    >>> from io import BytesIO
    >>> read_message(BytesIO(b'Content-Length: 8\\r\\n\\r\\n{"a": 1}'))
    {'a': 1}

    Raises:
        BadMessage: it is not a JSON object.
        Unframed: a line of its header is none, or it has no length, or one beyond ``longest``.
    """
    headers: dict[bytes, bytes] = {}
    while line := stream.readline(_LONGEST_HEADER):
        if not line.rstrip(b"\r\n"):
            break
        name, _, value = line.partition(b":")
        name = name.lower()
        # not one more: the first line of HTTP may have a colon, too
        if name not in _HEADERS or name in headers or not line.endswith(b"\n"):
            raise Unframed(f"'{line[:40].decode(errors='replace')}' is not a header of a message")
        headers[name] = value.strip()
    else:
        return None
    text = headers.get(b"content-length", b"")
    if not text.isdigit():
        raise Unframed("a message has no Content-Length")
    length = int(text)
    if length > longest:
        raise Unframed(f"a message of {length:,} bytes is too long")
    text = stream.read(length)
    if len(text) < length:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("a message is not JSON") from None
    if not isinstance(message, dict):
        raise BadMessage("a message is not a JSON object")
    return message


class Channel:
    """One side of a connection. Any thread may write; what cannot be written, because the other
    side has gone, is dropped."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._lock = Lock()
        self._count = 0

    def read(self) -> Body | None:
        """Return the next message, None where there are no more; see :func:`read_message`."""
        try:
            return read_message(self._reader)
        except OSError:
            return None

    def send(self, message: Body) -> int:
        """Write a message, and return its number; what it says about its own is replaced."""
        with self._lock:
            self._count += 1
            self._write({**message, "seq": self._count})
            return self._count

    def forward(self, message: Body) -> None:
        """Write a message as it is."""
        with self._lock:
            self._write(message)

    def _write(self, message: Body) -> None:
        text = json.dumps(message).encode()
        with suppress(OSError, ValueError):
            self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
            self._writer.flush()

    def event(self, name: str, /, **body: Any) -> None:
        """Tell the editor of something."""
        self.send({"type": "event", "event": name, "body": body})

    def answer(self, request: Body, body: Body | None = None) -> None:
        """Answer a request that was met."""
        self._respond(request, {"success": True, "body": body or {}})

    def refuse(self, request: Body, why: str) -> None:
        """Answer a request that cannot be met."""
        error = {"id": 1, "format": "{why}", "variables": {"why": why}, "showUser": True}
        self._respond(request, {"success": False, "message": why, "body": {"error": error}})

    def _respond(self, request: Body, outcome: Body) -> None:
        command, seq = request.get("command", ""), request.get("seq", 0)
        self.send({"type": "response", "request_seq": seq, "command": command, **outcome})


# --- what a request was given --------------------------------------------------------------------


def arguments_of(request: Body) -> Body:
    """Return the arguments of a request.

    Raises:
        Refused: they are not an object.
    """
    return object_in(request, "arguments")


def object_in(body: Body, name: str) -> Body:
    """Return a JSON object, an empty one where it is missing; as :func:`text_in`."""
    return _given(body, name, dict, "a JSON object", None) if body.get(name) else {}


def text_in(body: Body, name: str, default: str | None = None) -> str:
    """Return a text; ``default`` where there is none, if that is not None.

    Raises:
        Refused: it is missing, or something else.
    """
    return _given(body, name, str, "a text", default)


def number_in(body: Body, name: str, default: int | None = None) -> int:
    """Return an integer; as :func:`text_in`."""
    return _given(body, name, int, "an integer", default)


def list_in(body: Body, name: str, kind: type) -> list[Any]:
    """Return a list of ``kind``, which may be missing; as :func:`text_in`."""
    called = f"a list of {'texts' if kind is str else 'objects'}"
    values = _given(body, name, list, called, None) if body.get(name) else []
    if not all(isinstance(entry, kind) for entry in values):
        raise Refused(f"'{name}' is not {called}")
    return values


def _given(body: Body, name: str, kind: type[T], called: str, default: T | None) -> T:
    value = body.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Refused(f"'{name}' is {'missing' if value is None else f'not {called}'}")
    return value
