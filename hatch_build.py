"""What the metadata of a release says of where gradstep is published: all of it is made of the one
address in pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Adds the addresses of the project, and the README with links that work on an index."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the metadata."""
        address = str(self.config["address"])
        metadata["urls"] = {
            "Homepage": address,
            "Documentation": f"{address}/blob/main/docs/index.rst",
            "Source": address,
            "Issues": f"{address}/issues",
            "Changelog": f"{address}/blob/main/docs/changelog.rst",
        }
        readme = (Path(self.root) / "README.md").read_text("utf-8")
        pictures = r'(!\[[^\]]*\]\(|src="|srcset=")(?!https?://)'
        readme = re.sub(pictures, rf"\1{address}/raw/main/", readme)
        readme = re.sub(r"\]\((?!https?://|#)", f"]({address}/blob/main/", readme)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
