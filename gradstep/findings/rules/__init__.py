"""What `check` looks for: in the graph of one call, and in a whole run. A rule is one file."""
