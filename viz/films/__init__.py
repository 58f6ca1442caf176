"""Films: how a graph is built op by op, and how the gradients then run back through it.

A film has one picture and many frames.  It is written as one SVG that plays without a script,
as a page with a scrubber, or as numbered stills.
"""

from viz.films.making import Film, film, film_of

__all__ = ["Film", "film", "film_of"]
