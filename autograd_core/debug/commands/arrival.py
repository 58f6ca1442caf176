"""What there is to say after a movement."""

from __future__ import annotations

from autograd_core.debug.commands.console import Console
from autograd_core.debug.commands.looking import displays_text
from autograd_core.debug.commands.wording import here, stop_text


def arrived(console: Console) -> str:
    """What log points said on the way, why it stops, where it is, and the displays there."""
    stops = console.session.stops
    reached = stops.take_reached()
    console.follow(reached.point.commands if reached else ())
    said = stops.take_messages()
    if reached is not None:
        said.append(stop_text(reached))
    said += [here(console.session), displays_text(console)]
    return "\n".join(part for part in said if part)
