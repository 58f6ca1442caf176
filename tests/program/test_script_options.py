"""Which options a program takes, by its source: whoever may take any is never said to take none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gradstep.program.script_options import takes_no
from gradstep.program.target import parse_target

OURS = ("-o", "--call", "--help")
ENGINE = "import autograd_core as torch\n"
ROOT = Path(__file__).parents[2]


def left_out(folder: Path, script: str, **modules: str) -> list[str]:
    """Return which of our options a script does not take that imports ``modules``."""
    for name, text in modules.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    path = folder / "train.py"
    path.write_text(ENGINE + dedent(script))
    return takes_no([path], OURS)


@pytest.mark.parametrize(
    ("script", "unknown"),
    [
        ("torch.ones(1)", "-o --call --help"),
        ("import sys\nn = int(sys.argv[1]) if len(sys.argv) > 1 else 3", "-o --call"),
        ("import sys\nfast = '--fast' in sys.argv[1:]", "-o --call"),
        ("import sys\nfast = '--call' in sys.argv", "-o"),
        ("import argparse\np = argparse.ArgumentParser()\np.parse_args()", "-o --call"),
        (
            "import argparse as a\nargparse = a.ArgumentParser().add_argument('-o', '--out')",
            "--call",
        ),
        (
            """
            import argparse
            def get_args():
                return argparse.ArgumentParser().parse_args()
            args = get_args()
            """,
            "-o --call",
        ),
        # --call is short for it
        ("import argparse\nargparse.ArgumentParser().add_argument('--callbacks')", "-o"),
        ("import optparse\noptparse.OptionParser().add_option('-e', '--epochs')", "-o --call"),
        ("plt = None\nprint('usage: train.py [-o FILE] [--call=N]')", "--help"),
        ("f'{torch} -o x'", "--call --help"),
    ],
)
def test_options_that_a_program_certainly_does_not_take(
    script: str, unknown: str, tmp_path: Path
) -> None:
    assert left_out(tmp_path, script) == unknown.split()


@pytest.mark.parametrize(
    "script",
    [
        "import sys\nmain(sys.argv[1:])",
        "import sys\nmain(sys.argv)",
        "from sys import argv\nfor word in argv: print(word)",
        "import sys as s\nprint(s.orig_argv)",
        "import sys\nprint(getattr(sys, 'argv'))",
        "import unittest\nunittest.main()",
        "import torch.testing._internal.common_utils as u\nu.run_tests()",
        "import getopt, sys\ngetopt.getopt(sys.argv[1:], 'o:')",
        "import argparse\nargparse.ArgumentParser().parse_known_args()",
        "import argparse\np = argparse.ArgumentParser()\nfor n in x: p.add_argument(f'--{n}')",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument(*names)",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('r', nargs='...')",
        "import argparse as a\na.ArgumentParser().add_argument('r', nargs=a.REMAINDER)",
        "import fire\nfire.Fire(main)",
        "import click\n@click.command()\ndef main(call): pass",
        "import typer\ntyper.run(main)",
        "import hydra\n@hydra.main()\ndef main(cfg): pass",
        "import tyro\ntyro.cli(Config)",
        "from absl import app, flags\nflags.DEFINE_string('call', '', '')",
        "from simple_parsing import ArgumentParser\nArgumentParser().parse_args()",
        "from jsonargparse import auto_cli",
        "from transformers import HfArgumentParser",
        "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Model)",
        "from omegaconf import OmegaConf\nOmegaConf.from_cli()",
        "from detectron2.engine import default_argument_parser",
        "import runpy\nrunpy.run_path('real.py')",
        "exec(open('real.py').read())",
        "import a_module_that_nobody_can_find",
        "from a_package.that_is_not_there import main",
        "this is no Python",
    ],
)
def test_a_program_that_may_take_any_option_is_left_alone(script: str, tmp_path: Path) -> None:
    assert left_out(tmp_path, script) == []


def test_modules_of_the_users_own_are_read_too(tmp_path: Path) -> None:
    parser = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--call')"
    assert left_out(tmp_path, "import options", options=parser) == ["-o"]
    assert left_out(tmp_path, "from lib import a", lib__a=parser) == ["-o"]
    assert left_out(tmp_path, "import inner.b", inner__b="from . import c", inner__c=parser) == [
        "-o"
    ]
    package = {"whole____init__": "from .d import *", "whole__d": "import whole.e"}
    assert left_out(tmp_path, "from whole import d", **package, whole__e=parser) == ["-o"]
    hands_on = {"reads": "import sys\nARGS = sys.argv[1:]"}
    assert left_out(tmp_path, "from reads import ARGS", **hands_on) == []
    plain = {"model": "import numpy\nfrom train import x\ndef f(): import options"}
    assert left_out(tmp_path, "import model", **plain) == ["-o"]
    assert left_out(tmp_path, "import net", net="x = 1") == [*OURS]


def test_a_program_that_is_elsewhere_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.py"
    path.write_text("from numpy import main\nmain()\n")
    assert takes_no([path], OURS) == []
    assert takes_no([tmp_path / "missing.py"], OURS) == []
    assert takes_no(parse_target("no_such.module", module=True).files(), OURS) == []
    assert takes_no(parse_target("numpy", module=True).files(), OURS) == []


def test_the_programs_with_a_bug_take_no_options() -> None:
    for path in sorted((ROOT / "samples" / "bugs").glob("*.py")):
        assert takes_no([path], OURS) == [*OURS], path
