"""Runs a user's program, for the command line and for documents, and finds the graph in it."""
