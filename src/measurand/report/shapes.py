"""The shapes of the JSON that commands print, as types: what writes them is checked against them, and `metrics schema` is generated from them.

`Annotated[type, "meaning"]` gives a key its description. Loaded for type checks and by `metrics schema`, never on the way to a listing.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

Direction = Literal["higher", "lower", "none"]
MetricType = Literal["binary", "proportion", "continuous", "count"]


class RelationJson(TypedDict):
    """Another name for something close."""

    name: Annotated[str, "the name elsewhere"]
    difference: Annotated[str, "how it differs, in a sentence"]


class MetricJson(TypedDict):
    """One metric of `metrics list`."""

    name: str
    version: Annotated[str, "changes whenever a number changes"]
    status: Literal["preview", "stable", "deprecated", "unavailable"]
    description: Annotated[str, "one line; for an unavailable one the reason"]
    categories: Annotated[list[str], "its flags"]
    method: Annotated[list[Literal["code", "llm", "embed"]], "how it is computed"]
    requires: Annotated[list[str], "fields it needs; a|b: one of them"]
    optional: Annotated[list[str], "fields it uses when they are there"]
    direction: Annotated[Direction, "which way is better"]
    range: Annotated[list[float | None], "lowest and highest value, null without bound"]
    type: MetricType
    calls: Annotated[int | None, "requests on its example; null when not known"]
    estimated_cost_usd: Annotated[float | None, "US dollars a row; null when no price is known"]
    cost_model: Annotated[str | None, "whose price that is"]
    aliases: Annotated[list[str], "other names that mean the same and resolve"]
    relations: list[RelationJson]
    source: Annotated[str, "paper, specification or project"]
    plugin: Annotated[str | None, "the namespace, null for built-ins"]


class FieldJson(TypedDict):
    """A field that a metric takes."""

    name: str
    type: Annotated[str, "what its value is read as"]
    required: bool
    meaning: str


class OptionJson(TypedDict):
    """An option of a metric."""

    name: str
    type: str
    allowed: Annotated[str, "what may stand there, in words"]
    choices: list[str]
    required: bool
    default: Annotated[Any, "null when it must be set"]


class ExampleJson(TypedDict):
    """The example, computed when it was asked for."""

    fields: dict[str, Any]
    options: dict[str, Any]
    result: Annotated[dict[str, Any] | None, "a result; null where a model would have to answer"]


class QuestionJson(TypedDict):
    """What a judged metric asks."""

    ask: Annotated[str, "the question, verbatim; what is about an optional field is asked where the row has it"]
    answers: Annotated[dict[str, str], "each answer and what it means"]
    each: Annotated[str | None, "the list whose elements are asked about"]
    claims: Annotated[str | None, "the text whose claims a model extracts and is asked about"]
    sentences: Annotated[str | None, "the text whose sentences are asked about"]
    fold: Annotated[str | None, "how verdicts become one number"]


class SentMessageJson(TypedDict):
    """One message to a model."""

    role: str
    content: str


class SentJson(TypedDict):
    """One request as a model is sent it."""

    messages: list[SentMessageJson]
    schema: Annotated[dict[str, Any] | None, "the JSON Schema of the reply; null: free text"]
    logprobs: Annotated[bool, "whether the probabilities are read from the reply's tokens"]
    max_tokens: Annotated[int | None, "most tokens of a reply; null: the model's setting"]


class RequestJson(TypedDict):
    """One request that the example makes, with stand-in replies to those before it."""

    kind: Annotated[Literal["ask", "split", "write", "prefer", "embed"], "what is asked for"]
    sent: Annotated[SentJson | None, "to a model whose replies have token probabilities; null for an embedding"]
    sampled: Annotated[SentJson | None, "to a model without them; null where it is the same"]
    texts: Annotated[list[str] | None, "what is embedded, else null"]


class MetricInFullJson(MetricJson):
    """`metrics show NAME --json`."""

    doc: str
    fields: list[FieldJson]
    one_of: Annotated[list[list[str]], "groups of fields of which one is needed"]
    options: list[OptionJson]
    threshold: float | None
    since: str
    replaced_by: str | None
    suites: Annotated[list[str], "the suites it is in"]
    question: QuestionJson | None
    requests: Annotated[list[RequestJson] | None, "what the example sends; null where nobody is asked or it is not known"]
    example: ExampleJson | None


class CategoryJson(TypedDict):
    """One flag of `metrics categories`."""

    name: str
    value: Annotated[int, "its bit"]
    meaning: str
    metrics: Annotated[int, "how many have it"]


class ProblemJson(TypedDict):
    """One thing that keeps a command from doing its work."""

    code: Annotated[str, "a stable word"]
    where: Annotated[str, "file, line and key, or what was typed"]
    message: str
    hint: Annotated[str, "what is allowed, the nearest name, what to type"]


class ProblemsJson(TypedDict):
    """What a command prints under --json when it could not do its work."""

    ok: Literal[False]
    problems: list[ProblemJson]


# ---------------------------------------------------------------- check


class MappingJson(TypedDict):
    """Which column feeds which field."""

    field: str
    column: str | None
    how: Literal["named", "exact", "alias", "derived", "metadata"]
    note: str
    samples: Annotated[list[str], "up to three values, shortened"]


class PlannedMetricJson(TypedDict):
    """One metric of a plan."""

    name: str
    judges: list[str]
    embedding: str | None
    rows: int
    applicable_rows: Annotated[int, "rows that can feed it"]
    calls: Annotated[int, "requests, on the dearer path; one that several metrics share counts for the first of them"]
    calls_min: Annotated[int, "requests, on the cheaper path"]
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[float | None, "US dollars; null where a price is not known"]


class LeftOutJson(TypedDict):
    """A metric chosen by category or suite that no row can feed."""

    metric: str
    missing: list[str]


class DestinationJson(TypedDict):
    """A host that something is sent to."""

    host: Annotated[str, "host and port"]
    models: Annotated[list[str], "as the server knows them"]
    metrics: list[str]
    fields: Annotated[list[str], "fields of the record that are shown"]
    rows: int


class TotalsJson(TypedDict):
    """What a plan comes to."""

    rows: int
    calls: int
    calls_min: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[float | None, "US dollars; null where a price is not known"]
    minutes: Annotated[float | None, "by the recorded time of a call, else by 2 seconds"]


class PlanJson(TypedDict):
    """What a run would do."""

    metrics: list[PlannedMetricJson]
    left_out: list[LeftOutJson]
    destinations: list[DestinationJson]
    totals: TotalsJson


class CheckJson(TypedDict):
    """`metrics check --json`."""

    ok: bool
    plan_id: str
    problems: list[ProblemJson]
    mapping: list[MappingJson]
    plan: PlanJson


# ---------------------------------------------------------------- run


class DatasetJson(TypedDict):
    """The rows of a run."""

    path: str
    rows: int
    fingerprint: str
    filtered: Annotated[int, "rows left out by --where and --limit"]


class PassRateJson(TypedDict):
    """The share of rows or tasks that pass."""

    value: float
    ci_low: float | None
    ci_high: float | None
    n: int


class ClusteredJson(TypedDict):
    """How grouping of rows entered the interval."""

    n_clusters: int
    df: float | None
    naive_std_error: float | None
    cr0: float | None
    design_effect: float | None


class StatisticJson(TypedDict):
    """A further statistic of a metric."""

    name: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    interval: str | None
    n: int


class SliceJson(TypedDict):
    """A metric over the rows that share a value."""

    by: str
    value: str
    n: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    errors: int
    not_applicable: int


class MetricSummaryJson(TypedDict):
    """One metric of a run."""

    name: str
    signature: str
    n: Annotated[int, "units of the interval: tasks where rows carry trial"]
    rows_scored: int
    mean: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    interval: Annotated[str | None, "which interval it is, and why"]
    errors: int
    not_applicable: int
    pass_rate: PassRateJson | None
    clustered: ClusteredJson | None
    statistics: list[StatisticJson]
    slices: list[SliceJson]


class UsageJson(TypedDict):
    """What a run cost, as recorded."""

    calls: Annotated[int, "requests it used, each once"]
    cached_calls: Annotated[int, "those of them that were found recorded"]
    unreported_calls: Annotated[int, "those of them whose tokens are estimates"]
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[float | None, "US dollars; null where a price is not known"]


class EstimateJson(TypedDict):
    """What it was expected to cost when it began."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[float | None, "US dollars; null where a price is not known"]


class RunJson(TypedDict):
    """`metrics run --json`."""

    run_id: str
    name: str | None
    project: str
    dataset: DatasetJson
    metrics: list[MetricSummaryJson]
    usage: UsageJson
    estimated: EstimateJson
    elapsed_s: float | None
    status: Literal["complete", "incomplete"]
    reason: str | None
