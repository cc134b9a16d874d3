"""The declaration of a metric: one frozen value from which flags, validation, cost, columns, docs and schemas are derived."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeVar, get_args, overload

from attrs import frozen

from measurand.core.annotations import FIELD_ANNOTATIONS, OptionType, annotation_text, column_of, is_number, option_type, returned, without_none
from measurand.core.errors import DeclarationError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.score import Score
from measurand.core.taxonomy import DERIVED, MetricCategory, derived_flags

if TYPE_CHECKING:
    from measurand.core.result import MetricResult

__all__ = ["REQUIRED", "CorpusFold", "Metric", "Option", "Parameter", "Relation", "Score", "metric", "same"]

Direction = Literal["higher", "lower", "none"]
Type = Literal["binary", "proportion", "continuous", "count"]
Lifecycle = Literal["preview", "stable", "deprecated", "unavailable"]
_DIRECTIONS: Final[tuple[str, ...]] = get_args(Direction)
_TYPES: Final[tuple[str, ...]] = get_args(Type)
_LIFECYCLES: Final[tuple[str, ...]] = get_args(Lifecycle)

NAME_LIMIT: Final = 64
VERSION_LIMIT: Final = 32
KEYS_OF_EVERY_METRIC: Final = ("use", "threshold", "judge", "embedding", "draws", "ask", "on_missing", "explain")
"""What `[metrics.NAME]` takes for any metric."""
_NO_OPTION: Final = frozenset((*KEYS_OF_EVERY_METRIC, "version"))
KEYWORDS: Final = (
    "source",
    "aka",
    "type",
    "range",
    "direction",
    "threshold",
    "one_of",
    "corpus",
    "example",
    "version",
    "since",
    "status",
    "replaced_by",
    "extra",
)
"""What `@metric` takes by keyword."""
ADAPTERS: Final = ("ragas", "deepeval")
"""Namespaces that are kept for adapters of other libraries."""
_COROUTINE: Final = 0x80 | 0x200  # flags of a code object (inspect.CO_…; importing inspect costs start-up)
_GENERATOR: Final = 0x20
_STARRED: Final = 0x04 | 0x08

REQUIRED: Final = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()
"""The default of an option that must be set."""


class _Same:
    def __repr__(self) -> str:
        return "same"


same: Final = _Same()
"""In `aka`: the other name measures exactly this; it resolves to the metric and is reserved."""

F = TypeVar("F", bound=Callable[..., Any])


class CorpusFold(Protocol):
    """A statistic of all rows together that is no mean of rows. States merge: merge(add(zero(), …), …) in any grouping gives the same value."""

    def zero(self) -> Any:
        """The state of no rows."""

    def add(self, state: Any, *fields: Any) -> Any:
        """The state with one more row; `fields` as the metric's own parameters."""

    def merge(self, a: Any, b: Any) -> Any:
        """The state of both."""

    def value(self, state: Any) -> float | None:
        """The statistic; None when it is undefined."""


@frozen
class Parameter:
    """A record field that a metric takes. `name` is the parameter's, `field` what it is fed from (`metadata.…` for a house column)."""

    name: str
    field: str
    annotation: str
    required: bool


@frozen
class Option:
    """A keyword that changes what a metric computes. `default` is `REQUIRED` when it must be set."""

    name: str
    type: OptionType
    default: Any


@frozen
class Relation:
    """Another project's or page's name for something close, and the difference in a sentence."""

    name: str
    difference: str


@frozen(eq=False, repr=False)
class Metric(Generic[F]):
    """A declared metric. Calling it runs the bare formula; `measurand.score` adds record, fan-out and status."""

    name: str
    version: str
    categories: MetricCategory
    function: F
    parameters: tuple[Parameter, ...]
    one_of: tuple[tuple[str, ...], ...]
    options: tuple[Option, ...]
    type: Type
    direction: Direction
    range: tuple[float, float]
    threshold: float | None
    judge: bool
    embedder: bool
    steps: bool
    doc: str
    source: str
    aliases: tuple[str, ...]
    relations: tuple[Relation, ...]
    example: Mapping[str, Any]
    since: str
    status: Lifecycle
    replaced_by: str | None
    corpus: CorpusFold | None
    origin: tuple[str, str]
    """Module and qualified name of where it was declared."""
    plugin: str | None = None
    opaque: Any = None
    """The object behind a class-based metric (see `core/opaque.py`), else None."""
    judged: Any = None
    """The question behind a judged metric (see `core/judged.py`), else None."""
    extra: tuple[str, str] | None = None
    """The extra of this package that the metric needs, and the module it brings: ("language", "py3langid")."""

    def __repr__(self) -> str:
        return f"<metric {self.name}({', '.join(self.requires)}): {self.type}>"

    @property
    def __call__(self) -> F:
        """The bare formula, as it was written: calling the metric calls it, with its own signature."""
        return self.function

    @property
    def __wrapped__(self) -> F:
        """The same, where `help` and `inspect` look for a signature."""
        return self.function

    @property
    def description(self) -> str:
        """The docstring's first line."""
        return self.doc.partition("\n")[0].rstrip(".")

    @property
    def requires(self) -> tuple[str, ...]:
        """Required fields, a one-of group written `a|b`."""
        return (*(one.field for one in self.parameters if one.required), *("|".join(group) for group in self.one_of))

    @property
    def optional(self) -> tuple[str, ...]:
        """Fields that are used when they are there."""
        grouped = {name for group in self.one_of for name in group}
        return tuple(one.field for one in self.parameters if not one.required and one.field not in grouped)

    @property
    def method(self) -> tuple[str, ...]:
        """`code`, or `llm` and/or `embed`."""
        return tuple(name for name, used in (("llm", self.judge), ("embed", self.embedder)) if used) or ("code",)

    @property
    def needs_options(self) -> tuple[str, ...]:
        """Options that have no default."""
        return tuple(one.name for one in self.options if one.default is REQUIRED)

    def feedable(self, available: Iterable[str]) -> bool:
        """Whether a row with these fields has everything the metric needs."""
        return not self.missing(available)

    def missing(self, available: Iterable[str]) -> tuple[str, ...]:
        """What such a row lacks, a one-of group written `a|b`."""
        have = frozenset(available)
        lacking = [one.field for one in self.parameters if one.required and one.field not in have]
        return (*lacking, *("|".join(group) for group in self.one_of if have.isdisjoint(group)))

    async def evaluate(self, context: Any) -> MetricResult:
        """Scores one row: `context` is a mapping of fields, a `Record` or an `EvaluationContext`. Never raises for what a row holds."""
        from measurand.core.cell import evaluate

        return await evaluate(self, context)


# ---------------------------------------------------------------- declaring


@overload
def metric(
    first: str | MetricCategory | None = None,
    categories: MetricCategory | None = None,
    *,
    source: str = "",
    aka: Mapping[str, _Same | str] | None = None,
    type: Type | None = None,
    range: tuple[float, float] | None = None,
    direction: Direction = "higher",
    threshold: float | None = None,
    one_of: Iterable[tuple[str, ...]] = (),
    corpus: CorpusFold | None = None,
    example: Mapping[str, Any] | None = None,
    version: str | None = None,
    since: str = "0.1.0",
    status: Lifecycle = "stable",
    replaced_by: str | None = None,
    extra: tuple[str, str] | None = None,
) -> Callable[[F], Metric[F]]: ...
@overload
def metric(first: F) -> Metric[F]: ...
def metric(first: Any = None, categories: Any = None, **declared: Any) -> Any:
    """Declares a metric from a plain function or a generator of requests. The function's parameters say what it needs (see `docs/adr/0002`).

    `first` is the name (of a user's metric: dotted) or the categories (of a built-in, named as its function).
    Raises `DeclarationError`, with a sentence that says how to mend it, when the declaration contradicts itself.
    """
    if callable(first):
        return declare(first, None, MetricCategory(0))
    if isinstance(first, MetricCategory):
        if categories is not None:
            raise DeclarationError("the categories are given twice; write them once")
        first, categories = None, first
    if first is not None and not isinstance(first, str):
        raise DeclarationError(f"@metric takes a name, categories or a function first, not {type(first).__name__}")
    for keyword in declared:
        if keyword not in KEYWORDS:
            raise DeclarationError(f"@metric has no keyword '{keyword}'; {did_you_mean(keyword, KEYWORDS) or 'it takes ' + ', '.join(KEYWORDS)}")
    flags = MetricCategory(0) if categories is None else categories
    if not isinstance(flags, MetricCategory):
        raise DeclarationError(f"the categories are {flags!r}; write flags: categories=MetricCategory.Fluency | MetricCategory.RAG")
    return lambda function: declare(function, first, flags, **declared)


def declare(
    function: Callable[..., Any],
    name: str | None,
    categories: MetricCategory,
    *,
    one_of: Iterable[tuple[str, ...]] = (),
    version: str | None = None,
    **stated: Any,
) -> Metric[Any]:
    """What `metric` does, as a plain call: reads the signature, then builds the declaration."""
    code = getattr(function, "__code__", None)
    if code is None or isinstance(function, Metric):
        what = repr(function) if isinstance(function, Metric) else f"a {type(function).__name__}"
        raise DeclarationError(f"{name or what}: a metric is declared from a function written with def, not from {what}")
    name = name or function.__name__
    where = f"{name} ({code.co_filename}:{code.co_firstlineno})"
    annotations = function.__annotations__
    if code.co_flags & _STARRED:
        extra = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        raise DeclarationError(f"{where}: *{extra} names no field; write each field the metric needs as a parameter")
    if code.co_flags & _COROUTINE:
        raise DeclarationError(f"{where}: a metric does not wait; write def, and yield what a model is to answer (-> Steps[Judge, float])")
    if "return" not in annotations:
        raise DeclarationError(f"{where}: the return annotation is missing; it is the metric's type: -> bool, -> int, -> float …")
    result = returned(annotation_text(annotations["return"]), where)
    if code.co_flags & _GENERATOR and not result.steps:
        raise DeclarationError(f"{where}: it yields requests, so its return annotation says whom it asks: -> Steps[Judge, float], -> Steps[Embedder, float] …")
    parameters = _parameters(function, annotations, where)
    if any(one.field == "expected" and one.annotation == "str" for one in parameters):
        if result.steps:
            raise DeclarationError(f"{where}: a metric that asks takes all references at once; write expected: list[str]")
        if stated.get("corpus") is not None:
            raise DeclarationError(f"{where}: a statistic of all rows takes all references at once; write expected: list[str]")
    return declared_metric(
        function,
        name,
        categories,
        where=where,
        number=result.number,
        judge=result.judge,
        embedder=result.embedder,
        steps=result.steps,
        parameters=parameters,
        one_of=one_of,
        options=_options(function, annotations, where),
        doc=function.__doc__ or "",
        version=version or ("1" if built_in(function.__module__) else source_hash(function)),
        origin=(function.__module__, function.__qualname__),
        **stated,
    )


def declared_metric(
    function: Callable[..., Any],
    name: str,
    categories: MetricCategory,
    *,
    where: str,
    number: str,
    judge: bool,
    embedder: bool,
    parameters: tuple[Parameter, ...],
    doc: str,
    version: str,
    origin: tuple[str, str],
    steps: bool = False,
    options: tuple[Option, ...] = (),
    one_of: Iterable[tuple[str, ...]] = (),
    source: str = "",
    aka: Mapping[str, _Same | str] | None = None,
    type: Type | None = None,
    range: tuple[float, float] | None = None,
    direction: Direction = "higher",
    threshold: float | None = None,
    corpus: CorpusFold | None = None,
    example: Mapping[str, Any] | None = None,
    since: str = "0.1.0",
    status: Lifecycle = "stable",
    replaced_by: str | None = None,
    opaque: Any = None,
    judged: Any = None,
    extra: tuple[str, str] | None = None,
) -> Metric[Any]:
    """Builds a metric from its parts, whatever form it was written in, and refuses what contradicts itself."""
    groups = tuple(tuple(group) for group in one_of)
    _check_groups(groups, parameters, where)
    _check_name(name, origin[0], judge, embedder, where)
    kind: Any = type or number
    for what, value, allowed in (("direction", direction, _DIRECTIONS), ("type", kind, _TYPES), ("status", status, _LIFECYCLES)):
        if value not in allowed:
            raise DeclarationError(f"{where}: {what} '{value}' is none of {', '.join(allowed)}")
    _check_threshold(threshold, direction, where)
    if threshold is None and direction != "none" and (kind == "binary" or (direction == "lower" and categories & MetricCategory.Safety)):
        threshold = 0.5
    if not 0 < len(version) <= VERSION_LIMIT:
        raise DeclarationError(f"{where}: the version '{version}' has {len(version)} characters; 1 to {VERSION_LIMIT} are allowed")
    known = (*FIELDS, *(option.name for option in options))
    for field in example or {}:
        if field not in known:
            raise DeclarationError(
                f"{where}: the example has '{field}', which is no field of a record and no option; {did_you_mean(field, known)}".rstrip("; ")
            )
    aliases, relations = _names_elsewhere(aka or {}, origin[0], where)
    return Metric(
        name=name,
        version=version,
        categories=_flags(categories, parameters, groups, judge, embedder, where),
        function=function,
        parameters=parameters,
        one_of=groups,
        options=options,
        type=kind,
        direction=direction,
        range=_range(kind, range, where),
        threshold=threshold,
        judge=judge,
        embedder=embedder,
        steps=steps,
        doc=_docstring(doc, where),
        source=source,
        aliases=aliases,
        relations=relations,
        example=dict(example or {}),
        since=since,
        status=status,
        replaced_by=replaced_by,
        corpus=corpus,
        origin=origin,
        opaque=opaque,
        judged=judged,
        extra=extra,
    )


def named_parameters(required: Iterable[str], optional: Iterable[str], where: str) -> tuple[Parameter, ...]:
    """Parameters for fields that are only named, each with the annotation that is natural for it."""
    names = [(name, True) for name in required] + [(name, False) for name in optional]
    return tuple(_named(name, needed, where) for name, needed in names)


_NATURAL: Final = {
    "text": "str",
    "expected": "list[str]",
    "contexts": "list[Context]",
    "messages": "list[Message]",
    "calls": "list[ToolCall]",
    "expected_calls": "list[ExpectedToolCall]",
    "tools": "list[Tool]",
    "usage": "Usage",
    "schema": "Json",
    "mapping": "Json",
    "json": "Json",
}


def _named(name: str, required: bool, where: str) -> Parameter:
    if name.startswith("metadata.") and len(name) > len("metadata."):
        return Parameter(name.rpartition(".")[2], name, "str", required)
    if name not in FIELDS:
        raise DeclarationError(f"{where}: '{name}' is no field of a record; {did_you_mean(name, FIELDS) or 'a record has ' + ', '.join(FIELDS)}")
    shape = FIELDS[name].shape
    return Parameter(name, name, _NATURAL.get(shape, shape), required)


def _parameters(function: Callable[..., Any], annotations: Mapping[str, object], where: str) -> tuple[Parameter, ...]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    first_default = len(names) - len(defaults)
    if any(default is not None for default in defaults):
        raise DeclarationError(f"{where}: a field's default is None (it is optional) or absent (it is required); options are keyword-only, after *")
    return tuple(_parameter(name, annotations, index < first_default, where) for index, name in enumerate(names))


def _parameter(name: str, annotations: Mapping[str, object], required: bool, where: str) -> Parameter:
    if name not in annotations:
        raise DeclarationError(f"{where}: the field '{name}' has no annotation; write e.g. {name}: str")
    text, column = column_of(annotation_text(annotations[name]))
    text, optional = without_none(text)
    if optional and required:
        raise DeclarationError(f"{where}: '{name}: {text} | None' is required and may be None; give it the default None, or drop the | None")
    if column is None and name not in FIELDS:
        hint = did_you_mean(name, FIELDS) or f"a record has {', '.join(FIELDS)}"
        raise DeclarationError(
            f"{where}: '{name}' is no field of a record; {hint} An option stands after *; a column of your own is {name}: Annotated[str, Column(\"{name}\")]"
        )
    if text not in FIELD_ANNOTATIONS:
        raise DeclarationError(f"{where}: the field '{name}' cannot be '{text}'; it can be {', '.join(FIELD_ANNOTATIONS)}")
    return Parameter(name, f"metadata.{column}" if column else name, text, required)


def _options(function: Callable[..., Any], annotations: Mapping[str, object], where: str) -> tuple[Option, ...]:
    code = function.__code__
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if not names:
        return ()
    for name in names:
        if name in _NO_OPTION:
            raise DeclarationError(f"{where}: an option cannot be called '{name}', every metric has a key of that name; choose another")
        if name not in annotations:
            raise DeclarationError(f"{where}: the option '{name}' has no annotation; write e.g. {name}: int = 5")
    defaults = function.__kwdefaults__ or {}
    return tuple(_option(name, option_type(annotation_text(annotations[name]), where), defaults.get(name, REQUIRED), where) for name in names)


def _option(name: str, takes: OptionType, default: Any, where: str) -> Option:
    if default is REQUIRED:
        return Option(name, takes, default)
    if not takes.accepts(default):
        raise DeclarationError(f"{where}: the option {name} = {default!r} is not {takes.allowed}")
    return Option(name, takes, takes.keep(default))


def _check_groups(groups: tuple[tuple[str, ...], ...], parameters: tuple[Parameter, ...], where: str) -> None:
    optional = {one.field for one in parameters if not one.required}
    for group in groups:
        for name in group:
            if name not in optional:
                raise DeclarationError(f"{where}: one_of names '{name}', which is no optional field of the metric; give the parameter the default None")


def built_in(module: str | None) -> bool:
    """Whether a metric declared in this module is one of measurand's own."""
    return module is not None and module.startswith("measurand.catalogue.")


def _check_name(name: str, module: str, judge: bool, embedder: bool, where: str) -> None:
    if len(name) > NAME_LIMIT or not name or not all(part.isidentifier() for part in name.split(".")):
        raise DeclarationError(f"{where}: a metric's name is words of letters, digits and _ joined by dots, at most {NAME_LIMIT} characters")
    if "." in name:
        return
    if not built_in(module):
        raise DeclarationError(f'{where}: a name without a dot is kept for built-ins; give yours a namespace: @metric("house.{name}")')
    prefix = "llm_" if judge else "embed_" if embedder else "code_"
    if not name.startswith(prefix):
        asks = "asks a judge" if judge else "uses an embedder" if embedder else "asks no model"
        raise DeclarationError(f"{where}: it {asks}, so its name begins with {prefix}")


def _flags(
    written: MetricCategory, parameters: tuple[Parameter, ...], groups: tuple[tuple[str, ...], ...], judge: bool, embedder: bool, where: str
) -> MetricCategory:
    by_hand = written & DERIVED
    if by_hand:
        raise DeclarationError(f"{where}: {by_hand} follows from the metric's fields and instruments and is not written; remove it from the categories")
    return written | derived_flags((one.field for one in parameters if one.required), groups, judge=judge, embedder=embedder)


def _check_threshold(threshold: float | None, direction: str, where: str) -> None:
    if threshold is None:
        return
    if not is_number(threshold):
        raise DeclarationError(f"{where}: the threshold {threshold!r} is no number")
    if direction == "none":
        raise DeclarationError(f'{where}: with direction="none" nothing passes or fails; drop the threshold, or say which side is good')


def _range(kind: str, given: tuple[float, float] | None, where: str) -> tuple[float, float]:
    if kind == "continuous":
        if given is None:
            raise DeclarationError(f'{where}: a continuous metric says its range: range=(0.0, float("inf"))')
        low, high = given
        if not low < high:
            raise DeclarationError(f"{where}: range=({low}, {high}) holds nothing; write the lower end first")
        return given
    if given is not None:
        raise DeclarationError(f'{where}: a {kind} metric has its range by its type; drop range= or write type="continuous"')
    return (0.0, math.inf) if kind == "count" else (0.0, 1.0)


def _names_elsewhere(aka: Mapping[str, _Same | str], module: str, where: str) -> tuple[tuple[str, ...], tuple[Relation, ...]]:
    aliases: list[str] = []
    relations: list[Relation] = []
    for name, relation in aka.items():
        if isinstance(relation, str):
            relations.append(Relation(name, relation))
        elif relation is not same:
            raise DeclarationError(f"{where}: aka says of '{name}' {relation!r}; write same, or the difference in a sentence")
        elif name.partition(".")[0] in ADAPTERS:
            raise DeclarationError(f"{where}: '{name}' lies in an adapter's namespace, which holds no aliases; state the difference as a sentence")
        elif "." not in name and not built_in(module):
            raise DeclarationError(f"{where}: the alias '{name}' has no dot, and such names are kept for built-ins; give it a namespace: \"house.{name}\"")
        else:
            aliases.append(name)
    return tuple(aliases), tuple(relations)


def _docstring(raw: str, where: str) -> str:
    if not raw.strip():
        raise DeclarationError(f"{where}: the docstring is missing; its first line is what `metrics list` says")
    if "\n" not in raw:
        return raw.strip()
    first, _, rest = raw.partition("\n")
    lines = rest.expandtabs().split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[indent:].rstrip() for line in lines)]).strip()


def source_hash(function: Callable[..., Any]) -> str:
    """Eight hex digits over a function's source; over its compiled code where the source cannot be had (typed into a bare prompt)."""
    import hashlib
    import inspect

    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = repr((_compiled(function.__code__), function.__kwdefaults__))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _compiled(code: Any) -> tuple[Any, ...]:
    """What a code object does, without where it lies in memory: nested functions are constants of it."""
    constants = [_compiled(one) if hasattr(one, "co_code") else one for one in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames
