"""No recording takes the place of a file: one that is there is renamed, and the program goes on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import autograd_core as torch
import gradstep
from gradstep.recording import claiming, writing
from gradstep.recording.claiming import Claimed, claim, place_at
from gradstep.recording.errors import RecordingError
from gradstep.recording.facts import CallFacts
from gradstep.recording.reading import FileRun
from gradstep.recording.writing import FileSink
from gradstep_tui.cli import main
from tests.recording.watched import HEADER

Captured = pytest.CaptureFixture[str]
SCRIPT = """\
import sys
import autograd_core as torch
for number in range(int(sys.argv[1])):
    x = torch.tensor(2.0, requires_grad=True)
    (x * (float("nan") if sys.argv[2:] else 1.0)).backward()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT)
    Path("nothing.py").write_text("")
    return tmp_path


def recorded(*options: str, calls: int = 1, sick: bool = False) -> int:
    return main(["record", *options, "train.py", str(calls), *(["nan"] if sick else [])])


def count(path: str | Path) -> int:
    with FileRun(Path(path)) as run:
        return len(run.indices)


def begun(path: Path, calls: int = 1) -> FileSink:
    """Begin a recording as a process does that is killed before its end."""
    sink = FileSink(path, HEADER)
    for number in range(calls):
        sink.add_ended(CallFacts(number + 1, "backward", number + 1, None, "leaves"), [], None)
    return sink


def recordings() -> list[str]:
    return sorted(name for name in os.listdir() if ".gsr" in name)


@pytest.mark.usefixtures("folder")
def test_a_recording_that_is_there_is_renamed_and_the_user_told(capsys: Captured) -> None:
    for number in (3, 2, 1):
        assert recorded(calls=number) == 0
    assert [count(name) for name in ("run.1.gsr", "run.2.gsr", "run.gsr")] == [3, 2, 1]
    assert recordings() == ["run.1.gsr", "run.2.gsr", "run.gsr"]
    err = capsys.readouterr().err
    assert "gradstep: the recording that was in run.gsr is now run.1.gsr\n" in err
    assert "gradstep: the recording that was in run.gsr is now run.2.gsr\n" in err
    with gradstep.record():
        torch.tensor(2.0, requires_grad=True).backward()
    assert count("run.3.gsr") == 1


@pytest.mark.parametrize("killed", [False, True])
def test_what_an_interrupted_recording_has_beside_it_goes_along(
    killed: bool, tmp_path: Path
) -> None:
    path, aside = tmp_path / "run.gsr", tmp_path / "run.1.gsr"
    script = (
        "import os, sys; from pathlib import Path\n"
        "from tests.recording.test_kept_recordings import begun\n"
        f"sink = begun(Path({str(path)!r}), 5)\n"
        f"os.kill(os.getpid(), 9) if {killed} else sink.add_end()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False, cwd=Path(__file__).parents[2])
    assert Path(f"{path}-wal").exists() == killed
    begun(path, 2).add_end()
    assert sorted(os.listdir(tmp_path)) == (
        ["run.1.gsr", "run.1.gsr-shm", "run.1.gsr-wal", "run.gsr"]
        if killed
        else ["run.1.gsr", "run.gsr"]
    )
    assert (count(aside), count(path)) == (5, 2)


def test_what_lies_beside_a_recording_that_is_gone_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "run.gsr-wal"
    log.write_bytes(b"the last calls of a recording that somebody has moved")
    begun(tmp_path / "run.gsr").add_end()
    assert (tmp_path / "run.1.gsr-wal").read_bytes().startswith(b"the last calls")
    assert count(tmp_path / "run.gsr") == 1


def test_numbers_stand_before_the_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT)
    for rank in "0101":
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", "2")
        assert recorded("--on-rank", "all") == 0
    assert sorted(str(path) for path in Path().glob("run.rank*.gsr")) == [
        "run.rank0.gsr",
        "run.rank1.gsr",
    ]
    assert sorted(map(str, Path().glob("run.1.rank*.gsr"))) == [
        "run.1.rank0.gsr",
        "run.1.rank1.gsr",
    ]
    assert "run.rank1.gsr is now run.1.rank1.gsr" in capsys.readouterr().err


def test_who_comes_second_records_to_another_file(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "run.gsr"
    first, second = begun(path, 3), begun(path, 2)
    first.add_end()
    second.add_end()
    assert (count(path), count(tmp_path / "run.1.gsr")) == (3, 2)
    assert second.path == tmp_path / "run.1.gsr"
    said = f"another process is recording to {path}; this recording is {second.path}\n"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("is_there", [False, True])
def test_of_many_that_begin_at_once_each_has_a_file(is_there: bool, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    if is_there:
        begun(path, 7).add_end()
    many, at_once = 16, Barrier(16)

    def claimed(number: int) -> Claimed:
        at_once.wait()
        return claim(place_at(path))

    with ThreadPoolExecutor(many) as pool:
        ours = list(pool.map(claimed, range(many)))
    for number, each in enumerate(ours):
        each.lock.write(b"%d" % number)
    assert len({each.file for each in ours}) == many
    assert [each.file.read_bytes() for each in ours] == [b"%d" % n for n in range(many)]
    for each in ours:
        each.release()
    kept = [file for file in tmp_path.iterdir() if file not in {each.file for each in ours}]
    assert [count(file) for file in kept] == [7] * is_there


Hinder = Callable[[pytest.MonkeyPatch], None]


def no_renaming(patch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    patch.setattr(os, "replace", refused)  # as in a folder where only owners may rename


def no_writing(patch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    patch.setattr(claiming, "_opened", refused)  # root may write anywhere


@pytest.mark.parametrize(
    ("hinder", "said"),
    [
        (no_renaming, "run.gsr cannot be renamed (operation not permitted); this recording is"),
        (no_writing, "nothing is recorded: cannot write run.gsr (permission denied)"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_where_nothing_can_be_renamed_the_program_runs(
    hinder: Hinder, said: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    recorded(calls=3)
    with monkeypatch.context() as patch:
        hinder(patch)
        x = torch.tensor(2.0, requires_grad=True)
        with gradstep.record("run.gsr") as recording:
            x.backward()
        assert recorded(calls=2) == 0
    assert x.grad == 1
    assert count("run.gsr") == 3
    assert (recording.file is None) == (hinder is no_writing)
    assert capsys.readouterr().err.count(said) == 2
    names = ["run.gsr"] if hinder is no_writing else ["run.1.gsr", "run.2.gsr", "run.gsr"]
    assert recordings() == names


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("when", [(), ("--when", "nan")])
def test_where_no_database_can_be_made_nothing_is_left_and_nothing_lost(
    when: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    recorded(calls=3)

    def connected(file: object) -> sqlite3.Connection:
        if file != ":memory:":
            raise sqlite3.OperationalError("disk I/O error")  # as where nothing can be locked
        return sqlite3.connect(":memory:", isolation_level=None)

    monkeypatch.setattr(writing, "_connected", connected)
    assert recorded(*when, sick=True) == 0
    assert "nothing is recorded: cannot write run.gsr (disk i/o error)" in capsys.readouterr().err
    assert recordings() == ["run.1.gsr"]
    assert count("run.1.gsr") == 3


@pytest.mark.usefixtures("folder")
def test_a_flight_recorder_touches_its_file_only_when_something_happens(
    capsys: Captured,
) -> None:
    recorded("-o", "copy.gsr", calls=3, sick=True)
    before = Path("copy.gsr").read_bytes()
    capsys.readouterr()
    assert recorded("--when", "nan", "-o", "copy.gsr", calls=2) == 0
    assert capsys.readouterr().err == (
        "gradstep: copy.gsr is not written: 2 calls ran, and none had nan; the existing "
        "recording is older\n"
    )
    assert Path("copy.gsr").read_bytes() == before
    assert recordings() == ["copy.gsr"]
    assert recorded("--when", "nan", "-o", "new.gsr", calls=2) == 0
    assert not Path("new.gsr").exists()
    assert recorded("--when", "nan", "-o", "copy.gsr", calls=2, sick=True) == 0
    assert "the recording that was in copy.gsr is now copy.1.gsr" in capsys.readouterr().err
    assert Path("copy.1.gsr").read_bytes() == before
    with FileRun(Path("copy.gsr")) as run:
        assert list(run.indices) == [1]
        assert run.notes == ["nan in backward() call 1; 1 call kept", "2 calls ran"]
        assert [leaf.name for leaf in run.leaves] == ["x"]
    assert main(["record", "--when", "nan", "-o", "new.gsr", "nothing.py"]) == 0
    assert "new.gsr is not written: nothing.py called neither" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_program_that_changes_its_folder_is_recorded_where_it_began(capsys: Captured) -> None:
    Path("train.py").write_text("import os; os.mkdir('in'); os.chdir('in')\n" + SCRIPT)
    here = os.getcwd()
    try:
        assert recorded("--when", "nan", sick=True) == 0
    finally:
        os.chdir(here)
    assert count("run.gsr") == 1
    assert "gradstep: run.gsr: 1 call, 1 in full" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("when", [(), ("--when", "nan")])
def test_what_is_no_recording_is_not_touched(when: tuple[str, ...], capsys: Captured) -> None:
    Path("thesis.gsr").write_text("all of it")
    Path("nothing.py").write_text("# yet")
    Path("folder.gsr").mkdir()
    os.mkfifo("pipe.gsr")
    for name, said in [
        ("thesis.gsr", "thesis.gsr exists and is not a recording; name another file with -o"),
        ("nothing.py", "nothing.py exists and is not a recording"),
        ("folder.gsr", "folder.gsr is a directory; name a file in it"),
        ("pipe.gsr", "pipe.gsr is not a regular file; name one, such as run.gsr"),
        ("/dev/null", "/dev/null is not a regular file"),
        ("nowhere/run.gsr", "there is no directory nowhere; create it first"),
    ]:
        assert recorded(*when, "-o", name) == 2
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
        with pytest.raises(RecordingError, match=said.partition(" ")[0]), gradstep.record(name):
            pass
    assert Path("thesis.gsr").read_text() == "all of it"
    assert Path("nothing.py").read_text() == "# yet"
    Path("empty.gsr").touch()  # as mktemp leaves it
    assert recorded(*when, "-o", "empty.gsr", sick=True) == 0
    assert count("empty.gsr") == 1


@pytest.mark.usefixtures("folder")
def test_a_link_is_followed(capsys: Captured) -> None:
    os.mkdir("disk")
    Path("run.gsr").symlink_to("disk/far.gsr")
    for number in (2, 1):
        assert recorded(calls=number) == 0
    assert Path("run.gsr").is_symlink()
    begun(Path("disk/far.2.gsr"), 4)  # it is not over
    Path("newest.gsr").symlink_to("disk/far.2.gsr")
    assert count("newest.gsr") == 4
    assert (count("run.gsr"), count("disk/far.1.gsr")) == (1, 2)
    assert f"is now {Path('disk/far.1.gsr').absolute()}\n" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "command",
    [
        "check", "check -q", "check --format json", "render", "film", "why run.gsr x",
        "debug --batch --ex next", "debug --fail-on nan",
        pytest.param("plot", marks=pytest.mark.extra("plot")), "diff run.gsr run.gsr",
        "diff --ranks run.gsr", "check run.gsr run.gsr",
    ],
)  # fmt: skip
def test_a_recording_without_a_call_is_never_fine(command: str, capfd: Captured) -> None:
    for script, why in [
        ("nothing.py", "calls in other threads and processes are not recorded"),
        ("fails.py", "the run ended by ZeroDivisionError"),
    ]:
        Path("fails.py").write_text("1 / 0")
        main(["record", script])
        capfd.readouterr()
        words = command.split()
        assert main(words if "run.gsr" in words else [*words, "run.gsr"]) == 3
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith(f"gradstep: run.gsr: no call was recorded; {why}")
        assert err.count("\n") == 1
