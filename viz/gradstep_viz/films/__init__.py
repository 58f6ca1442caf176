"""Films: how a graph is built op by op, and how the gradients then flow back through it.

A film is one picture with many frames. It is written as one SVG that plays without a script, as a
page with a scrubber, or as one SVG per frame.
"""

from gradstep_viz.films.making import Film, film, film_of, require_place_of_film

__all__ = ["Film", "film", "film_of", "require_place_of_film"]
