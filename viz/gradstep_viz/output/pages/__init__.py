"""Self-contained pages around a picture or a film; they need nothing from anywhere else.

The scripts and style sheets lie beside this file as what they are.
"""

from gradstep_viz.output.pages.film import write_film_page
from gradstep_viz.output.pages.graph import write_graph_page
from gradstep_viz.output.pages.pair import Spot, write_pair_page

__all__ = ["Spot", "write_film_page", "write_graph_page", "write_pair_page"]
