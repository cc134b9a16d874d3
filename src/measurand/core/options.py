"""The options given to a metric: which it takes, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from measurand.core.errors import MeasurandError, did_you_mean
from measurand.core.metric import KEYS_OF_EVERY_METRIC, Metric


class OptionsError(MeasurandError):
    """Options that a metric does not take; `problems` are sentences."""

    exit_code = 2

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


def wrong_options(one: Metric[Any], given: Mapping[str, Any]) -> list[str]:
    """A sentence for each option that the metric does not have or whose value it does not take."""
    known = {option.name: option for option in one.options}
    problems: list[str] = []
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            takes = did_you_mean(name, (*known, *KEYS_OF_EVERY_METRIC)) or (f"it takes {', '.join(known)}" if known else "it takes no options")
            problems.append(f"{one.name} has no option '{name}'; {takes}")
        elif not option.type.accepts(value):
            problems.append(f"{one.name}: {name} = {value!r} is not {option.type.allowed}")
    return problems


def checked_options(one: Metric[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a metric with their values. Raises `OptionsError` with every unknown name, wrong type and missing required option."""
    problems = wrong_options(one, given)
    problems += [f"{one.name} needs the option '{name}', which has no default" for name in one.needs_options if name not in given]
    if problems:
        raise OptionsError(problems)
    return {option.name: option.type.keep(given[option.name]) if option.name in given else option.default for option in one.options}
