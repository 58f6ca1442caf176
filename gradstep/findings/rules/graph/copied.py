"""Numbers that were copied out of tensors, which leaves their graphs behind."""

from __future__ import annotations

from typing import ClassVar

from gradstep.findings.finding import Fix, Reason
from gradstep.findings.fixes import renamed


class Copied(Reason):
    """``torch.tensor([...])`` copies numbers, ``so`` that the loss lacks something."""

    keeps_loss = True
    marks = ("tensor",)
    helps = "join them with torch.stack(), or torch.cat()"
    so: ClassVar[str]

    def text(self) -> str:
        return (
            f"{self.so}: torch.tensor() makes a new tensor of the numbers in others, and leaves "
            "their graphs behind"
        )

    def fix(self) -> tuple[Fix, ...]:
        return renamed(self.source, "tensor", "stack")
