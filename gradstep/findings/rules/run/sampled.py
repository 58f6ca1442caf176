"""Samples of a distribution that is to learn, in a loss that needs their gradient."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts, Forward
from gradstep.findings.finding import Fix, Reason, Rule
from gradstep.findings.fixes import renamed
from gradstep.findings.rules.graph.cuts import Cut
from gradstep.findings.source_lines import calls_of

_HAVE_RSAMPLE: Final = re.compile(
    r"\b(Normal|Laplace|LogNormal|Gumbel|Uniform|Beta|Gamma|Dirichlet|Cauchy|StudentT|Exponential|"
    r"MultivariateNormal|RelaxedOneHotCategorical|RelaxedBernoulli)\b"
)


@dataclass(frozen=True)
class Sampled(Cut):
    """A distribution that could give samples with a gradient gave one without."""

    keeps_loss = False
    marks = ("sample",)
    helps = "use rsample() instead of sample()"
    says = "sample() passes no gradient to the parameters of its distribution"

    def remedy(self) -> str:
        return self.helps

    def fix(self) -> tuple[Fix, ...]:
        return renamed(self.source, "sample", "rsample")


def sampled(facts: Facts) -> Iterator[Reason]:
    """Yield a loss that uses a ``sample()`` of a distribution with ``rsample()``, whose parameters
    have a graph that the sample lacks; not with ``log_prob()``, as where a policy is trained."""
    for _, reason in facts.seen:
        at = reason.source
        if (
            isinstance(reason, Cut)
            and reason.code == "cut"
            and reason.is_note
            and at is not None
            and at in calls_of("sample", at.file)
            and not calls_of("log_prob", at.file)
            and _HAVE_RSAMPLE.search("".join(linecache.getlines(at.file)))
        ):
            yield Sampled(leaves=reason.leaves, source=at, other=reason.other)
            return


RULES: Final = (Rule(sampled, needs=(Forward,), code="cut"),)
