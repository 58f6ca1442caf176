"""Files of recordings: whatever becomes of the process, the disk and the file, what was recorded is
read, or it is said what is wrong."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest

import autograd_core as torch
from gradstep.engines.recorded import RecordedCall
from gradstep.findings.report import report_on_recording
from gradstep.graph.statistics import statistics
from gradstep.recording import encoding, writing
from gradstep.recording.errors import RecordingError
from gradstep.recording.facts import CallFacts, Leaf, LeafFacts, StepFacts
from gradstep.recording.reading import FileRun
from gradstep.recording.run import graph_of
from gradstep.recording.schedule import Schedule
from gradstep.recording.writing import FileSink
from tests.recording.watched import HEADER, recording
from tests.waiting import let_pass

PROGRAM = """
import sys
import autograd_core as torch
from autograd_core import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(int(sys.argv[1])):
    sgd.zero_grad()
    loss = net(torch.ones(2, 3)).sum()
    loss.backward()
    sgd.step()
    print(step + 1, flush=True)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def command(script: Path, *options: str, steps: int = 10**6) -> list[str]:
    return [sys.executable, "-m", "gradstep", "record", *options, str(script), str(steps)]


def recorded(path: Path, steps: int = 12, **options: object) -> None:
    """Record a small program in this process."""
    net = torch.nn.Linear(3, 1)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    with recording(path, Schedule("all", **options)):  # type: ignore[arg-type]
        for _ in range(steps):
            sgd.zero_grad()
            (net(torch.ones(2, 3)) ** 2).sum().backward()
            sgd.step()


def read_all(path: Path) -> int:
    """Read all that a recording has; returns how many calls."""
    with FileRun(path) as run:
        _ = run.header, run.notes, run.warnings, run.leaves, run.training, run.incomplete
        list(run.events)
        for call in run.calls():
            run.of_leaves(call.index)
            flow = run.flow(call.index)
            if flow is not None:
                graph = graph_of(run, call.index)
                assert len(list(graph.nodes())) == len(graph)
                for number in range(len(flow.values)):
                    flow.values.array(number)
        for leaf in run.leaves:
            list(run.over_calls(leaf.number))
        run.source("train.py")
        return len(run.indices)


def killed(script: Path, path: Path, after: float) -> int:
    """Kill a program that is recorded ``after`` its first call has ended; returns how many calls it
    knows to have ended."""
    process = subprocess.Popen(
        command(script, "-o", str(path), "--values", "all", "--every", "2", "--budget", "none"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    let_pass(after)
    process.kill()
    ended = [first, *process.stdout.read().splitlines(keepends=True)]
    process.wait()
    return max(int(line) for line in ended if line.endswith("\n"))


def assert_survived(path: Path, ended: int) -> None:
    with FileRun(path) as run:
        assert not run.is_finished
        calls = list(run.calls())
        assert [call.index for call in calls] == [*range(1, len(calls) + 1)]
        assert len(calls) >= ended
        for call in calls[:ended]:
            assert call.is_finished
            assert len(run.of_leaves(call.index)) == 4
        assert sum(not call.is_finished for call in calls) <= 1
    read_all(path)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_finished_call_is_lost_where_the_process_is_killed(
    seed: int, script: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.gsr"
    assert_survived(path, killed(script, path, random.Random(seed).random() * 0.5))


@pytest.mark.slow
@pytest.mark.usefixtures("takes_minutes")
@pytest.mark.parametrize("first", range(0, 200, 10))
def test_no_finished_call_is_lost_in_200_kills(first: int, script: Path, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        path = tmp_path / f"{seed}.gsr"
        assert_survived(path, killed(script, path, random.Random(seed).random() * 2))


def test_an_interrupted_recording_is_read_in_a_folder_where_nobody_may_write(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "here" / "run.gsr"
    path.parent.mkdir()
    ended = killed(script, path, 0.1)
    before = sorted(os.listdir(path.parent))
    assert before == ["run.gsr", "run.gsr-shm", "run.gsr-wal"]
    os.remove(f"{path}-shm")
    with monkeypatch.context() as patch:  # root may write anywhere
        patch.setattr(os, "access", lambda *_: False)
        assert read_all(path) >= ended
    assert sorted(os.listdir(path.parent)) == ["run.gsr", "run.gsr-wal"]
    os.remove(f"{path}-wal")
    assert not capsys.readouterr().err
    for _ in range(2):
        with FileRun(path) as run:
            assert not run.is_finished
    assert capsys.readouterr().err.count("run.gsr-wal is not beside it; fetch that file") == 1


STORM = """
import os
import signal
import threading


def storm():
    while True:
        os.kill(os.getpid(), signal.SIGTERM)


threading.Thread(target=storm, daemon=True).start()
"""


def test_more_signals_do_not_end_a_recording_that_is_being_written(
    script: Path, tmp_path: Path
) -> None:
    # the scheduler of a cluster sends one to all processes, and torchrun passes its own on
    path = tmp_path / "run.gsr"
    script.write_text(f"{PROGRAM}    if step == 4:\n{indent(STORM, ' ' * 8)}")
    done = subprocess.run(
        command(script, "-o", str(path), "--when", "nan", "--keep", "3"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGTERM
    with FileRun(path) as run:
        assert run.notes == ["the run ended by SIGTERM"]


def test_sigterm_ends_a_recording_and_the_program(script: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    process = subprocess.Popen(
        command(script, "-o", str(path), "--when", "nan", "--keep", "3"), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(5):
        process.stdout.readline()
    process.terminate()
    process.stdout.read()
    assert process.wait() == -signal.SIGTERM
    assert sorted(os.listdir(tmp_path)) == ["run.gsr", "train.py"]
    with FileRun(path) as run:
        assert run.is_finished
        assert len(run.indices) == 3
        assert run.notes == ["the run ended by SIGTERM"]


def test_a_full_disk_ends_the_recording_and_not_the_program(script: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = subprocess.run(
        command(script, "-o", str(path), "--values", "all", "--call", "all", steps=60),
        capture_output=True, text=True, check=False, preexec_fn=bounded,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "60"
    assert done.stderr.count("the recording ends here") == 1
    assert 0 < read_all(path) < 60


def test_a_recording_that_is_written_is_read_as_it_was_when_it_was_opened(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.gsr"
    x = torch.ones(2, requires_grad=True)
    with recording(path, Schedule("stats", lambda number, kind: True)):
        (x * 2).sum().backward()
        with FileRun(path) as run:
            assert list(run.full) == [1]
            (x * 3 + torch.ones(2, requires_grad=True)).sum().backward()  # new structure and leaf
            assert read_all(path) == 2
            assert [call.index for call in run.calls()] == [1]
            assert len(run.leaves) == 1
    assert read_all(path) == 2


def test_a_name_that_is_no_text_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    sink = FileSink(path, HEADER)
    for number, name in enumerate(["\u00e9", "a\udc80"]):
        sink.add_leaf(Leaf(number, name, (4,), "float32", True))
    sink.add_end()
    with FileRun(path) as run:
        assert [leaf.name for leaf in run.leaves] == ["\u00e9", "a\\udc80"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "run.gsr"
    recorded(path)
    return path


def test_what_is_no_recording_is_told_apart(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    for data, said in [(b"", "is not a recording"), (b"x" * 5000, "is not a recording")]:
        path.write_bytes(data)
        with pytest.raises(RecordingError, match=said):
            FileRun(path)
    with pytest.raises(RecordingError, match="cannot read"):
        FileRun(tmp_path / "none.gsr")
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE meta (key)")
    with pytest.raises(RecordingError, match="a database, but not a recording"):
        FileRun(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "PRAGMA user_version = 4",
            "version 4; this gradstep reads versions up to 3; install a newer",
        ),
        ("CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM calls; END", "its tables"),
        ("CREATE VIEW v AS SELECT * FROM calls", "its tables"),
        ("DROP TABLE notes", "its tables"),
        ("DELETE FROM meta", "damaged"),
        ("UPDATE calls SET level = 'odd'", "damaged"),
        ("REPLACE INTO meta VALUES ('training', '[[], [], [99]]')", "leaves are missing"),
        ("REPLACE INTO meta VALUES ('training', '[[], [], [-1]]')", "damaged"),
        ("REPLACE INTO meta VALUES ('training', '[[], [], {}]')", "damaged"),
        ("REPLACE INTO meta VALUES ('training', '[[]]')", "damaged"),
        ("UPDATE calls SET structure = 77", "damaged"),
        ("UPDATE leaves SET leaf = leaf + 100", "leaves are missing"),
        ("UPDATE leaves SET shape = '[[[[1,'", "damaged"),
        ("UPDATE leaf_calls SET rms = x'00'", "damaged"),
        ("UPDATE structures SET document = x'00'", "damaged"),
        ("UPDATE flows SET facts = zeroblob(1000)", "damaged"),
        ("DELETE FROM tensors WHERE tensor = 1", "tensors of a call are missing"),
        ("UPDATE tensors SET stored = '|O8' WHERE stored IS NOT NULL", "no array is stored as"),
        ("UPDATE tensors SET shape = '[1000000000000]'", "damaged"),
        ("UPDATE chunks SET data = x'00'", "damaged"),
        ("UPDATE node_tensors SET tensor = 100000", "no node"),
        ("UPDATE edge_tensors SET tensor = -5", "no edge"),
    ],
)
def test_a_recording_that_is_wrong_somewhere_says_so(
    statement: str, said: str, sample: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.gsr"
    shutil.copyfile(sample, path)
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()
    with pytest.raises(RecordingError, match=said):
        read_all(path)


@pytest.mark.parametrize("number", [-2, 10**6])
@pytest.mark.parametrize("field", ["hooked", "captured", "deliveries"])
def test_a_step_that_names_no_tensor_of_its_call_is_refused(
    field: str, number: int, sample: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.gsr"
    shutil.copyfile(sample, path)
    with sqlite3.connect(path) as database:
        (index, packed), *_ = database.execute("SELECT call, facts FROM flows")
        facts = encoding.unpacked(packed, 10**6)
        place = StepFacts._fields.index(field)
        step = next(step for step in facts["steps"] if step[place] or field == "captured")
        step[place] = [[0, 0, 0, number, -1, -1]] if field == "deliveries" else [number]
        changed = encoding.packed(facts)
        database.execute("UPDATE flows SET facts = ? WHERE call = ?", [changed, index])
    database.close()
    with FileRun(path) as run, pytest.raises(RecordingError, match="leads nowhere"):
        RecordedCall(run, index)


def fuzzed(data: bytes, rng: random.Random) -> bytes:
    """Some bytes of a file changed, moved, left out, or more of them."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 3, 30, 300])):
        at = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                changed[at] = rng.randrange(256)
            case 1:
                start = rng.randrange(len(changed))
                changed[at : at + 64] = changed[start : start + 64]
            case 2:
                changed[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\1"])
            case 3:  # a page in place of another
                first, second = (rng.randrange(len(changed) // 4096) * 4096 for _ in range(2))
                changed[first : first + 4096] = changed[second : second + 4096]
    return bytes(changed[: rng.choice([len(changed)] * 5 + [rng.randrange(len(changed))])])


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 3000), marks=pytest.mark.slow)]
)
def test_a_damaged_file_is_read_or_refused(
    seeds: range, sample: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if len(seeds) > 100:
        request.getfixturevalue("takes_minutes")
    data = sample.read_bytes()
    path = tmp_path / "run.gsr"
    refused = 0
    for seed in seeds:
        path.write_bytes(fuzzed(data, random.Random(seed)))
        try:
            read_all(path)
            with FileRun(path) as run:
                report_on_recording(run, "run.gsr", ())
        except RecordingError:
            refused += 1
    assert refused > 5


def many(path: Path, calls: int, leaves: int, max_size: int) -> Iterator[None]:
    """Record calls of a net with many parameters, without a net."""
    sink = FileSink(path, HEADER, max_size)
    for number in range(leaves):
        sink.add_leaf(Leaf(number, f"{number}.weight", (4,), "float32", True))
    part = statistics(np.arange(4.0))
    facts = [LeafFacts(number, None, part, None, 77, 1.0, 0.1, "sgd") for number in range(leaves)]
    for index in range(1, calls + 1):
        call = CallFacts(
            index, "backward", index, None, "leaves", loss=1.0, is_troubled=index == 100
        )
        sink.add_begun(call)
        sink.add_ended(call, facts, None)
        yield
    sink.add_end()


@pytest.mark.parametrize(
    ("calls", "leaves", "size"),
    [(1500, 20, 400_000), pytest.param(100_000, 500, 2 << 30, marks=pytest.mark.slow)],
)
def test_older_calls_are_thinned(
    calls: int,
    leaves: int,
    size: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writing, "_PAUSE", 10.0)  # on a fast machine, many calls wait
    if calls > 10_000:
        request.getfixturevalue("takes_minutes")
    path = tmp_path / "run.gsr"
    for _ in many(path, calls, leaves, size):
        assert os.path.getsize(path) < 1.2 * size + 100_000
    with FileRun(path) as run:
        kept = [call.index for call in run.calls() if call.level == "leaves"]
        assert len(run.indices) == calls
        assert {1, 100, calls} <= set(kept)
        assert "only the line, the loss and the time were kept of" in run.notes[0]
        gaps = np.diff(kept)
        assert gaps.max() < calls / 4  # not only the newest
        assert [index for index, _ in run.over_calls(3)] == kept
