"""For the Trainer of Hugging Face: a callback that tells what is wrong with a training."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from gradstep.integrations.training import TrainingReports


class Callback(TrainingReports, TrainerCallback):
    """Reports on what ``trainer.train()`` runs: ``Trainer(..., callbacks=[Callback()])``.

    A Trainer tells nobody of an error: where one ends the training, the report comes when the
    program ends, or the next training begins. Arguments are those of
    :class:`~gradstep.integrations.training.TrainingReports`.
    """

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Begin to look."""
        self._begin(given.get("model"), given.get("optimizer"), state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Report, where it is time to."""
        self._took(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Look no more, and report."""
        self._end()
