"""[data], [run], [metrics.NAME], [ragas], [anchors]: what is measured on what, and how."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from typing_extensions import TypedDict

from measurand.config.secrets import url_secret
from measurand.config.table import Above0, AtLeast0, Count, CountOr0, OneOrMany, Share, Table, Text, Texts, Variable, refuse
from measurand.core.errors import did_you_mean
from measurand.core.fields import FIELDS

DEFAULT_STORE: Final = "sqlite:///.metrics/store.db"
_STORE_SCHEMES = ("sqlite", "postgresql", "postgresql+psycopg")
_OPEN_FIELDS = ("metadata", "usage", "human")  # fields whose parts may be named: metadata.tier
CODE_IN_CONFIG: Final = "names a Python file, and a config never runs code"
CODE_HINT: Final = "load it with the explicit flag --load FILE.py on the command line, then write the metric's name here"
_PYTHON = re.compile(r"\.py(?::|$)")


Column = TypedDict(
    "Column",
    {
        "from": Annotated[Text, Field(description="The column's name; a dotted name reaches into nested objects.")],
        "split": NotRequired[Annotated[Text, Field(description="Splits a text cell into a list at every occurrence. Default: nothing is split.")]],
    },
)
"""Which column of the data feeds a field: a plain mapping, as the readers take it."""
Column.__pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[attr-defined]


def _column(value: Any) -> Any:
    if isinstance(value, dict) and value and "from" not in value:
        refuse("is a table without from", 'a column\'s name, or { from = "NAME", split = "\\n" }; a dotted field is quoted: "metadata.tier" = "NAME"')
    return {"from": value} if isinstance(value, str) else value


def _known_field(name: str) -> str:
    whole, dot, part = name.partition(".")
    if name not in FIELDS and not (dot and part and whole in _OPEN_FIELDS):
        by_alias = next((field.name for field in FIELDS.values() if name in field.aliases), None)
        near = f"write {by_alias}" if by_alias else did_you_mean(name, FIELDS)
        refuse("is no field of a record", near or f"fields: {', '.join(FIELDS)}, metadata.NAME", code="unknown_field")
    return name


FieldName = Annotated[str, AfterValidator(_known_field)]
ColumnOrName = Annotated[Column, BeforeValidator(_column, json_schema_input_type=Text | Column)]


class DataSettings(Table):
    """Where the rows are and how they are read."""

    path: OneOrMany = ()
    """A file, a glob or a list of them (.jsonl .json .csv .tsv .parquet, each also .gz), or "-" for standard input; relative to this file."""
    on_bad_row: Literal["stop", "skip"] = "stop"
    """What a row that cannot be read does: stop everything, or be left out and counted."""
    format: Literal["jsonl", "json", "csv", "tsv", "parquet"] | None = None
    """The files' format. Default: by their suffix."""
    encoding: Text = "utf-8"
    """The files' character encoding."""
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """The character between two cells of a CSV file. Default: by the format."""
    id: Literal["order"] | None = None
    """"order": rows without an id are named by their position. Default: by a hash of their task."""
    max_row_bytes: Count = 16_000_000
    """Longest row, in bytes."""
    max_field_chars: Count = 1_000_000
    """Longest text of a field, in characters."""
    columns: dict[FieldName, ColumnOrName] = Field(default_factory=dict)
    """Field → column, where the names do not tell."""

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            "".encode(value)
        except (LookupError, ValueError):
            refuse("is no encoding Python knows", 'e.g. "utf-8", "cp1252", "utf-16"')
        return value


def _metric_choice(value: str) -> str:
    if _PYTHON.search(value.partition("(")[0].strip()):
        refuse(CODE_IN_CONFIG, CODE_HINT, code="code_in_config")
    if not value.strip():
        refuse("is an empty name", 'a metric, "suite:NAME" or "category:FLAG"')
    return value


MetricChoice = Annotated[str, AfterValidator(_metric_choice)]
MetricChoices = Annotated[tuple[MetricChoice, ...], Field(strict=False)]


def _store(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if url_secret(value):
        refuse("holds a user name or password, which may not stand in a file", "name a variable that holds the URL: store_env", code="secret_in_config")
    scheme, colon, rest = value.partition("://")
    if not colon or scheme not in _STORE_SCHEMES:
        refuse("is no store", f'a URL, e.g. "{DEFAULT_STORE}" or "postgresql://host/database"')
    if scheme == "sqlite" and ("?" in rest or rest.lower().startswith("/file:") or (rest and not rest.startswith("/"))):
        refuse("is no plain SQLite path", f'three slashes and a path without parameters, e.g. "{DEFAULT_STORE}"')
    return value


class RunSettings(Table):
    """What is measured, by which instruments, within which budget, and where results are kept."""

    metrics: MetricChoices = ()
    """Metrics, in any of the forms "NAME", "NAME(option=value)", "suite:NAME", "category:FLAG & FLAG & !FLAG"."""
    judge: OneOrMany | None = None
    """The [models] name that answers judged metrics; a list is a panel. Nothing is chosen implicitly."""
    min_judges: Count | None = None
    """How many judges of a panel must answer. Default: all."""
    embedding: Text | None = None
    """The [embeddings] name that serves metrics which embed."""
    draws: Count = 1
    """How often each question is asked."""
    ask: Literal["separately", "together"] = "separately"
    """One request a question, or all questions of a row in one."""
    explain: Literal["off", "failed", "all"] = "off"
    """For which results a reason is asked, after the verdict is fixed."""
    mode: Literal["cache", "live", "replay"] = "cache"
    """cache: recorded replies are reused. live: everything is asked anew. replay: nothing is sent."""
    on_missing: Literal["stop", "skip"] = "stop"
    """What a row does that lacks a field: stop before anything is spent, or leave the cell not applicable and counted."""
    store: Annotated[str, BeforeValidator(_store)] = DEFAULT_STORE
    """Where runs are kept: SQLite (relative to this file) or PostgreSQL without password."""
    store_env: Variable | None = None
    """Name of the environment variable that holds the store's URL."""
    content: Literal["full", "masked", "none"] = "full"
    """What the store keeps of texts."""
    budget_usd: AtLeast0 | None = None
    """Most this run may cost, in USD."""
    budget_calls: CountOr0 | None = None
    """Most calls this run may make."""
    budget_tokens: CountOr0 | None = None
    """Most tokens this run may send and receive."""
    max_error_rate: Share = 0.05
    """Share of cells that may end in an error before the run counts as incomplete."""
    slices: Texts = ()
    """Fields whose values the summary is also broken down by, e.g. "tags", "metadata.lang"."""
    subject_family: Text | None = None
    """Family of the model under test; a judge of the same family is refused."""
    allow_self_judging: bool = False
    """Let a judge of the subject's family judge; every report then says so."""

    @model_validator(mode="after")
    def _agrees(self) -> RunSettings:
        if self.store_env is not None and "store" in self.model_fields_set and self.store != DEFAULT_STORE:
            refuse("stands beside store", "keep one of store and store_env", key="store_env", code="conflicting_keys")
        if self.judge is not None and len(set(self.judge)) < len(self.judge):
            refuse("names a judge twice", "each judge of a panel once", key="judge")
        if self.min_judges is not None and self.min_judges > len(self.judge or ()):
            refuse(f"is {self.min_judges}, the panel has {len(self.judge or ())}", "at most the number of names in judge", key="min_judges")
        return self


class MetricSettings(Table):
    """What one metric, or one instance of it, is given. Other keys are the metric's own options."""

    model_config = ConfigDict(extra="allow")

    use: Text | None = None
    """The metric this instance is of. The instance's own name is dotted: [metrics."house.strict_f1"]."""
    threshold: float | None = None
    """Where `passed` begins. Default: the metric's own."""
    judge: OneOrMany | None = None
    """Instead of [run] judge."""
    embedding: Text | None = None
    """Instead of [run] embedding."""
    draws: Count | None = None
    """Instead of [run] draws."""
    ask: Literal["separately", "together"] | None = None
    """Instead of [run] ask."""
    on_missing: Literal["stop", "skip"] | None = None
    """Instead of [run] on_missing."""
    explain: Literal["off", "failed", "all"] | None = None
    """Instead of [run] explain."""

    @model_validator(mode="after")
    def _options(self) -> MetricSettings:
        for name, value in self.options.items():
            if not name.isidentifier():
                refuse("is no name of an option", "letters, digits and '_'", key=name, code="unknown_key")
            if isinstance(value, list) and any(isinstance(one, list | dict) for one in value):
                refuse("is a list of lists or tables", "a list of texts or numbers", key=name)
        return self

    @property
    def options(self) -> dict[str, Any]:
        """The metric's own options as written: text, number, boolean or a list of these; checked against the metric by the registry."""
        return dict(self.__pydantic_extra__ or {})


class RagasSettings(Table):
    """Options of the ragas adapter."""

    model: Text | None = None
    """The [models] name that ragas asks."""
    embedding: Text | None = None
    """The [embeddings] name that ragas uses."""
    timeout_seconds: Above0 = 60.0
    """Longest time one metric may take on one row, in seconds."""
    strict_tool_order: bool = True
    """Whether tool calls must come in the expected order."""


class AnchorSettings(Table):
    """Fixed items that show whether the judge drifted."""

    data: Text
    """File of the anchors, relative to this file."""
    tolerance: Above0 = 0.03
    """Mean change of the anchors' scores that is still no drift."""
