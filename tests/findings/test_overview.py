"""What a report shows of a run in which nothing is found."""

from __future__ import annotations

import json
import types
from pathlib import Path

import pytest

from gradstep_tui.cli import main

PROGRAM = """\
import {library} as torch
from {library} import nn
from {library}.optim import lr_scheduler
torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
decay = lr_scheduler.StepLR(opt, 10, gamma=0.5)
batches = [(torch.tensor([[-1.0, 0, 2]] * n), torch.tensor([0, 1] * (n // 2))) for n in (4, 6)]
for step in range(20):
    x, y = batches[step % 2]
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    decay.step()
"""


@pytest.mark.parametrize("recorded", [False, True])
def test_data_and_steps_are_shown(
    torch: types.ModuleType, recorded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("shown.py").write_text(PROGRAM.format(library=torch.__name__))
    target = "shown.py"
    if recorded:
        target = "run.gsr"
        assert main(["record", "shown.py"]) == 0
    assert main(["check", target]) == 0
    told = capsys.readouterr().out
    assert "steps: opt (SGD) 20 times at 0.1 to 0.05 and " in told
    main(["check", "--format", "json", target])
    overview = json.loads(capsys.readouterr().out)["overview"]
    steps = [
        (each["kind"], each["times"], each["first"], each["last"]) for each in overview["steps"]
    ]
    assert steps[:1] == [("SGD", 20, 0.1, 0.05)]
    assert steps[1:] == [("StepLR", 20, None, None)]
    # the core's recordings do not describe the data
    ends = (None, None) if recorded and torch.__name__ == "autograd_core" else (-1, 2)
    (x,) = [data for data in overview["data"] if data["name"] == "x"]
    assert (x["dtype"], x["shape"], x["smallest"], x["largest"]) == ("float32", [None, 3], *ends)
    assert f"x float32 [*, 3]{'' if ends[0] is None else ' −1 to 2'}" in told
