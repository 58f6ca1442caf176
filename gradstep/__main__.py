"""The ``gradstep`` command, also as ``python -m gradstep``."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the ``gradstep`` command, and return its exit code."""
    # The command can be interrupted from here on: what takes a while to load is imported where it
    # is needed.
    try:
        from gradstep_tui.cli import main as command  # late, see above

        return command()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("gradstep: interrupted\n")
        return 130


if __name__ == "__main__":
    # -m puts the current directory first, where a user may have files of any name.
    home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != home:
        del sys.path[0]
    sys.exit(main())
