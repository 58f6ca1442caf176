"""What is shown at the end of a pass, against what the program has then."""

from __future__ import annotations

from gradstep.debugger.passes.cursor import Cursor
from gradstep.records import LEAF


def untrue_leaves(cursor: Cursor) -> list[int]:
    """List the leaves, by plan index, whose ``.grad`` in the program is not the one that is shown,
    or whose shown one is not the sum of what arrived; the pass is over, and recorded whole."""
    driver, edited = cursor.driver, set(cursor.edits.leaves)
    # callbacks of torch.distributed change .grad after the last node
    if driver.read_only and not driver.call.graph:
        return []
    differing = []
    for index, node in enumerate(driver.order):
        if node.kind != LEAF or index in edited:
            continue
        step = cursor.history[index]
        later = [at for at in driver.changed_gradients.get(index, {}) if at > index]
        if later:
            shown = driver.changed_gradients[index][max(later)]
        else:
            shown = driver.step_when_run(step).after
        if not (
            driver.agree(shown, driver.grad(index))
            and driver.agree(step.after, driver.summed_up(step))
        ):
            differing.append(index)
    return differing


def is_shared(cursor: Cursor, index: int) -> bool:
    """Return whether the ``.grad`` of a leaf is that of another leaf of the pass as well."""
    driver = cursor.driver
    own = driver.grad(index)
    return own is not None and any(
        driver.grad(at) is own
        for at, node in enumerate(driver.order)
        if node.kind == LEAF and at != index
    )
