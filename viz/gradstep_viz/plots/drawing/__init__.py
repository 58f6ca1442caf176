"""Plots on paper: only here is matplotlib used, and only when something is drawn."""
