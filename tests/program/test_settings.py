"""``[tool.gradstep]`` in a pyproject.toml: where it is found, what it does, and what is wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import gradstep
from gradstep.findings.thresholds import Thresholds
from gradstep.program.settings import BadSettings, Settings, settings_for
from gradstep_tui.cli import main
from tests.check_corpus.running import as_before

TRAIN = """\
import LIBRARY as torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(8):
    x = torch.randn(6, 3)
    loss = ((net(x) - x.sum(1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a pyproject.toml; a folder inside of its own is the current one."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)

    def written(text: str, folder: Path = tmp_path) -> None:
        (folder / "pyproject.toml").write_text(text, "utf-8")

    return written


def test_the_nearest_file_with_a_table_counts(write: Any, tmp_path: Path) -> None:
    write('[tool.gradstep]\ntheme = "dark"\nignore = ["cut"]\n')
    write('[tool.other]\nname = "no table of gradstep"\n', tmp_path / "inside")
    expected = Settings(("cut",), "dark", file="../pyproject.toml")
    assert settings_for() == settings_for("train.py") == expected
    assert settings_for(tmp_path / "train.py") == expected
    write("[tool.gradstep.thresholds]\nlargest-step = 2\n", tmp_path / "inside")
    assert settings_for().thresholds == Thresholds(largest_step=2.0)
    assert settings_for(tmp_path / "train.py") == expected
    assert settings_for(tmp_path.parent / "train.py") == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ignroe = []", "[tool.gradstep] has no key 'ignroe'; did you mean ignore?"),
        ("xyz = []", "[tool.gradstep] has no key 'xyz'; it takes ignore, theme, open, thresholds"),
        ("ignore = 'cut'", "ignore is 'cut'; it is a list of codes: [\"dead-units\"]"),
        ("ignore = ['cutt']", "ignore: there is no finding 'cutt'; did you mean cut?"),
        ("theme = 'drak'", "theme is 'drak'; did you mean dark?"),
        ("theme = 1", "theme is 1; it is auto, light or dark"),
        ("thresholds = 1", "thresholds is 1; it is a table"),
        ("thresholds = {largest_step = 1}", "has no key 'largest_step'; did you mean largest-step"),
        ("thresholds = {largest-step = true}", "largest-step is True; it is a number above 0"),
        ("thresholds = {largest-step = 0}", "largest-step is 0; it is a number above 0"),
        ("thresholds = {largest-step = nan}", "largest-step is nan; it is a number above 0"),
        ("theme = ", "it is not TOML: "),
    ],
)
def test_what_is_wrong_is_named_with_its_file(
    write: Any, text: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write(f"[tool.gradstep]\n{text}\n")
    with pytest.raises(ValueError, match=r"^\.\./pyproject\.toml: ") as raised:
        gradstep.watch()
    assert isinstance(raised.value, BadSettings)
    assert said in str(raised.value)
    with pytest.raises(BadSettings):
        gradstep.check("run.gsr")
    Path("train.py").write_text("raise SystemExit", "utf-8")
    assert main(["check", "train.py"]) == 2
    assert capfd.readouterr().err.startswith(f"gradstep: {raised.value}\n")


def test_a_file_that_is_not_about_gradstep_is_left_alone(write: Any) -> None:
    write("this is no TOML [")
    assert settings_for() == Settings()


def test_codes_and_thresholds_count_everywhere(
    torch: Any, write: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def checked(code: int) -> str:
        with as_before(torch.__name__):
            assert main(["check", "-q", "train.py"]) == code
        return capfd.readouterr().out

    def watched() -> list[str]:
        return [finding.code for finding in gradstep.check(train).bad]

    text = TRAIN.replace("LIBRARY", torch.__name__)
    Path("train.py").write_text(text, "utf-8")

    def train() -> None:
        exec(compile(text, "train.py", "exec"), {})

    assert "[broadcast]" in checked(5)
    assert watched() == ["broadcast"]
    with gradstep.record("run.gsr"):
        train()
    write("[tool.gradstep]\nignore = ['broadcast']\n")
    assert checked(0) == ""
    assert watched() == []
    assert gradstep.check("run.gsr").bad == []
    write("[tool.gradstep]\nignore = ['broadcast']\nthresholds = {largest-step = 1e-3}\n")
    assert "[large-steps]" in checked(5)
    assert watched() == ["large-steps"]
    assert [finding.code for finding in gradstep.check("run.gsr").bad] == ["large-steps"]
    assert main(["check", "-q", "run.gsr"]) == 5
    assert "[large-steps]" in capfd.readouterr().out


def test_the_theme_is_that_of_pictures_unless_another_one_is_asked_for(
    write: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("train.py").write_text(TRAIN.replace("LIBRARY", "autograd_core"), "utf-8")

    def drawn(*options: str) -> bytes:
        with as_before("autograd_core"):
            assert main(["render", *options, "-o", "picture.svg", "train.py"]) == 0
        capfd.readouterr()
        return Path("picture.svg").read_bytes()

    light, dark, auto = (drawn("--theme", theme) for theme in ("light", "dark", "auto"))
    assert len({light, dark, auto}) == 3
    assert drawn() == auto
    write("[tool.gradstep]\ntheme = 'dark'\n")
    assert drawn() == dark
    assert drawn("--theme", "light") == light


def test_the_screen_has_the_theme(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import autograd_core
    from gradstep_tui.app import DebuggerApp

    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    x = autograd_core.ones(2, requires_grad=True)
    for theme in ("light", "dark"):
        write(f"[tool.gradstep]\ntheme = '{theme}'\n")
        session = gradstep.Session((x * x).sum())
        assert DebuggerApp(session).theme == f"gradstep-{theme}"
        for named in ("gradstep-light", "nord"):
            monkeypatch.setenv("TEXTUAL_THEME", named)
            assert DebuggerApp(session).theme == named
        monkeypatch.setenv("TEXTUAL_THEME", "no-such-theme")
        assert DebuggerApp(session).theme == f"gradstep-{theme}"
        monkeypatch.delenv("TEXTUAL_THEME")
        session.finish()


def test_a_script_that_was_installed_is_no_program_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from gradstep.program.settings import script_of_program

    for name, found in (("bin/pytest", ""), ("train.py", str(tmp_path / "train.py"))):
        monkeypatch.setattr(
            sys.modules["__main__"], "__file__", str(tmp_path / name), raising=False
        )
        assert script_of_program() == found


def test_the_documentation_has_all_thresholds_and_what_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/configuration.rst").read_text("utf-8")
    rows = re.findall(r"^ +``([a-z-]+)`` +``([\de.+-]+)`` ", page, re.MULTILINE)
    said = {name.replace("-", "_"): float(value) for name, value in rows}
    assert said == Thresholds()._asdict()
