"""`python -m measurand`: the same as `metrics`."""

from __future__ import annotations

import sys

from measurand.cli import main

if __name__ == "__main__":
    sys.exit(main())
