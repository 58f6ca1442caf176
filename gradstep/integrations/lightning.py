"""For Lightning: a callback that tells what is wrong with a training."""

from __future__ import annotations

import sys
from typing import Any

from gradstep.integrations.training import TrainingReports

if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning import Callback as _Callback  # the older name of the same
else:
    from lightning.pytorch import Callback as _Callback


class Callback(TrainingReports, _Callback):
    """Reports on what ``trainer.fit`` runs: ``Trainer(callbacks=[Callback()])``.

    Arguments are those of :class:`~gradstep.integrations.training.TrainingReports`.
    """

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin to look."""
        self._begin(pl_module, trainer.optimizers, trainer.global_step)

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        """Report, where it is time to."""
        self._took(trainer.global_step)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Look no more, and report."""
        self._end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Look no more, and report on the calls up to the error."""
        self._end(exception)
