"""The lines above and below the panes: status, timeline, hints, prompt."""
