"""``python -m weft``: the command line."""

import sys

from weft.cli import main

sys.exit(main())
