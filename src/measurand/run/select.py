"""Which metrics a run takes: the words of `[run] metrics` become instances, once the rows are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import tomli
from attrs import evolve, frozen

from measurand.config import Settings
from measurand.config.work import CODE_HINT, CODE_IN_CONFIG
from measurand.core.errors import Problem, UsageError, did_you_mean
from measurand.core.instance import Instance, instance
from measurand.core.metric import Metric
from measurand.core.options import OptionsError
from measurand.core.taxonomy import MetricCategory
from measurand.index import SUITES, registry
from measurand.run.availability import Availability

PYTHON_FILE: Final = re.compile(r"\.py(?::|$)")


@frozen
class Wanted:
    """One metric that was asked for: by name, with the options written beside it, or by a category or suite."""

    name: str
    options: Mapping[str, Any]
    where: str
    named: bool


@frozen
class LeftOut:
    """A metric chosen by category or suite that cannot be measured here, and what it lacks."""

    metric: str
    missing: tuple[str, ...]


@frozen
class Chosen:
    """What a selection came to."""

    instances: tuple[Instance, ...]
    left_out: tuple[LeftOut, ...]
    problems: tuple[Problem, ...]


def wanted_metrics(words: Sequence[str], settings: Settings, where: str) -> tuple[list[Wanted], list[Problem]]:
    """Reads the selection: names with options, `suite:…`, `category:… & … & !…`. Everything that cannot be read is a problem."""
    problems: list[Problem] = []
    wanted = list(_expand(words, settings, where, named=True, problems=problems))
    return wanted, problems


def _expand(words: Iterable[str], settings: Settings, where: str, *, named: bool, problems: list[Problem]) -> Iterable[Wanted]:
    for word in words:
        kind, colon, rest = word.partition(":")
        try:
            if colon and kind.strip() == "suite":
                yield from _expand(_suite(rest.strip(), settings, where), settings, where, named=False, problems=problems)
            elif colon and kind.strip() == "category":
                yield from (Wanted(one.name, {}, where, False) for one in _by_flags(rest, where))
            else:
                name, options = _name_and_options(word, where)
                yield Wanted(name, options, where, named)
        except UsageError as error:
            problems.extend(evolve(problem, where=problem.where or where) for problem in error.problems)


def _suite(name: str, settings: Settings, where: str) -> Sequence[str]:
    suites = {**SUITES, **settings.suites}
    if name not in suites:
        raise UsageError(
            Problem("unknown_suite", where, f"no suite is called '{name}'", did_you_mean(name, suites) or f"there are {', '.join(sorted(suites))}")
        )
    return suites[name]


def _by_flags(text: str, where: str) -> list[Metric[Any]]:
    all_of = without = MetricCategory(0)
    for part in text.split("&"):
        word = part.strip()
        if word.startswith("!"):
            without |= MetricCategory.parse(word[1:])
        else:
            all_of |= MetricCategory.parse(word)
    if not all_of:
        raise UsageError(Problem("empty_category", where, f"'category:{text}' only excludes", "name at least one flag to include"))
    return registry.query(all_of=all_of, without=without or None)


def _name_and_options(word: str, where: str) -> tuple[str, dict[str, Any]]:
    name, bracket, rest = word.strip().partition("(")
    if PYTHON_FILE.search(name.strip()):
        raise UsageError(Problem("code_in_config", where, f"'{word}' {CODE_IN_CONFIG}", CODE_HINT))
    if not bracket:
        return name, {}
    if not rest.endswith(")"):
        raise UsageError(Problem("bad_selection", where, f"'{word}' has no closing bracket", f"write {name}(option=value)"))
    try:
        options = tomli.loads(f"options = {{{rest[:-1]}}}")["options"]
    except tomli.TOMLDecodeError:
        raise UsageError(Problem("bad_selection", where, f"the options of '{word}' cannot be read", f'write them as in TOML: {name}(k=5, mode="f1")')) from None
    return name.strip(), options


def choose(wanted: Sequence[Wanted], settings: Settings, availability: Availability | None) -> Chosen:
    """The instances to run. Without `availability` (the data could not be read) only names and options are checked."""
    instances: dict[str, Instance] = {}
    left_out: dict[str, LeftOut] = {}
    problems: list[Problem] = []
    for one in wanted:
        try:
            made = _instance(one, settings, availability)
        except UsageError as error:
            problems.extend(error.problems)
            continue
        if isinstance(made, LeftOut):
            left_out.setdefault(made.metric, made)
        elif made.name not in instances or made.named:  # also chosen by its name: it keeps its place
            instances[made.name] = made
    measured = {each.metric.name for each in instances.values()}
    return Chosen(tuple(instances.values()), tuple(entry for name, entry in left_out.items() if name not in measured), tuple(dict.fromkeys(problems)))


def _instance(one: Wanted, settings: Settings, availability: Availability | None) -> Instance | LeftOut:
    table = settings.metrics.get(one.name)
    base = table.use if table is not None and table.use else one.name
    feedable = availability.feeds_every_row if availability is not None else (lambda metric: True)
    found = registry.resolve(base, feedable, one.where)
    if isinstance(found, Problem):
        known = [name for name in settings.metrics if "." in name]
        near = did_you_mean(one.name, known)
        raise UsageError(evolve(found, hint=f"{near} {found.hint}".strip()) if near else found)
    own_table = settings.metrics.get(found.name) if table is None else table
    options = {**(own_table.options if own_table is not None else {}), **one.options}
    if not one.named and found.extra is not None and not is_installed(found.extra[1]):
        return LeftOut(found.name, (f"extra {found.extra[0]}",))
    if not one.named and set(found.needs_options) - set(options):
        return LeftOut(found.name, tuple(f"option {name}" for name in found.needs_options if name not in options))
    if not one.named and availability is not None and availability.fed(found) == 0:
        return LeftOut(found.name, availability.lacking(found).missing)
    try:
        made = instance(found, options, threshold=getattr(own_table, "threshold", None), named=one.named)
    except OptionsError as error:
        where = one.where if one.options else settings.where(("metrics", one.name))
        raise UsageError([Problem("bad_option", where, sentence) for sentence in error.problems]) from None
    written = one.name if table is not None and table.use else found.name
    return _with_settings(evolve(made, name=_filed_under(written, made, one.options)), own_table, settings)


def _filed_under(name: str, made: Instance, options: Mapping[str, Any]) -> str:
    """What results are filed under: the name as it was written; options beside it are part of it, those of a table are not."""
    return made.name.replace(made.metric.name, name, 1) if options else name


def _with_settings(made: Instance, table: Any, settings: Settings) -> Instance:
    metric = made.metric
    question = next((one for one in settings.questions if one.name == metric.name), None)

    def setting(key: str) -> Any:
        stated = (getattr(table, key, None), getattr(question, key, None), getattr(settings.run, key, None))
        return next((one for one in stated if one is not None), None)

    return evolve(
        made,
        judge=tuple(setting("judge") or ()) if metric.judge else (),
        embedding=setting("embedding") if metric.embedder else None,
        draws=setting("draws") if metric.judge else 1,
        ask=setting("ask"),
        explain=setting("explain"),
        on_missing=setting("on_missing"),
    )


def is_installed(module: str) -> bool:
    """Whether a library that only some metrics need is there. It is not imported."""
    from importlib.util import find_spec

    return find_spec(module) is not None
