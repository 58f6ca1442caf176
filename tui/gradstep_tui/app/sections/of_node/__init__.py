"""The sections that speak of the selected node."""
