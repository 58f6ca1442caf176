"""Expressions of the debugger: ``rms > 10 and not zero``, ``out.0.max``, ``weight.grad[0:3]``.

``source`` reads the text, ``vocabulary`` lists the words, ``meaning`` interprets them with the
operators of ``logic``, ``subject`` is what an expression speaks of.  Python never evaluates any
of it.
"""

from autograd_core.debug.breakpoints.predicate.expression import Expression, parse, parse_predicate
from autograd_core.debug.breakpoints.predicate.subject import (
    NodeSubject,
    Nowhere,
    arriving,
    sent,
)
from autograd_core.debug.breakpoints.predicate.vocabulary import WORDS, Subject, help_text

__all__ = [
    "WORDS",
    "Expression",
    "NodeSubject",
    "Nowhere",
    "Subject",
    "arriving",
    "help_text",
    "parse",
    "parse_predicate",
    "sent",
]
