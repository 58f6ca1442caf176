"""Samples of a distribution that is to learn, in a loss that needs their gradient."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gradstep.findings.finding import Finding, Rule
from gradstep.findings.fixes import renamed
from gradstep.findings.source_lines import calls_of
from gradstep.findings.whole_run.watch import Evidence

_HAVE_RSAMPLE: Final = re.compile(
    r"\b(Normal|Laplace|LogNormal|Gumbel|Uniform|Beta|Gamma|Dirichlet|Cauchy|StudentT|Exponential|"
    r"MultivariateNormal|RelaxedOneHotCategorical|RelaxedBernoulli)\b"
)


def sampled(evidence: Evidence) -> Iterator[Finding]:
    """Yield a loss that uses a ``sample()`` of a distribution with ``rsample()``, whose parameters
    have a graph that the sample lacks; not with ``log_prob()``, as where a policy is trained."""
    for _, finding in evidence.seen:
        at = finding.source
        if (
            finding.code == "cut"
            and not finding.is_bad
            and at is not None
            and at in calls_of("sample", at.file)
            and not calls_of("log_prob", at.file)
            and _HAVE_RSAMPLE.search("".join(linecache.getlines(at.file)))
        ):
            yield replace(
                finding,
                severity="warning",
                what="sample() passes no gradient to the parameters of its distribution, and the "
                "loss uses its result",
                remedy="use rsample() instead of sample()",
                fix=renamed(at, "sample", "rsample"),
            )
            return


RULES: Final = (Rule(sampled),)
