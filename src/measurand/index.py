"""The index of metrics: every one that is known, and how to find it. (Not `registry.py`: `measurand.registry` is the object, and a module of that name would hide it.)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final, Literal

from attrs import evolve, frozen

from measurand.core import metric as declaration
from measurand.core.errors import DeclarationError, Problem, UsageError, did_you_mean, nearest
from measurand.core.fields import FIELDS
from measurand.core.metric import Metric
from measurand.core.taxonomy import MetricCategory
from measurand.plugins import BrokenPlugin, Plugin, load_plugin, plugins_allowed

FAMILIES: Final = ("text", "structure", "retrieval", "tools", "trajectory", "performance", "safety", "quality", "conversation", "rag", "agent", "embedding")
METHODS: Final = ("code", "llm", "embed")
PREFIXES: Final = tuple(f"{method}_" for method in METHODS)

_AGENT: Final = (
    "code_tool_selection_precision",
    "code_tool_selection_recall",
    "code_tool_selection_f1",
    "code_tool_call_match",
    "code_tool_call_f1",
    "code_tool_arguments",
    "code_tool_argument_completeness",
    "code_tool_schema_valid",
    "code_tool_success",
    "code_trajectory_precision",
    "code_trajectory_recall",
    "code_trajectory_in_order",
    "code_trajectory_lcs",
    "code_step_efficiency",
    "code_redundant_calls",
    "code_loop_detected",
    "code_error_recovery",
    "code_required_tool",
    "code_forbidden_tool",
    "code_destructive_action",
    "code_terminal_success",
    "code_task_reward",
    "code_latency",
    "code_cost",
)

SUITES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("code_exact_match", "code_normalized_match", "code_token_f1", "code_rouge_l", "code_chrf", "code_levenshtein"),
    "agent": _AGENT,
    "agent-everything": (*_AGENT, "llm_agent_goal", "llm_task_completion"),
    "rag": ("llm_faithfulness", "llm_answer_relevance", "llm_context_precision", "llm_context_recall"),
    "rag-offline": (
        "code_token_f1",
        "code_rouge_l",
        "code_context_precision",
        "code_context_recall",
        "code_average_precision",
        "code_mrr",
        "code_ndcg",
    ),
    "safety": (
        "code_canary_leak",
        "code_pii_leak",
        "code_secret_leak",
        "code_system_prompt_leak",
        "code_injection_attempt",
        "code_injection_compliance",
        "code_forbidden_tool",
        "code_destructive_action",
        "code_profanity",
    ),
    "conversation": ("code_fact_recall", "code_response_rate"),
}
"""Named lists of metrics. Users add theirs under `[suites]`."""


@frozen
class Snapshot:
    """What is known at one moment. Replaced as a whole, never changed."""

    metrics: Mapping[str, Metric[Any]]
    aliases: Mapping[str, str]
    plugins: Mapping[str, Plugin]
    broken: tuple[BrokenPlugin, ...] = ()


class Registry:
    """Every known metric by name: built-ins, those declared by the user, and those of plugins, loaded when their namespace is named."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None

    # ------------------------------------------------------------ reading

    @property
    def snapshot(self) -> Snapshot:
        """The present state."""
        if self._snapshot is None:
            self._snapshot = _built_ins()
        return self._snapshot

    def __iter__(self) -> Iterator[Metric[Any]]:
        return iter([self.snapshot.metrics[name] for name in sorted(self.snapshot.metrics)])

    def __len__(self) -> int:
        return len(self.snapshot.metrics)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __getitem__(self, name: str) -> Metric[Any]:
        """The metric of this name or `same` alias. Raises `KeyError` with what is near."""
        found = self.get(name)
        if found is None:
            raise KeyError(str(self.unknown(name)))
        return found

    def get(self, name: str) -> Metric[Any] | None:
        """The metric of this name or `same` alias; None when there is none."""
        state = self.snapshot
        found = state.metrics.get(name) or state.metrics.get(state.aliases.get(name, ""))
        if found is None and "." in name and self._load_namespace(name.partition(".")[0]):
            return self.get(name)
        return found

    def by_category(self, categories: MetricCategory) -> list[Metric[Any]]:
        """The metrics that have all of these flags, by name. Raises `UsageError` for the zero, which every metric would have."""
        return self.query(all_of=categories)

    def query(
        self,
        *,
        all_of: MetricCategory | None = None,
        any_of: MetricCategory | None = None,
        without: MetricCategory | None = None,
        method: Literal["code", "llm", "embed"] | None = None,
        requires: Iterable[str] = (),
        available: Iterable[str] | None = None,
        max_cost_usd: float | None = None,
        search: str = "",
    ) -> list[Metric[Any]]:
        """The metrics that meet every condition given, by name.

        `available`: only what a row with these fields can feed. `max_cost_usd`: US dollars per row; a metric whose price is not known is left out.
        Raises `UsageError` for a flag condition that is zero, and for a method or field that does not exist.
        """
        have = None if available is None else _names(available)
        fields = _names(requires)
        problems = [*_wrong_flags(all_of=all_of, any_of=any_of, without=without), *_unknown_words(method, fields)]
        if problems:
            raise UsageError(problems)
        return [
            one
            for one in self
            if (all_of is None or one.categories & all_of == all_of)
            and (any_of is None or one.categories & any_of)
            and (without is None or not one.categories & without)
            and (method is None or method in one.method)
            and all(any(wanted in need.split("|") for need in one.requires) for wanted in fields)
            and (have is None or one.feedable(have))
            and (max_cost_usd is None or not (one.judge or one.embedder))
            and (not search or matches(one, search))
        ]

    def relations(self, name: str) -> list[tuple[Metric[Any], str]]:
        """The metrics that state how they differ from `name`, with the difference."""
        wanted = name.casefold()
        return [
            (one, known.difference) for one in self for known in one.relations if wanted in (known.name.casefold(), known.name.rpartition(".")[2].casefold())
        ]

    def quantity(self, name: str) -> list[Metric[Any]]:
        """The built-ins that measure a bare quantity (`context_recall`), the code metric first."""
        metrics = self.snapshot.metrics
        return [metrics[prefix + name] for prefix in PREFIXES if prefix + name in metrics]

    def resolve(self, name: str, feedable: Callable[[Metric[Any]], bool], where: str = "") -> Metric[Any] | Problem:
        """The metric that `name` stands for: a name, a `same` alias, or a bare quantity that a code metric can measure on this data."""
        found = self.get(name)
        if found is not None:
            return found
        candidates = self.quantity(name)
        if not candidates:
            return evolve(self.unknown(name), where=where)
        free = [one for one in candidates if one.method == ("code",) and feedable(one)]
        if free:
            return free[0]
        return Problem(
            "ambiguous_metric", where, f"'{name}' names a quantity, and no metric that needs no model can measure it on this data", _choices(candidates)
        )

    def unknown(self, name: str, where: str = "") -> Problem:
        """What to answer to a name that resolves to nothing: a quantity's metrics, relations with their difference, or the nearest names."""
        quantity = self.quantity(name)
        if quantity:
            return Problem("ambiguous_metric", where, f"'{name}' is a quantity, not a metric", _choices(quantity))
        close = self.relations(name)
        if close:
            candidates = "; ".join(f"{one.name} ({difference})" for one, difference in close[:3])
            return Problem("unknown_metric", where, f"no metric is called '{name}'", f"close, but not the same: {candidates}")
        state = self.snapshot
        broken = next((one for one in state.broken if name.startswith(f"{one.namespace}.")), None)
        if broken is not None:
            return Problem("broken_plugin", where, f"'{name}' belongs to the plugin {broken.namespace}, which cannot be loaded", broken.reason)
        bare = {known.partition("_")[2]: known for known in state.metrics if "." not in known}
        hint = did_you_mean(name, [*state.metrics, *state.aliases]) or _bare_hint(name, bare) or "metrics list shows all there are"
        return Problem("unknown_metric", where, f"no metric is called '{name}'", hint)

    # ------------------------------------------------------------ declaring

    def add(self, one: Metric[Any]) -> None:
        """Makes a metric known. The same name from the same module and qualname (a re-run cell) replaces it; from elsewhere it is a `DeclarationError`."""
        self._snapshot = _with(self.snapshot, one)

    def metric(self, first: Any = None, categories: Any = None, **declared: Any) -> Any:
        """`core.metric.metric`, and the metric is known at once."""
        made = declaration.metric(first, categories, **declared)
        if isinstance(made, Metric):
            self.add(made)
            return made

        def declare_and_add(function: Any) -> Metric[Any]:
            one: Metric[Any] = made(function)
            self.add(one)
            return one

        return declare_and_add

    def load_plugins(self) -> None:
        """Imports every installed plugin. One that fails is listed as broken with its reason and disturbs nothing else."""
        for namespace in self.snapshot.plugins:
            self._load_namespace(namespace)

    def _load_namespace(self, namespace: str) -> bool:
        """Whether the namespace became known by this call."""
        before = self.snapshot
        plugin = before.plugins.get(namespace)
        if plugin is None or not plugins_allowed():
            return False
        self._snapshot = evolve(before, plugins={name: one for name, one in before.plugins.items() if name != namespace})
        try:
            for one in load_plugin(plugin):
                self._snapshot = _with(self.snapshot, evolve(one, plugin=namespace))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever a plugin does, it disturbs nothing else
            reason = f"{type(error).__name__}: {error}"[:500]
            self._snapshot = evolve(
                before,
                plugins={name: one for name, one in before.plugins.items() if name != namespace},
                broken=(*before.broken, BrokenPlugin(namespace, plugin.target, reason)),
            )
            return False
        return True


def _names(given: Iterable[str]) -> frozenset[str]:
    return frozenset((given,) if isinstance(given, str) else given)


def _wrong_flags(**conditions: object) -> Iterator[Problem]:
    for name, flags in conditions.items():
        if flags is not None and not isinstance(flags, MetricCategory):
            yield Problem("bad_category", name, f"{flags!r} is no MetricCategory", 'e.g. MetricCategory.RAG, or MetricCategory.parse("rag")')
        elif flags is not None and not flags:
            yield Problem("empty_category", name, "the category is none, which selects nothing", "name at least one flag")


def _unknown_words(method: str | None, fields: Iterable[str]) -> Iterator[Problem]:
    if method not in (None, *METHODS):
        yield Problem("unknown_method", "method", f"'{method}' is no method", f"it is one of {', '.join(METHODS)}")
    for name in fields:
        if name not in FIELDS and not name.startswith("metadata."):
            yield Problem("unknown_field", "requires", f"'{name}' is no field of a record", did_you_mean(name, FIELDS) or f"a record has {', '.join(FIELDS)}")


def matches(one: Metric[Any], text: str) -> bool:
    """Whether every word of `text` occurs in the metric's name, description, flags or the names it has elsewhere."""
    hay = " ".join((one.name, one.doc, " ".join(one.categories.words), " ".join(one.aliases), " ".join(known.name for known in one.relations))).casefold()
    return all(word in hay for word in text.casefold().split())


def _choices(candidates: Iterable[Metric[Any]]) -> str:
    return "write " + " or ".join(f"{one.name} (needs {', '.join(one.requires)}{'' if one.method == ('code',) else '; paid'})" for one in candidates)


def _bare_hint(name: str, bare: Mapping[str, str]) -> str:
    near = nearest(name, bare)
    return f"did you mean {' or '.join(bare[word] for word in near)}?" if near else ""


def _with(state: Snapshot, one: Metric[Any]) -> Snapshot:
    present = state.metrics.get(one.name)
    if present is not None and present.origin != one.origin:
        raise DeclarationError(f"{one.name} is declared in {'.'.join(one.origin)} and already in {'.'.join(present.origin)}; give one of them another name")
    state = _without(state, one.name)
    taken = state.aliases.get(one.name)
    if taken is not None:
        raise DeclarationError(f"{one.name} is kept: it is another name of {taken}; choose a name of your own")
    for alias in one.aliases:
        holder = state.metrics.get(alias) or state.metrics.get(state.aliases.get(alias, ""))
        if holder is not None and holder.name != one.name:
            raise DeclarationError(f"{one.name} says it is the same as '{alias}', which is {holder.name}; state the difference as a sentence instead")
    return evolve(state, metrics={**state.metrics, one.name: one}, aliases={**state.aliases, **dict.fromkeys(one.aliases, one.name)})


def _without(state: Snapshot, name: str) -> Snapshot:
    return evolve(
        state,
        metrics={known: one for known, one in state.metrics.items() if known != name},
        aliases={alias: known for alias, known in state.aliases.items() if known != name},
    )


def _built_ins() -> Snapshot:
    from measurand.plugins import installed_plugins

    metrics: dict[str, Metric[Any]] = {}
    aliases: dict[str, str] = {}
    for family in FAMILIES:
        for value in vars(import_module(f"measurand.catalogue.{family}")).values():
            if isinstance(value, Metric) and value.name not in metrics:
                metrics[value.name] = value
                aliases.update(dict.fromkeys(value.aliases, value.name))
    return Snapshot(metrics, aliases, installed_plugins() if plugins_allowed() else {})


registry: Final[Registry] = Registry()
"""The one registry."""
