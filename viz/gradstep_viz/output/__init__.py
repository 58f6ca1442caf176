"""A picture written down: as SVG, DOT, Mermaid or plain text, on a page, or in pixels."""
