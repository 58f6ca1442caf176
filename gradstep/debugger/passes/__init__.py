"""One backward pass under the debugger: where it stands, and what there is to see and change."""
