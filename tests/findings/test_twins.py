"""Sick programs that look like healthy ones of the corpus: both are told apart."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from gradstep_tui.cli import main
from tests.check_corpus.report import verdict
from tests.check_corpus.running import FOLDER, as_before, text

TWINS = [
    # nobody ever picks the second half: no index of data does
    (
        "detector_of_two_scales",
        "(boxes[:, :, chosen] - 1)",
        "(boxes[:, :, :64] - 1)",
        ("zero-grad",),
    ),
    (
        "arcface",
        "64 * torch.cos(angle + 0.5 * one_hot(labels, 3))",
        "net(30 * x) @ centers.T",
        ("saturated",),
    ),
    (
        "contrast_of_low_temperature",
        "normalize(net(x + 0.3 * torch.randn(32, 12)), dim=1)",
        "20 * net(x + 0.3 * torch.randn(32, 12))",
        ("saturated",),
    ),
    (
        "pairs_of_distances",
        "loss = (ranks - wanted).pow(2).mean()",
        "loss = (a - y[:, 0]).pow(2).sum(1).mean()",
        ("broadcast",),
    ),
    (
        "density_of_a_point",
        "(value == point).to(value.dtype).log()",
        "(value < 1).to(value.dtype)",
        ("constant-term",),
    ),
    ("decay_to_nothing", "1 - step / 100", "1 - step / 60", ("unchanged",)),
    (
        "hamiltonian_sampler",
        "accepted = bool(torch.rand(()) < (start - end).exp())",
        "accepted = not torch.rand(()) > (start - end).exp()",
        ("not-finite",),
    ),
    (
        "dqn_agent",
        "torch.optim.Adam(self.q_net.parameters(), lr=5e-3)",
        "torch.optim.Adam(self.parameters(), lr=5e-3)",
        ("cut",),
    ),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "old", "new", "codes"), TWINS, ids=lambda value: str(value)[:30])
def test_a_sick_twin_of_a_healthy_program_is_found(
    name: str,
    old: str,
    new: str,
    codes: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    healthy = text(FOLDER / "healthy" / f"{name}.py", "autograd_core")
    assert old in healthy
    Path("train.py").write_text(healthy.replace(old, new), "utf-8")
    linecache.clearcache()
    with as_before("autograd_core"):
        code = main(["check", "train.py"])
    report = capfd.readouterr().out
    assert {*codes} <= {*verdict(report, code, None).codes}, report
