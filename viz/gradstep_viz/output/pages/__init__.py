"""Self-contained pages around a picture or a film; they need nothing from anywhere else.

The scripts and style sheets lie beside this file as what they are.
"""

from gradstep_viz.output.pages.frame import Spot, write_film_page, write_pair_page
from gradstep_viz.output.pages.graph import write_graph_page

__all__ = ["Spot", "write_film_page", "write_graph_page", "write_pair_page"]
