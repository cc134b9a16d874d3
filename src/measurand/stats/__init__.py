"""Statistics: arrays in, frozen values out. Knows no files, no network, no terminal.

Every estimate carries its interval, its n and what was left out. `summary.summarise_metric` gives everything one run says about one metric.
"""

from __future__ import annotations
