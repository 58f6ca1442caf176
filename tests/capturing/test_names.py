"""Names of tensors come from the variables of all functions that lead to the call."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autograd_core as torch
from gradstep.capturing.names import Names, caller_names


def library(source: str, **variables: Any) -> dict[str, Any]:
    """The functions of a module that was installed."""
    found: dict[str, Any] = dict(variables)
    exec(compile(source, "/python/site-packages/trainer.py", "exec"), found)
    return found


def test_a_function_has_the_names_of_those_that_called_it() -> None:
    def step(x: Any) -> Names:
        return caller_names()

    def train() -> tuple[Names, Any]:
        weight = torch.ones(2)
        return step(weight), weight

    names, weight = train()
    assert names.of(weight) == "x"  # the innermost name counts
    other = torch.zeros(3)
    assert (lambda: caller_names())().of(other) == "other"


def test_what_a_trainer_keeps_has_its_name() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model = torch.nn.Linear(2, 1)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1.0)
            self.scale = torch.ones(1)

        def step(self) -> Names:
            return caller_names()

    trainer = Trainer()
    names = trainer.step()
    assert names.of(trainer.scale) == "self.scale"
    assert names.of(trainer.model.weight) == "self.model.weight"
    assert list(names.optimizers) == ["self.optimizer"]
    assert "self.model" in names.modules


def test_a_module_is_not_called_self_where_it_has_another_name() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(2, 1)
            self.optimizer = torch.optim.SGD(self.parameters(), lr=1.0)

        def learn(self) -> Names:
            return caller_names()

    actor, critic = Net(), Net()
    for names in (actor.learn(), critic.learn()):
        assert names.of(actor.fc.weight) == "actor.fc.weight"
        assert names.of(critic.fc.weight) == "critic.fc.weight"
        assert [*names.optimizers] == ["actor.optimizer", "critic.optimizer"]
    names = Net().learn()
    assert [*names.optimizers] == ["actor.optimizer", "critic.optimizer", "self.optimizer"]


def test_names_of_the_program_come_before_those_of_a_library() -> None:
    source = "def fit(m, call):\n    hidden = call.hidden\n    return run(m, call)\n"
    source += "def run(inner, call):\n    return call(inner)\n"

    def call(loss: Any) -> Names:
        return caller_names()

    call.hidden = torch.ones(1)  # type: ignore[attr-defined]
    fit: Callable[..., Names] = library(source, other=torch.ones(1))["fit"]
    mine = torch.ones(2)
    given = torch.ones(3)
    names = fit(given, call)
    assert [names.of(each) for each in (mine, given)] == ["mine", "loss"]
    assert names.of(call.hidden) == "hidden"  # type: ignore[attr-defined]
    assert names.of(fit.__globals__["other"]) == ""


def test_what_an_object_keeps_is_named_after_its_variable() -> None:
    class Learner:
        def __init__(self) -> None:
            self.policy = torch.nn.Linear(2, 1)
            self.rate = torch.ones(1)

    source = "def learn(self):\n    loss = self.rate * 2\n    return names(), loss\n"
    learn = library(source, names=caller_names)["learn"]
    agent = Learner()
    names, loss = learn(agent)
    assert list(names.modules) == ["agent.policy"]
    assert names.of(agent.rate) == "agent.rate"
    assert names.of(loss) == "loss"


def test_each_model_and_optimizer_is_named_once() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def step(inner: Any, opt: Any) -> Names:
        return caller_names()

    names = step(model, optimizer)
    assert list(names.modules) == ["inner"]
    assert list(names.optimizers) == ["opt"]


def test_no_function_keeps_what_it_had_a_name_for() -> None:
    def outer() -> bool:
        tensor = torch.ones(3)
        alive = weakref.ref(tensor)
        inner()
        del tensor
        gc.collect()
        return alive() is None

    def inner() -> None:
        caller_names()

    assert outer()


def test_the_locals_that_a_function_asked_for_stay() -> None:
    def outer() -> dict[str, Any]:
        tensor = torch.ones(3)
        kept = locals()
        caller_names()
        assert tensor is not None
        return kept

    assert "tensor" in outer()


def test_objects_that_answer_to_every_name_are_not_asked() -> None:
    class Greedy:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(f"asked for {name}")

    greedy = Greedy()
    x = torch.ones(1)
    assert caller_names().of(x) == "x"
    del greedy


class Exported:
    """Has parameters, but no modules, as what ``torch.export`` makes."""

    def named_parameters(self) -> list[tuple[str, Any]]:
        return [("weight", torch.ones(2))]


def test_what_has_parameters_but_no_modules_is_no_model() -> None:
    assert Names({"exported": Exported()}).module_classes() == {}


class Deep(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
        self.heads = {"end": torch.nn.Sequential(torch.nn.Linear(2, 1))}
        self.out = torch.nn.Linear(2, 1)


def test_modules_in_plain_lists_are_parts_of_the_module_that_has_the_list() -> None:
    net, other = Deep(), Deep()
    names = Names({"net": net})
    listed = [net.layers[1].bias, net.heads["end"][0].weight]
    assert [names.of(each) for each in listed] == ["layers[1].bias", "heads['end'].0.weight"]
    assert names.of(net.out.bias) == "out.bias"
    assert names.usual("net.layers[1].bias") == "layers[1].bias"
    assert names.in_plain_lists.issuperset(map(id, listed))
    assert id(net.out.bias) not in names.in_plain_lists
    both = Names({"net": net, "other": other})
    assert both.of(net.layers[1].bias) == "net.layers[1].bias"
    assert both.of(other.out.bias) == "other.out.bias"
    assert Names({"layers": net.layers}).of(net.layers[1].bias) == "layers[1].bias"


def test_a_parameter_goes_by_its_path_and_not_by_a_variable_that_is_it_too() -> None:
    net = torch.nn.Linear(2, 1)
    alias = net.weight
    assert caller_names().of(alias) == "net.weight"
    assert Names({"alias": alias, "net": net}).of(alias) == "net.weight"


def test_variables_of_loops_that_are_over_are_no_names() -> None:
    first, second = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    listed = [torch.ones(1), torch.ones(1)]
    for last in second.parameters():
        last.requires_grad_(True)
    for _, (unpacked, *more) in enumerate([(torch.ones(1), torch.ones(1))]):  # noqa: B007  # that is tested
        kept = more
    for again in listed:  # noqa: B007  # that is tested
        pass
    else:
        names = caller_names()
    assert names.of(second.bias) == "second.bias"
    assert names.of(first.bias) == "first.bias"
    assert names.of(listed[1]) == "listed[1]"
    assert names.of(unpacked) == ""
    assert names.of(kept[0]) == "kept[0]"
    assert again is listed[1]
    assert last is second.bias


def test_variables_of_loops_that_run_name_what_has_no_other_name() -> None:
    weights = [torch.ones(1)]
    for x, weight in zip(iter([torch.ones(2)]), weights, strict=True):  # noqa: B007  # that is tested
        y = x
        names = caller_names()
    assert names.of(weights[0]) == "weights[0]"
    assert names.of(x) == "y"
    assert weight is weights[0]
    for z in iter([torch.ones(2)]):
        assert caller_names().of(z) == "z"
    del y


def test_a_variable_that_is_assigned_elsewhere_too_is_none_of_a_loop() -> None:
    hidden = iter([torch.ones(1)])
    state = torch.zeros(1)
    for state in hidden:  # noqa: B007  # that is tested
        pass
    assert caller_names().of(state) == "state"


def test_loops_of_a_script_are_known_within_its_functions(tmp_path: Path) -> None:
    script = """
from gradstep.capturing.names import caller_names
def names():
    return caller_names()
for stale in net.parameters(): pass
for stale in hidden: pass
found = names()
"""
    around: dict[str, Any] = {"net": torch.nn.Linear(2, 1), "hidden": iter([torch.ones(1)])}
    exec(compile(script, str(tmp_path / "train.py"), "exec"), around)
    assert around["found"].of(around["net"].bias) == "net.bias"
    assert around["found"].of(around["stale"]) != "stale"
