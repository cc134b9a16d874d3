"""The judge: from a metric's typed requests to what a model is sent, and from its replies to verdicts. Pure: nothing is sent from here."""

from __future__ import annotations

from measurand.judge.ask import asked
from measurand.judge.exchange import Asked, Exchange, Reply, Unreadable, Ways
from measurand.judge.probe import Probe, probe, ways
from measurand.judge.prompt import SYSTEM
from measurand.judge.reply import read_choice, read_json, read_scale, read_yes_no
from measurand.judge.row import Row, is_reference
from measurand.judge.together import together
from measurand.judge.version import PROMPT_VERSION, prompt_hash

__all__ = [
    "PROMPT_VERSION",
    "SYSTEM",
    "Asked",
    "Exchange",
    "Probe",
    "Reply",
    "Row",
    "Unreadable",
    "Ways",
    "asked",
    "is_reference",
    "probe",
    "prompt_hash",
    "read_choice",
    "read_json",
    "read_scale",
    "read_yes_no",
    "together",
    "ways",
]
