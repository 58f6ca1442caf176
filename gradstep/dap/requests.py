"""What each request of an editor does: looks at a session, changes it, or has it moved."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from gradstep.console.console import DEFECT
from gradstep.console.printing import answer
from gradstep.console.session import Session
from gradstep.dap.launch import Launch, read_launch
from gradstep.dap.protocol import (
    Body,
    Channel,
    Refused,
    arguments_of,
    list_in,
    number_in,
    object_in,
    text_in,
)
from gradstep.dap.stops import Stops
from gradstep.dap.views import Views, files_of, same_file
from gradstep.debugger.breakpoints import Reached
from gradstep.debugger.displays import read_expression, subject_at
from gradstep.debugger.errors import ExpressionError, StepLost, Unanswerable
from gradstep.debugger.snapshot import Leave, Value
from gradstep.graph.addresses import node_text, step_number
from gradstep.program.calls import call_title
from gradstep.recording.errors import RecordingError

PROGRAM: Final = 1
"""The thread that the program is while no pass runs."""
_THREADS_OF_CALL: Final = 1000  # more passes than ever run inside each other


class Move(NamedTuple):
    """A move that a request asks for. ``goes_on`` after what interrupted it; ``leaves`` the pass
    where nothing is left to run."""

    name: str
    go: Callable[[Session], None]
    goes_on: bool = False
    leaves: bool = False


def _continue(session: Session) -> None:
    """Run to the next stop, and out of passes inside others that end before one."""
    session.continue_()
    while len(session.frames) > 1 and _has_run_out(session):
        session.continue_()


def _has_run_out(session: Session) -> bool:
    is_stop = session.reason != session.cursor.reason
    return session.position == session.length and not is_stop and session.cursor.error is None


CONTINUE: Final = Move("continue", _continue, goes_on=True, leaves=True)
_MOVES: Final = {
    "next": Move("next", Session.next, leaves=True),
    "stepIn": Move("step", Session.step, leaves=True),
    "stepOut": Move("finish", Session.out, goes_on=True, leaves=True),
    "stepBack": Move("reverse-next", Session.back),
    "continue": CONTINUE,
    "reverseContinue": Move("reverse-continue", Session.reverse_continue, goes_on=True),
}
_INSIDE: Final = {"next": Session.step, "stepIn": Session.step, "stepBack": Session.step_back}


class Requests:
    """Answers requests on ``channel``.

    Attributes:
        launch: what to run; None until it is known.
        ready: set once the program is to run, or never will.
        session: the pass that is open, None where none is.
        move: what the session is to do; set by a request.
        leave: how the pass is to be left, "" where it is not.
        wants_stop: whether to stop as soon as can be.
        is_detached: whether to stop no more.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._client: Body = {}
        self.stops = Stops()
        self.launch: Launch | None = None
        self.ready = Event()
        self.session: Session | None = None
        self.move: Move | None = None
        self.leave: Leave = ""
        self.wants_stop = False
        self.is_detached = False
        self._views: Views | None = None  # None while the program runs
        self._calls = 0
        self._cancelled: set[object] = set()
        self._afterwards: list[Callable[[], None]] = []
        self._answers: dict[str, Callable[[Body], Body | None]] = {
            "initialize": self._initialize,
            "launch": self._launch,
            "attach": self._attach,
            "configurationDone": self._configuration_done,
            "disconnect": self._detach,
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": partial(self._set_all, self.stops.set_functions),
            "setDataBreakpoints": partial(self._set_all, self.stops.set_data),
            "setExceptionBreakpoints": lambda arguments: {
                "breakpoints": self.stops.set_exceptions(arguments)
            },
            "breakpointLocations": self._breakpoint_locations,
            "dataBreakpointInfo": self._data_breakpoint_info,
            "exceptionInfo": self._exception_info,
            "threads": self._threads,
            "stackTrace": self._stack_trace,
            "scopes": self._scopes,
            "variables": self._variables,
            "setVariable": self._set_variable,
            "evaluate": self._evaluate,
            "completions": self._completions,
            "loadedSources": self._loaded_sources,
            "source": self._source,
            "pause": self._pause,
            "cancel": self._cancel,
            "gotoTargets": self._goto_targets,
            "goto": self._goto,
            "restartFrame": self._restart_frame,
        }

    def handle(self, request: Body) -> None:
        """Meet a request, or say why it cannot be met."""
        command, self._afterwards = str(request.get("command", "")), []
        try:
            if request.get("seq") in self._cancelled:
                self._cancelled.discard(request["seq"])
                raise Refused("cancelled")
            arguments = arguments_of(request)
            body: Body | None
            if command in _MOVES:
                body = self._move(command, arguments)
            elif command in self._answers:
                body = self._answers[command](arguments)
            else:
                raise Refused(f"gradstep has no answer to the request '{command}'")
        except Refused as refusal:
            self._channel.refuse(request, str(refusal))
        except (StepLost, RecordingError, Unanswerable, ExpressionError) as error:
            self._channel.refuse(request, str(error))
        except Exception as error:  # our own mistake must not end the user's program
            self._channel.refuse(request, f"{DEFECT}: {type(error).__name__}: {error}")
        else:
            self._channel.answer(request, body)
        for follow in self._afterwards:
            follow()

    # the program, and its passes

    def begin(self, session: Session) -> None:
        """A pass opens."""
        self._calls += 1
        self.session, self._views, self.move, self.leave = session, None, None, ""
        for told in self.stops.place(files_of(session.graph)):
            self._channel.event("breakpoint", reason="changed", breakpoint=told)
        self._channel.event("thread", reason="started", threadId=self._thread)

    def end(self) -> None:
        """The pass is over, or goes on alone."""
        self._channel.event("thread", reason="exited", threadId=self._first_thread)
        self.session, self._views = None, None

    def moves(self) -> None:
        """The session moves: what was shown of it holds no longer."""
        self._views, self.move, self.wants_stop = None, None, False

    def stopped(self, reason: str, reached: Reached | None = None) -> None:
        """Tell that the session has stopped, and why."""
        session = self._session()
        error = session.cursor.error
        self.tell_messages()
        self.wants_stop = False
        self._views = Views(session, reads_texts=self._reads_texts)
        body: Body = {"threadId": self._thread, "allThreadsStopped": True}
        if reached is not None:
            reason = self.stops.reason(reached)
            body["hitBreakpointIds"] = [reached.point.number]
        elif error is not None:
            reason = "exception"
        text = session.reason
        if reached is not None:  # a line goes by the name of its file
            text = text.replace(reached.point.text, Path(reached.point.text).name)
        if text:
            body |= {"description": text, "text": text}
        self._channel.event("stopped", reason=reason, **body)

    def tell_messages(self) -> None:
        """Write what logpoints have said."""
        for message in self._session().breakpoints.take_messages():
            self._channel.event("output", category="console", output=f"{message}\n")

    @property
    def shows_progress(self) -> bool:
        """Whether the editor shows how far a long move is."""
        return self._client.get("supportsProgressReporting") is True

    @property
    def _reads_texts(self) -> bool:
        return self.launch is not None and self.launch.target.is_recording

    def _session(self) -> Session:
        if self.session is None:
            raise Refused("no backward pass is open: the program is running")
        return self.session

    def _stopped(self) -> tuple[Session, Views]:
        """Return the session and what is shown of it.

        Raises:
            Refused: the program runs.
        """
        if self.session is None or self._views is None:
            raise Refused("the program is running: pause it first")
        return self.session, self._views

    @property
    def _first_thread(self) -> int:
        return self._calls * _THREADS_OF_CALL

    @property
    def _thread(self) -> int:
        """The thread that the pass in view is."""
        return self._first_thread + len(self._session().frames) - 1

    # the beginning and the end

    def _initialize(self, arguments: Body) -> None:
        self._client = arguments
        self.stops.first_line = 0 if arguments.get("linesStartAt1") is False else 1

    def _line(self, line: int) -> int:
        """Return a line as the editor counts."""
        return line - 1 + self.stops.first_line

    def _launch(self, arguments: Body) -> None:
        if self.launch is not None:
            raise Refused("a program is already running")
        try:
            self.launch = read_launch(arguments)
        except Refused:
            self._afterwards.append(self.ready.set)
            raise
        self._afterwards.append(lambda: self._channel.event("initialized"))

    def _attach(self, _: Body) -> None:
        raise Refused("gradstep starts the program itself: the request is launch")

    def _configuration_done(self, _: Body) -> None:
        self._afterwards.append(self.ready.set)

    def _detach(self, _: Body) -> None:
        self.is_detached, self.leave = True, "detach"

    # breakpoints

    def _set_breakpoints(self, arguments: Body) -> Body:
        source = object_in(arguments, "source")
        path = text_in(source, "path", "") or text_in(source, "name")
        return {"breakpoints": self.stops.set_lines(path, list_in(arguments, "breakpoints", dict))}

    @staticmethod
    def _set_all(set_points: Callable[[list[Body]], list[Body]], arguments: Body) -> Body:
        return {"breakpoints": set_points(list_in(arguments, "breakpoints", dict))}

    def _nodes_at(self, arguments: Body) -> list[tuple[int, int]]:
        """Return the nodes that lines of a file made, as pairs of line and index."""
        session = self._session()
        path = text_in(object_in(arguments, "source"), "path")
        file = same_file(path, files_of(session.graph))
        first = number_in(arguments, "line")
        last = number_in(arguments, "endLine", first)
        sources = session.graph.sources.items()
        return [
            (at.line, index)
            for index, at in sources
            if at.file == file and first <= self._line(at.line) <= last and index < session.length
        ]

    def _breakpoint_locations(self, arguments: Body) -> Body:
        lines: set[int] = set()
        if self.session is not None:  # before a pass, every line may be one
            lines = {line for line, _ in self._nodes_at(arguments)}
        return {"breakpoints": [{"line": self._line(line)} for line in sorted(lines)]}

    def _data_breakpoint_info(self, arguments: Body) -> Body:
        name = text_in(arguments, "name")
        place = ""
        if reference := number_in(arguments, "variablesReference", 0):
            place = self._stopped()[1].find(reference, name).place
        elif self.session is not None:
            place = name.removesuffix(".grad")
        if not place:
            return {"dataId": None, "description": f"{name} does not change within a pass"}
        return {
            "dataId": place,
            "description": name if reference == 0 else f"{name} of {place}",
            "accessTypes": ["write"],
            "canPersist": not place.startswith("#"),
        }

    def _exception_info(self, _: Body) -> Body:
        session, _views = self._stopped()
        error, last = session.cursor.error, session.breakpoints.last
        name = type(error).__name__ if error is not None else last.point.condition if last else ""
        return {"exceptionId": name, "description": session.reason, "breakMode": "always"}

    # what is to be seen

    def _threads(self, _: Body) -> Body:
        session = self.session
        if session is None:
            return {"threads": [{"id": PROGRAM, "name": "the program"}]}
        names = [call_title(session.kind, session.call)]
        names += [frame.title for frame in session.frames[1:]]
        first = self._first_thread
        return {"threads": [{"id": first + n, "name": name} for n, name in enumerate(names)]}

    def _stack_trace(self, arguments: Body) -> Body:
        session, views = self._stopped()
        start, levels = number_in(arguments, "startFrame", 0), number_in(arguments, "levels", 0)
        thread = number_in(arguments, "threadId")
        depth = thread - self._first_thread
        if not 0 <= depth < len(session.frames):
            raise Refused(f"there is no thread {thread}")
        if depth < len(session.frames) - 1:
            outer = session.frames[depth]
            name = f"{step_number(outer.position)}, inside which another pass runs"
            frame: Body = {"id": -1 - depth, "name": name, "line": 0, "column": 0}
            return {"stackFrames": [frame][start:], "totalFrames": 1}
        frames, known = views.frames(max(start, 0), max(levels, 0))
        for frame in frames:
            if frame["line"]:
                frame["line"] = self._line(frame["line"])
        return {"stackFrames": frames} | ({} if known is None else {"totalFrames": known})

    def _scopes(self, arguments: Body) -> Body:
        frame = number_in(arguments, "frameId")
        return {"scopes": [] if frame < 0 else self._stopped()[1].scopes(frame)}

    def _variables(self, arguments: Body) -> Body:
        _, views = self._stopped()
        rows = views.variables(number_in(arguments, "variablesReference"))
        if arguments.get("filter") == "indexed":  # none are told to be
            rows = []
        start, count = number_in(arguments, "start", 0), number_in(arguments, "count", 0)
        chosen = rows[max(start, 0) :][: count or None]
        return {"variables": [views.body(variable) for variable in chosen]}

    def _set_variable(self, arguments: Body) -> Body:
        _, views = self._stopped()
        name, text = text_in(arguments, "name"), text_in(arguments, "value")
        reference = number_in(arguments, "variablesReference")
        variable = views.find(reference, name)
        if variable.change is None:
            raise Refused(
                f"{name} cannot be changed: only what arrives at a node that has not run, and the "
                ".grad of a leaf that has"
            )
        variable.change(text)
        self._changed()
        if not variable.expression:  # one number
            return {"value": text}
        return views.body(views.find(reference, name))

    def _changed(self) -> None:
        """A gradient was changed: what the editor shows of it may be old."""
        if self._client.get("supportsInvalidatedEvent") is True:
            areas = ["variables"]
            self._afterwards.append(lambda: self._channel.event("invalidated", areas=areas))

    def _loaded_sources(self, _: Body) -> Body:
        if self.session is None:
            return {"sources": []}
        views = self._views or Views(self.session, reads_texts=self._reads_texts)
        return {"sources": [views.source(file) for file in views.files]}

    def _source(self, arguments: Body) -> Body:
        number = number_in(arguments, "sourceReference", 0)
        files = files_of(self._session().graph)
        if not 1 <= number <= len(files):
            raise Refused("there is no such source")
        lines = linecache.getlines(files[number - 1])
        if not lines:
            raise Refused(f"the recording has no text of {Path(files[number - 1]).name}")
        return {"content": "".join(lines), "mimeType": "text/x-python"}

    # the language

    def _evaluate(self, arguments: Body) -> Body:
        session, views = self._stopped()
        text, frame = text_in(arguments, "expression"), number_in(arguments, "frameId", 0)
        if text_in(arguments, "context", "repl") == "repl":
            return self._command(session, text)
        index = frame - 1 if 0 < frame <= session.length else session.selected
        expression = read_expression(session.inspector, text)
        value = expression.value(subject_at(session.inspector, index))
        if expression.kind == "tensor" and isinstance(value, Value):
            shown = views.body(views.evaluated(text, value))
            return {"result": shown.pop("value"), **shown}
        return {"result": answer(expression, value), "variablesReference": 0}

    def _command(self, session: Session, line: str) -> Body:
        """Carry out a line of the command language."""
        before, edits = place_of(session), session.edit.records
        self.wants_stop = False
        reply = session.reply(line)
        self.tell_messages()
        if reply.error:
            raise Refused(reply.text)
        self.leave = reply.leave
        self.is_detached |= reply.leave == "detach"
        if session.edit.records != edits:
            self._changed()
        if not reply.leave and place_of(session) != before:
            reached = session.breakpoints.take_reached()
            self._afterwards.append(lambda: self.stopped("step", reached))
        return {"result": reply.text, "variablesReference": 0}

    def _completions(self, arguments: Body) -> Body:
        session = self._session()
        text = text_in(arguments, "text")
        column = number_in(arguments, "column")
        column -= 0 if self._client.get("columnsStartAt1") is False else 1
        word = text[:column].split(" ")[-1]
        start = column - len(word)
        return {
            "targets": [
                {"label": label, "start": start, "length": len(word)}
                for label in session.complete(text, column)
            ]
        }

    # moving

    def _move(self, command: str, arguments: Body) -> Body:
        session, _ = self._stopped()
        if command == "stepOut" and session.position < session.length and not session.module():
            raise Refused(
                f"{step_number(session.position)} is in no module: there is no end to run to"
            )
        move = _MOVES[command]
        if arguments.get("granularity") == "instruction" and command in _INSIDE:
            move = move._replace(go=_INSIDE[command])
        self.move = move
        return {"allThreadsContinued": True} if command == "continue" else {}

    def _pause(self, _: Body) -> None:
        self.wants_stop = True

    def _cancel(self, arguments: Body) -> None:
        if text_in(arguments, "progressId", ""):
            self.wants_stop = True
        self._cancelled.discard(number_in(arguments, "requestId", 0))  # it was met before

    def note(self, request: Body) -> None:
        """Take note of a request that waits: one that is to cancel another comes before it."""
        arguments = request.get("arguments")
        if request.get("command") == "cancel" and isinstance(arguments, dict):
            self._cancelled.add(arguments.get("requestId"))

    def _goto_targets(self, arguments: Body) -> Body:
        graph = self._stopped()[0].graph
        targets: list[Body] = [
            {
                "id": index + 1,
                "label": node_text(graph, index),
                "line": self._line(line),
            }
            for line, index in sorted(self._nodes_at(arguments), key=lambda pair: pair[1])
        ]
        return {"targets": targets}

    def _goto(self, arguments: Body) -> None:
        self._jump(number_in(arguments, "targetId"), "goto")

    def _restart_frame(self, arguments: Body) -> None:
        self._jump(number_in(arguments, "frameId"), "restart")

    def _jump(self, number: int, name: str) -> None:
        session, _ = self._stopped()
        if not 1 <= number <= session.length:
            raise Refused(f"there is no node {number}")
        self.move = Move(name, lambda session: session.jump(number - 1))


def place_of(session: Session) -> tuple[int, int, int]:
    """Return where a session stands: in which pass, at which node, and how far inside it."""
    return len(session.frames), session.position, session.cursor.phase
