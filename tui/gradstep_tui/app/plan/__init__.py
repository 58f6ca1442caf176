"""The plan of a backward pass as the screen shows it: edges in lanes, modules, a picture."""
