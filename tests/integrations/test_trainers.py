"""The callbacks for Lightning and for the Trainer of Hugging Face, with these libraries."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradstep

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
HERE = Path(__file__)


def line_of(text: str) -> int:
    """The line of this file with a comment."""
    lines = HERE.read_text("utf-8").splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.endswith(f"# {text}"))


def library(name: str) -> Any:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: nox -s healthy")
    return importlib.import_module(name)


class Trained:
    """What one training leaves behind."""

    def __init__(self, torch: Any, model: Any, losses: list[float], callback: Any) -> None:
        self.state = [parameter.tolist() for parameter in model.parameters()]
        self.random, self.losses, self.callback = torch.rand(1).item(), losses, callback

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Trained)
        mine, theirs = ([each.state, each.random, each.losses] for each in (self, other))
        return repr(mine) == repr(theirs)  # NaN is NaN

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.callback.report().bad]


def loss_of(torch: Any, kind: str, net: Any, x: Any, y: Any) -> Any:
    out = net(x)
    if kind == "broadcast":
        return ((out - y.squeeze()) ** 2).mean()  # broadcast
    if kind == "nan":
        return (out - out.max()).log().mean()  # nan
    if kind == "detached":
        return ((net[2](net[1](net[0](x)).detach()) - y) ** 2).mean()  # detached
    if kind == "error":
        ((out - y) ** 2).sum().backward()
        return ((out - y) ** 2).sum() + out.matmul(y)
    return ((out - y) ** 2).mean()


def batches(torch: Any) -> Any:
    g = torch.Generator().manual_seed(0)
    x = torch.randn(48, 4, generator=g)
    return torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))


def network(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def fit(kind: str, callback: Any, *, manual: bool = False, **options: Any) -> Trained:
    """Train with Lightning."""
    torch, lightning = library("torch"), library("lightning")
    losses: list[float] = []

    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = network(torch)
            self.automatic_optimization = not manual

        def training_step(self, batch: Any, index: int) -> Any:
            loss = loss_of(torch, kind, self.net, *batch)
            losses.append(loss.item())
            if manual:
                optimizer = self.optimizers()
                optimizer.zero_grad()
                self.manual_backward(loss)
                optimizer.step()
            return loss

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("validation", loss_of(torch, "", self.net, *batch))

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.SGD(self.parameters(), lr=1e9 if kind == "rate" else 0.05)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]

    torch.manual_seed(0)
    module, data = Module(), torch.utils.data.DataLoader(batches(torch), batch_size=8)
    silent = {
        "logger": False, "enable_checkpointing": False, "enable_progress_bar": False,
        "enable_model_summary": False, "accelerator": "cpu", "max_epochs": 2,
    }  # fmt: skip
    callbacks = [] if callback is None else [callback]
    start = options.pop("ckpt_path", None)
    trainer = lightning.Trainer(**(silent | {"callbacks": callbacks} | options))
    trainer.fit(module, data, data, ckpt_path=start)
    return Trained(torch, module, losses, callback)


def train(kind: str, callback: Any, **options: Any) -> Trained:
    """Train with the Trainer of Hugging Face."""
    torch, transformers = library("torch"), library("transformers")
    losses: list[float] = []

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = network(torch)

        def forward(self, x: Any, labels: Any) -> Any:
            loss = loss_of(torch, kind, self.net, x, labels)
            losses.append(loss.item())
            return {"loss": loss, "logits": loss}

    torch.manual_seed(0)
    model = Model()
    start = options.pop("resume_from_checkpoint", None)
    # fmt: off
    arguments = transformers.TrainingArguments(
        **(
            {
                "output_dir": "out", "num_train_epochs": 2, "per_device_train_batch_size": 8,
                "learning_rate": 1e9 if kind == "rate" else 0.05, "report_to": [],
                "use_cpu": True, "save_strategy": "no", "disable_tqdm": True, "optim": "sgd",
                "max_grad_norm": 0.0, "eval_strategy": "epoch",
            }
            | options
        )
    )
    rows = [{"x": x, "labels": y} for x, y in batches(torch)]
    trainer = transformers.Trainer(
        model, arguments, train_dataset=rows, eval_dataset=rows,
        callbacks=[] if callback is None else [callback],
    )
    # fmt: on
    trainer.train(resume_from_checkpoint=start)
    return Trained(torch, model, losses, callback)


@pytest.fixture(params=["lightning", "transformers"])
def framework(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Callable[..., Trained], Callable[..., Any]]:
    """A training, and the callback for it."""
    monkeypatch.chdir(tmp_path)
    library(request.param)
    module = importlib.import_module(f"gradstep.integrations.{request.param}")
    return {"lightning": fit, "transformers": train}[request.param], module.Callback


Framework = tuple[Callable[..., Trained], Callable[..., Any]]


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("", []), ("broadcast", ["broadcast"]), ("nan", ["not-finite"]), ("detached", ["cut"]),
        ("rate", ["not-finite"]),
    ],
)  # fmt: skip
def test_a_training_is_reported_and_goes_as_without(
    framework: Framework, kind: str, codes: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    run, callback = framework
    plain = run(kind, None)
    watched = run(kind, callback())
    assert watched == plain
    assert watched.codes[:1] == codes  # a rate that is too high saturates, too
    said = capfd.readouterr().err
    if kind in ("nan", "broadcast", "detached"):
        assert f"{HERE.name}:{line_of(kind)}" in said
    assert ("nothing suspicious was found" in said) is not codes


@pytest.mark.parametrize(("kind", "code"), [("broadcast", "broadcast"), ("nan", "not-finite")])
def test_what_is_found_is_told_while_the_training_runs(
    framework: Framework, kind: str, code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    run, callback = framework
    run(kind, callback(every=3))
    said = [line for line in capfd.readouterr().err.splitlines() if "gradstep: step" in line]
    assert len(said) == 1
    assert said[0].startswith("gradstep: step 3: ")
    assert said[0].endswith(f"[{code}]")


def test_a_training_is_recorded(framework: Framework, tmp_path: Path) -> None:
    run, callback = framework
    plain = run("", None)
    recorded = run("", callback(record=tmp_path / "run.gsr"))
    assert recorded == plain
    report = gradstep.check(tmp_path / "run.gsr")
    assert (report.calls, report.is_recorded) == (12, True)
    assert recorded.callback.report().text() == report.text()


def test_codes_are_left_out(framework: Framework) -> None:
    run, callback = framework
    assert run("broadcast", callback(ignore=["broadcast"])).codes == []
    with pytest.raises(ValueError, match="did you mean broadcast"):
        callback(ignore=["brodcast"])


def test_callbacks_are_copied_without_what_they_watch(framework: Framework) -> None:
    run, callback = framework
    used = callback(every=2)
    assert used.report() is None
    run("broadcast", used)
    for twin in (copy.deepcopy(used), pickle.loads(pickle.dumps(callback(every=2)))):
        assert twin.report() is None
        assert run("broadcast", twin).codes == ["broadcast"]


def test_a_training_may_follow_another_one(framework: Framework) -> None:
    run, callback = framework
    used = callback()
    assert run("broadcast", used).codes == ["broadcast"]
    assert run("", used).codes == []


@pytest.mark.parametrize(
    "options",
    [{"accumulate_grad_batches": 2}, {"precision": "bf16-mixed"}, {"manual": True}],
    ids=str,
)
def test_lightning_trains_in_other_ways(options: dict[str, Any]) -> None:
    library("lightning")
    from gradstep.integrations.lightning import Callback

    plain = fit("", None, **options)
    watched = fit("", Callback(every=2), **options)
    assert watched == plain
    assert watched.codes == []
    assert fit("broadcast", Callback(), **options).codes == ["broadcast"]


@pytest.mark.parametrize(
    "options", [{"gradient_accumulation_steps": 2}, {"bf16": True}, {"max_grad_norm": 1.0}], ids=str
)
def test_transformers_trains_in_other_ways(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    library("transformers")
    from gradstep.integrations.transformers import Callback

    plain = train("", None, **options)
    watched = train("", Callback(every=2), **options)
    assert watched == plain
    assert watched.codes == []
    assert train("broadcast", Callback(), **options).codes == ["broadcast"]


def test_a_training_of_lightning_is_resumed(tmp_path: Path) -> None:
    library("lightning")
    from gradstep.integrations.lightning import Callback

    def resumed(callback: Any) -> Trained:
        options = {"enable_checkpointing": True, "default_root_dir": tmp_path / str(callback)}
        fit("", callback, **options)
        (saved,) = (tmp_path / str(callback)).rglob("*.ckpt")
        return fit("", copy.deepcopy(callback), max_epochs=4, ckpt_path=saved)

    used = Callback(every=2)
    assert resumed(used) == (again := resumed(None))
    assert len(again.losses) == 12


def test_a_training_of_transformers_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    library("transformers")
    from gradstep.integrations.transformers import Callback

    train("", Callback(), save_strategy="epoch", output_dir="saved")
    start = {"num_train_epochs": 4, "resume_from_checkpoint": "saved/checkpoint-12"}
    capfd.readouterr()
    watched = train("", Callback(every=2), **start)
    assert "gradstep: step" not in capfd.readouterr().err  # the first step has a rate of 0
    assert watched == train("", None, **start)
    assert (len(watched.losses), watched.callback.report().calls) == (24, 12)


def test_an_error_that_ends_a_training_is_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library("lightning")
    from gradstep.integrations.lightning import Callback

    used = Callback()
    with pytest.raises(RuntimeError, match=r"shapes cannot"):
        fit("error", used)
    assert used.report().failure == "its RuntimeError"
    assert "its RuntimeError" in capfd.readouterr().err
    assert fit("", used) == fit("", None)


ENDED = """\
import sys
sys.path.insert(0, {tests!r})
from tests.integrations.test_trainers import library, train
from gradstep.integrations.transformers import Callback
train("error", Callback(), eval_strategy="no")
"""


def test_a_trainer_that_fails_is_reported_when_the_program_ends(tmp_path: Path) -> None:
    library("transformers")
    (tmp_path / "ended.py").write_text(ENDED.format(tests=str(HERE.parents[2])), "utf-8")
    done = subprocess.run(
        [sys.executable, "ended.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    error, _, report = done.stderr.rpartition("RuntimeError: ")
    assert "Traceback" in error, done.stderr
    assert "before its RuntimeError" in report
