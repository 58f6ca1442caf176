"""``python -m tui`` is the ``gradstep`` command."""

import sys

from tui.cli import main

sys.exit(main())
