"""Refuse a commit whose subject does not read `area: Verb what`, in at most 72 characters.

Git runs it as a hook, with the file that holds the message: see .pre-commit-config.yaml.
"""

import re
import sys
from pathlib import Path

LIMIT = 72
FORM = re.compile(r"[a-z][a-z0-9 ,._/-]*: [A-Z]|Merge |Revert |(fixup|squash|amend)! ")

subject = Path(sys.argv[1]).read_text("utf-8").partition("\n")[0]
if not FORM.match(subject):
    sys.exit(f"the subject {subject!r} does not read 'area: Verb what'")
if len(subject) > LIMIT:
    sys.exit(f"the subject has {len(subject)} characters, {len(subject) - LIMIT} too many")
