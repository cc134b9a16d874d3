"""The fields of a record: the one vocabulary that metrics, config, command line and API share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

Json: TypeAlias = Any
"""A JSON value: null, bool, int, float, str, list or dict of these."""

Shape = Literal[
    "str", "int", "float", "text", "expected", "contexts", "messages", "calls", "expected_calls", "tools", "list[str]", "schema", "usage", "mapping", "json"
]
"""How a field's values are read from data; `text` is a str or JSON (output), or messages / content parts (input)."""


@frozen
class Field:
    """One field of a record: its name, the shape of its values, other column names it is read from, and what part of the row it is."""

    name: str
    shape: Shape
    aliases: tuple[str, ...] = ()
    part: Literal["identity", "task", "subject"] = "subject"
    empty_is_missing: bool = False
    """`""`, `[]` count as missing (else an empty value is an observation)."""
    meaning: str = ""


_FIELDS = (
    Field("id", "str", ("sample_id", "case_id"), "identity", True, "names the row, unique in the dataset"),
    Field("task", "str", ("task_id", "query_id", "qid", "instance_id"), "identity", True, "which task the row is an attempt at"),
    Field("trial", "int", ("rep", "repetition", "attempt"), "identity", True, "which repetition of the task"),
    Field("input", "text", ("question", "user_input", "query", "prompt", "goal", "instruction"), "task", True, "what was asked"),
    Field("output", "text", ("response", "answer", "actual_output", "completion", "prediction"), "subject", False, "what the system answered"),
    Field(
        "expected",
        "expected",
        ("reference", "expected_output", "ground_truth", "ground_truths", "ideal", "target", "expected_answer"),
        "task",
        True,
        "what it should have answered: text, accepted answers, or JSON",
    ),
    Field("contexts", "contexts", ("retrieved_contexts", "retrieval_context", "documents"), "subject", False, "what was retrieved, in rank order"),
    Field("reference_contexts", "contexts", ("gold_contexts", "relevant_ids", "qrels"), "task", False, "what should have been retrieved"),
    Field("messages", "messages", ("conversation", "turns", "trajectory", "traj"), "subject", False, "the conversation or trajectory, chat messages"),
    Field("tool_calls", "calls", ("tools_called", "actual_tool_calls"), "subject", False, "the calls that were made"),
    Field(
        "expected_tool_calls",
        "expected_calls",
        ("reference_tool_calls", "expected_tools", "expected_actions"),
        "task",
        False,
        "the calls that should have been made",
    ),
    Field("tools", "tools", ("available_tools", "functions"), "task", True, "the tools there were"),
    Field("forbidden_tools", "list[str]", (), "task", False, "tools that must not be called"),
    Field("required_tools", "list[str]", (), "task", False, "tools that must be called"),
    Field("topics", "list[str]", ("reference_topics",), "task", True, "topics that are allowed"),
    Field("facts", "list[str]", ("expected_facts",), "task", False, "what the output must contain"),
    Field("canaries", "list[str]", (), "task", False, "planted strings that must not come out"),
    Field("output_schema", "schema", (), "task", False, "JSON Schema of the output"),
    Field("status", "str", ("terminal_state",), "subject", True, "how the run ended"),
    Field("reward", "float", (), "subject", True, "the environment's own verdict"),
    Field("usage", "usage", (), "subject", False, "latency, tokens, cost, calls"),
    Field("cluster", "str", ("cluster_id",), "task", True, "what groups rows that are alike"),
    Field("tags", "list[str]", (), "subject", False, "labels to slice by"),
    Field("human", "mapping", (), "subject", False, "labels given by people, by metric"),
    Field("metadata", "mapping", (), "subject", False, "anything else"),
)

FIELDS: Final[Mapping[str, Field]] = {one.name: one for one in _FIELDS}
TASK_PART: Final[tuple[str, ...]] = tuple(one.name for one in _FIELDS if one.part == "task")
