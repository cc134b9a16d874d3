"""The command `metrics`: words in, words out."""

from __future__ import annotations

from measurand.cli.main import main

__all__ = ["main"]
