"""Expressions of the debugger: ``rms > 10 and not zero``, ``out.0.max``, ``weight.grad[0:3]``.

``source`` reads the text, ``vocabulary`` lists the words, ``meaning`` interprets them with the
operators of ``logic``, ``subject`` is what an expression speaks of.  Python never evaluates any
of it.
"""

from gradstep.debugger.breakpoints.predicate.expression import Expression, parse, parse_predicate
from gradstep.debugger.breakpoints.predicate.subject import NodeSubject, Nowhere, arriving, sent
from gradstep.debugger.breakpoints.predicate.vocabulary import WORDS, ExpressionSubject, help_text

__all__ = [
    "WORDS",
    "Expression",
    "ExpressionSubject",
    "NodeSubject",
    "Nowhere",
    "arriving",
    "help_text",
    "parse",
    "parse_predicate",
    "sent",
]
