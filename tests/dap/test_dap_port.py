"""Who is served on a port, and who is not: what ``docs/security.rst`` says under "What listens"."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE
from threading import Thread
from typing import Any, NamedTuple

import pytest

from gradstep.dap.port import LOCAL, new_secret
from gradstep.dap.process import Meeting, accepted, connect
from tests.dap.editor import DAP, Editor, Failed, start
from tests.viz.browser import Browser

PROGRAM = """\
import sys, autograd_core as torch
x = torch.ones(2, requires_grad=True)
(x * 3).sum().backward()
print("grad", x.grad.tolist(), sys.argv[1:])
"""
STRANGERS = 100  # more than are let wait


class Served(NamedTuple):
    """A port on which a gradstep of a test's own serves editors from ``folder``."""

    number: int
    secret: str
    folder: Path

    @property
    def canary(self) -> Path:
        """A file that :meth:`launch` leaves where a stranger is obeyed."""
        return self.folder / "obeyed"

    def launch(self, **shown: Any) -> bytes:
        """A request that runs a command of a stranger's."""
        arguments = {"program": "x.py", "python": str(self.folder / "obey"), **shown}
        return request("launch", arguments)

    def hear(self, text: bytes) -> bytes:
        """Send ``text`` on a connection of its own; what came back until that was closed."""
        with connected(self.number) as connection:
            with suppress(ConnectionError):
                connection.sendall(text)
            return rest(connection)

    def run(self, **attributes: Any) -> str:
        """Debug a program to its end; what it has printed."""
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        with connected(self.number) as connection:
            editor = Editor(connection.makefile("wb"), connection.makefile("rb"))
            editor.begin(program, secret=self.secret, **attributes)
            assert editor.end() == 0
            editor.event("terminated")
            return editor.printed()


def connected(port: int) -> socket.socket:
    return socket.create_connection((LOCAL, port))


def request(command: str, arguments: Any = None) -> bytes:
    text = json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments})
    return framed(text.encode())


def framed(text: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)


def rest(connection: socket.socket) -> bytes:
    """What comes until a connection is closed."""
    came = b""
    with suppress(ConnectionError):  # closed before it had read everything
        while part := connection.recv(65536):
            came += part
    return came


def messages(text: bytes) -> list[dict[str, Any]]:
    found = []
    while text:
        header, _, text = text.partition(b"\r\n\r\n")
        length = int(header.removeprefix(b"Content-Length: "))
        found.append(json.loads(text[:length]))
        text = text[length:]
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One process for all tests: none of them may leave it in another state."""
    folder = tmp_path_factory.mktemp("served")
    obey = folder / "obey"
    obey.write_text(f"#!/bin/sh\ntouch '{folder}/obeyed'\n")
    obey.chmod(0o755)
    process = start(folder, "--port", "0")
    assert process.stdout is not None
    assert process.stderr is not None
    port, secret = (process.stdout.readline().decode().split()[-1] for _ in range(2))
    yield Served(int(port.rpartition(":")[2]), secret, folder)
    process.terminate()
    assert process.wait() == -signal.SIGTERM
    assert process.stderr.read() == b""


@pytest.fixture
def served(server: Served) -> Iterator[Served]:
    yield server
    assert not server.canary.exists()


def test_editors_that_show_the_secret_are_served(served: Served) -> None:
    # one after the other, and two at the same time
    for _ in range(2):
        assert served.run(args=["a"]) == "grad [3.0, 3.0] ['a']\n"
    with connected(served.number) as connection:
        editor = Editor(connection.makefile("wb"), connection.makefile("rb"))
        editor.begin(served.folder / "program.py", secret=served.secret)
        assert served.run() == "grad [3.0, 3.0] []\n"
        assert editor.frames() == ["#1 sum:1"]
        with pytest.raises(Failed, match="the request is launch"):
            editor.ask("attach")
        assert editor.end() == 0


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="ctrl+c is ignored in the background"
)
def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with start(tmp_path, "--port", "0") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"gradstep listens on 127.0.0.1:")
        assert process.stdout.readline().startswith(b"secret: ")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_a_port_that_is_taken_is_refused_in_one_line(served: Served, tmp_path: Path) -> None:
    with start(tmp_path, "--port", f"{served.number}") as process:
        assert process.stderr is not None
        assert process.stderr.read().decode() == (
            f"gradstep: cannot listen on port {served.number}: address already in use; choose "
            "another, or 0 for a free one\n"
        )
        assert process.wait() == 2


def test_attach_shows_the_secret_too(served: Served) -> None:
    with connected(served.number) as connection:
        editor = Editor(connection.makefile("wb"), connection.makefile("rb"))
        with pytest.raises(Failed, match="the request launch starts one"):
            editor.ask("attach", secret=served.secret)
        with pytest.raises(Failed, match="no program runs"):
            editor.ask("threads")


def test_the_secret_is_a_new_one_each_time(served: Served) -> None:
    assert len(served.secret) == 32
    assert len({served.secret, *(new_secret() for _ in range(100))}) == 101


LAUNCH = b'{"seq": 1, "type": "request", "command": "launch", "arguments": {"program": "x.py"}}'
HTTP = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%b"
NOT_ANSWERED = {
    "HTTP": HTTP % (b"/", len(LAUNCH), LAUNCH),
    "HTTP with a colon": HTTP % (b"/a:b", len(LAUNCH), LAUNCH),
    "a message in HTTP": HTTP % (b"/a:b", len(framed(LAUNCH)), framed(LAUNCH)),
    "HTTP without a body": b"GET /a:b HTTP/1.1\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03:\n",
    "another header": b"Host: x\r\n" + framed(LAUNCH),
    "a header behind it": b"Content-Length: 2\r\nHost: x\r\n\r\n{}",
    "a name that is no token": b"Content-Length : 2\r\n\r\n{}",
    "a line that is no header": b"Content-Length\r\n\r\n{}",
    "two lengths": b"Content-Length: 2\r\n" + framed(LAUNCH),
    "no header": b"\r\n" + framed(LAUNCH),
    "no length": b"Content-Type: application/json\r\n\r\n{}",
    "a negative length": b"Content-Length: -2\r\n\r\n{}",
    "a length that is no number": b"Content-Length: 0x2\r\n\r\n{}",
    "a long line": b"Content-Length: " + b"0" * 5000,
    "a long body": b"Content-Length: %d\r\n\r\n{" % (2**20 + 1),
    "no JSON": framed(b"{"),
    "JSON that is deep": framed(b"[" * 100_000),
    "no object": framed(b"[]"),
    "no request": framed(b"{}"),
    "an event": framed(LAUNCH.replace(b'"request"', b'"event"')),
    "a response": framed(LAUNCH.replace(b'"request"', b'"response"')),
} | {
    command: request(command, {"secret": "x"})
    for command in ("threads", "evaluate", "restart", "terminate", "disconnect", "setBreakpoints",
                    "configurationDone", "cancel", "runInTerminal", "INITIALIZE", "")
}  # fmt: skip


def test_nothing_else_is_answered_before_the_secret_was_shown(served: Served) -> None:
    for name, text in NOT_ANSWERED.items():
        assert served.hear(text + served.launch(secret=served.secret)) == b"", name
    assert served.run() == "grad [3.0, 3.0] []\n"


def test_a_wrong_secret_ends_the_connection(served: Served) -> None:
    right = served.secret
    wrong: list[Any] = ["", "x", right[:-1], right + "0", right.upper() + "G", 1, [right], None,
                        {"secret": right}, "\ud800", "é" * 32]  # fmt: skip
    asked = [served.launch(secret=shown) for shown in wrong]
    asked += [served.launch(), request("launch"), request("launch", [right])]
    asked += [request("attach"), request("attach", {"secret": "x"})]
    for text in asked:
        # the right one comes too late
        hello, refusal = messages(
            served.hear(request("initialize") + text + served.launch(secret=right))
        )
        assert hello["success"] is True
        assert hello["body"]["supportsStepBack"] is True
        assert refusal["success"] is False
        assert refusal["message"] == (
            "'secret' is missing or wrong: give the one that gradstep dap --port printed; this "
            "connection is closed"
        )


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "text",
    [b"", b"Content-Le", b"Content-Length: 5\r\n", b"Content-Length: 1000000\r\n\r\n{",
     request("initialize")],
    ids=["silent", "in a line", "in a header", "in a body", "behind initialize"],
)  # fmt: skip
def test_connections_that_only_wait_keep_nobody_out(text: bytes, served: Served) -> None:
    with connected(served.number) as connection:
        editor = Editor(connection.makefile("wb"), connection.makefile("rb"))
        program = served.folder / "program.py"
        program.write_text(PROGRAM)
        editor.begin(program, secret=served.secret)
        strangers = [connected(served.number) for _ in range(STRANGERS)]
        for stranger in strangers:
            with suppress(ConnectionError):
                stranger.sendall(text)
        assert served.run() == "grad [3.0, 3.0] []\n"
        for stranger in strangers[: STRANGERS // 2]:  # the oldest had to go
            rest(stranger)
        assert editor.end() == 0
        for stranger in strangers:
            stranger.close()


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an address of Linux")
def test_it_takes_connections_from_this_machine_only(served: Served) -> None:
    """A listener at every address would be at this one, too."""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", served.number))


# --- a web page ----------------------------------------------------------------------------------

Heard = tuple[bytearray, bytearray]
"""What a client and a server have sent."""


@pytest.fixture
def relay(served: Served) -> Iterator[tuple[int, list[Heard]]]:
    """A port behind which ``served`` is, and what was sent through it, by connections."""
    heard: list[Heard] = []

    def carry(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                kept += part
                target.sendall(part)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def serve(client: socket.socket) -> None:
        sent, answered = bytearray(), bytearray()
        heard.append((sent, answered))
        with client, connected(served.number) as server:
            forth = Thread(target=carry, args=[client, server, sent], daemon=True)
            forth.start()
            carry(server, client, answered)
            forth.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()

    with socket.create_server((LOCAL, 0)) as listener:
        Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1], heard
        listener.shutdown(socket.SHUT_RDWR)


PAGE = """
const site = "127.0.0.1:" + PORT;
const post = (path, body) =>
  fetch("http://" + site + path, {mode: "no-cors", method: "POST", body});
const until = (thing, how) => new Promise(done => {
  thing.onerror = done;
  how?.(thing);
});
return Promise.allSettled([
  post("/a:b", LAUNCH),
  post("/Content-Length:", MESSAGE),
  post("/", MESSAGE),
  until(new WebSocket("ws://" + site + "/a:b")),
  until(new Image(), image => { image.src = "http://" + site + "/a:b"; }),
]).then(settled => settled.map(each => each.status));
"""


def test_a_web_page_is_not_heard(
    served: Served, relay: tuple[int, list[Heard]], browser: Browser
) -> None:
    port, heard = relay
    page = served.folder / "page.html"
    page.write_text("<!DOCTYPE html><title>a page</title>")
    message = served.launch().decode()
    words = {"PORT": port, "MESSAGE": message, "LAUNCH": message.partition("\r\n\r\n")[2]}
    script = "".join(f"const {name} = {json.dumps(word)};" for name, word in words.items()) + PAGE
    told = browser.say(page, script)
    assert told == ["rejected"] * 3 + ["fulfilled"] * 2
    sent = [bytes(each) for each, _ in heard]
    assert [bytes(answered) for _, answered in heard if answered] == []
    lines = {each.partition(b"\r\n")[0] for each in sent if each}
    assert lines == {b"POST /a:b HTTP/1.1", b"POST /Content-Length: HTTP/1.1", b"POST / HTTP/1.1",
                     b"GET /a:b HTTP/1.1"}  # fmt: skip
    assert b'"command": "launch"' in b"".join(sent)
    assert served.run() == "grad [3.0, 3.0] []\n"


# --- the port between an adapter and its program -------------------------------------------------


def test_a_program_and_its_adapter_show_each_other_a_secret() -> None:
    with socket.create_server((LOCAL, 0)) as listener:
        port = listener.getsockname()[1]
        meeting = Meeting(port, new_secret(), new_secret())
        came: list[socket.socket | None] = []
        adapter = Thread(target=lambda: came.append(accepted(listener, meeting)))
        adapter.start()
        silent = [connected(port) for _ in range(STRANGERS)]
        for wrong in (b"", b"x" * 32, meeting.program_secret[:-1].encode(),
                      meeting.adapter_secret.encode()):  # fmt: skip
            with connected(port) as stranger:
                stranger.sendall(wrong)
                stranger.shutdown(socket.SHUT_WR)
                assert rest(stranger) == b""
        channel = connect(meeting)
        adapter.join()
        assert came[0] is not None
        channel.event("here")
        assert came[0].recv(7) == b"Content"
        for each in (*silent, came[0]):
            each.close()


def test_a_program_obeys_no_other_user_who_has_its_port_now(tmp_path: Path) -> None:
    with socket.create_server((LOCAL, 0)) as listener:
        meeting = Meeting(listener.getsockname()[1], new_secret(), new_secret())
        file = meeting.written_to(tmp_path)
        with subprocess.Popen([*DAP, "--serve", str(file)], stderr=subprocess.PIPE) as program:
            connection, _ = listener.accept()
            with connection:
                shown = connection.recv(len(meeting.program_secret), socket.MSG_WAITALL)
                connection.sendall(shown + request("launch", {"program": __file__}))
                assert rest(connection) == b""
            assert program.stderr is not None
            assert program.stderr.read() == b"gradstep: the editor that started this has gone\n"
            assert program.wait() == 2


def test_the_file_with_the_secrets_is_for_this_user_only(tmp_path: Path) -> None:
    process = start(tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor(process.stdin, process.stdout)
    editor.ask("initialize", supportsRunInTerminalRequest=True)
    editor.send("launch", program="x.py", console="integratedTerminal")
    while (asked := editor._next()).get("command") != "runInTerminal":
        pass
    file = Path(asked["arguments"]["args"][-1])
    _, *shown = Meeting.read(file)
    assert S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not any(secret in json.dumps(asked) for secret in shown)
    process.stdin.close()
    assert process.wait() == 0
    assert not file.parent.exists()
