"""Replies as models give them, read in whole runs: what is forgiven, and what is an error with the reply's first characters. Ids are those of `tests/test_cases.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.asking.project import Project, rag_row
from tests.runtime.scripted import Says, ScriptedServer, chat_reply
from tests.servers.mock import Answer

TEN = json.dumps([f"level {level}" for level in range(11)])
SCALE = f'[[questions]]\nname = "acme.grade"\nask = "How good is `output`?"\ntype = "scale"\nlevels = {TEN}'

GRADES: Mapping[str, tuple[str, float | None]] = {
    "J01 a fence": ('Here is my grade:\n```JSON\n{ "answer": 6, "why": "two dates wrong" }\n```\nLet me know!', 0.6),
    "J02 braces in the reason": ('{"reason": "returns {a: {b}} and a stray } too", "answer": 4}', 0.4),
    "J03 a comment": ('{"reason":"ok","answer": 7 // mostly right\n}', 0.7),
    "J03 a line break": ('{"reason":"line one\nline two","answer": 7}', 0.7),
    "J06 the end of reasoning alone": ('draft {"answer": 2}\n</think>\n{"answer": 6}', 0.6),
    "J07 reasoning that does not end": ('<think>I would say {"answer": 9} but', None),
    "J07 reasoning in other marks": ('[THINK]I would say {"answer": 9}', None),
    "J09 four backticks": ('````json\n{"reason": "use ``` fences", "answer": 3}\n````', 0.3),
    "J10 no number": ("The war ended in 1945. Score: n/a", None),
    "J10 above": ('{"answer": 11}', None),
    "J10 below": ('{"answer": -2}', None),
    "J10 an exponent": ('{"answer": 0.5e3}', None),
    "J10 infinite": ('{"answer": 1e999}', None),
    "J10 not a number": ('{"answer": NaN}', None),
    "J10 truth": ('{"answer": true}', None),
    "J10 a list": ('{"answer": [7]}', None),
    "J11 a number in prose": ("I found 3 problems, so the rating is 6.", 0.6),
    "J11 two numbers": ("7, 8", None),
    "J12 a mood": ("This is not excellent but passable.", None),
    "J16 other keys": ('{"评分": 4, "理由": "清楚"}', None),
    "J18 blank": ("   \n", None),
    "J27 single quotes": ("{'answer': 4, 'reason': 'ok'}", 0.4),
    "J27 a comma at the end": ('{"answer": 4,}', 0.4),
    "J27 Python's words": ('{"answer": 4, "pass": True, "reason": None}', 0.4),
    "J29 its own scale": ('{"answer": 10}', 1.0),
    "J30 the last marker": ("If style mattered most I'd say [[2]]. Facts decide: [[8]]", 0.8),
    "X01 a quoted verdict": ('The answer says: {"answer": 10}. It is off topic.\n{"answer": 1, "reason": "off topic"}', 0.1),
    "a byte order mark and other line ends": ('\ufeff{"answer": 5}\r\n', 0.5),
    "a list of one": ('[{"answer": 5}]', 0.5),
    "a list of two": ('[{"answer": 5}, {"answer": 6}]', None),
    "half a character": ('{"answer": 5, "reason": "\ud800"}', 0.5),
    "control characters": ('\x1b[2J\x00{"answer": 5}', 0.5),
    "a megabyte": (json.dumps({"answer": 5, "reason": "x" * 1_000_000}), 0.5),
    "a megabyte of braces": ("{" * 1_000_000, None),
}


def results(project: Project, *words: str) -> dict[str, Any]:
    run = project("run", "--json", *words)
    assert run.code == 0, run.err or run.out
    return {one["sample_id"]: one for one in project.results(run.json["run_id"])}


def test_grades_in_every_dress(project: Project) -> None:
    project.rows([{"id": name, "output": f"case {at} of many"} for at, name in enumerate(GRADES)])
    project.config(metrics=("acme.grade",), rest=SCALE, run="max_error_rate = 1.0")
    project.mock.configure(answers=tuple(Answer(match=f"case {at} of", reply=reply) for at, (reply, _) in enumerate(GRADES.values())))
    found = results(project)
    assert {name: one["score"] for name, one in found.items()} == pytest.approx({name: score for name, (_, score) in GRADES.items()})
    for name, one in found.items():
        if GRADES[name][1] is None:
            assert one["error"]["code"] == "invalid_response", name
            assert one["details"]["reply"] == GRADES[name][0][:200]
    assert project("results", "latest").code == 0
    assert project("results", "latest", "--errors").code == 0


KIND = '[[questions]]\nname = "acme.kind"\nask = "Is `output` kind?"'

VERDICTS: Mapping[str, float | None] = {
    **dict.fromkeys(("Yes.", "**YES**", " yes, because it cites it", "\ufeffyes\r\n", "<thought>no</thought>yes"), 1.0),
    **dict.fromkeys(("No", "- no", "no. Nothing says so."), 0.0),
    **dict.fromkeys(("None of it", "Not sure", "idk", "yes, no", "Yes – no", "Yes or no", "nope", "null", "N/A"), None),
    **dict.fromkeys(("Sí", "是", "Да", "Nein", "はい", "Oui", "نعم"), None),
}


def test_j14_j17_verdicts_in_words(project: Project) -> None:
    project.rows([{"id": text, "output": f"case {at} of many"} for at, text in enumerate(VERDICTS)])
    project.config(metrics=("acme.kind",), judge='p = "sampled"', rest=KIND, run="max_error_rate = 1.0")
    project.mock.configure(answers=tuple(Answer(match=f"case {at} of", reply=text) for at, text in enumerate(VERDICTS)))
    assert {text: one["score"] for text, one in results(project).items()} == VERDICTS


def asked_of(server: ScriptedServer, project: Project, judge: str = "") -> dict[str, Any]:
    """The one result of a question that the server answers."""
    project.rows([{"id": "a", "output": "x"}])
    project.config(metrics=("acme.kind",), judge=f'p = "sampled"\nmax_retries = 0\n{judge}', rest=KIND, run="max_error_rate = 1.0")
    at_mock = (project.folder / "metrics.toml").read_text()
    (project.folder / "metrics.toml").write_text(at_mock.replace(project.mock.base_url, f"{server.url}/v1"))
    (only,) = results(project).values()
    return dict(only)


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"answer": "yes"}'}}


@pytest.mark.parametrize(
    ("content", "message", "score"),
    [
        (None, {}, None),  # J18
        (None, {"tool_calls": [CALL]}, None),
        ("", {"reasoning_content": '{"answer": "yes"}'}, None),
        ("no", {"reasoning_content": "yes"}, 0.0),
        ({"answer": "yes"}, {}, None),
        ([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}], {}, 1.0),
        ([{"type": "thinking", "text": "no"}, {"type": "text", "text": "yes"}], {}, 1.0),
    ],
)
def test_only_what_the_message_says_is_read(project: Project, content: Any, message: dict[str, Any], score: float | None) -> None:
    with ScriptedServer(Says(chat_reply(content, message=message))) as server:
        only = asked_of(server, project)
    assert only["score"] == score
    if score is None:
        assert "empty" in only["error"]["message"]


ENDS: Mapping[str, tuple[dict[str, Any], str, str]] = {
    "J04 cut": ({"choice": {"finish_reason": "length"}}, "invalid_response", "truncated"),
    "J04 cut, in capitals": ({"choice": {"finish_reason": "MAX_TOKENS"}}, "invalid_response", "truncated"),
    "J19 filtered": ({"choice": {"finish_reason": "content_filter"}}, "refused", "content filter"),
    "J19 filtered elsewhere": ({"choice": {"finish_reason": "SAFETY"}}, "refused", "content filter"),
    "J19 refused": ({"message": {"refusal": "I cannot."}}, "refused", "refused"),
    "broken off": ({"choice": {"finish_reason": "error"}}, "provider_error", "failed while it replied"),
    "an odd end": ({"choice": {"finish_reason": ["stop"]}}, "", ""),
    "odd usage": ({"usage": {"prompt_tokens": "9", "completion_tokens": 10**400}}, "", ""),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_a_reply_ends_is_never_a_score(project: Project, name: str) -> None:
    more, code, words = ENDS[name]
    with ScriptedServer(Says(chat_reply('{"answer": "yes"}', **more))) as server:
        only = asked_of(server, project)
    assert (only["score"], (only["error"] or {}).get("code", "")) == (None if code else 1.0, code)
    assert words in (only["error"] or {}).get("message", "")


def test_m33_a_text_without_claims_is_not_applicable_and_says_why(project: Project) -> None:
    project.rows([{**rag_row(0), "output": "I could not find that in the documents."}])
    project.config(metrics=("llm_faithfulness",), judge='p = "sampled"', run="max_error_rate = 1.0")
    project.mock.configure(answers=(Answer(match="could not find", reply={"claims": []}),))
    (only,) = results(project).values()
    assert (only["status"], only["score"]) == ("not_applicable", None)
    assert "makes no claims" in only["error"]["message"]


PLANTED = json.loads((Path(__file__).parents[1] / "judge" / "data" / "planted.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("ask", ["separately", "together"])
@pytest.mark.parametrize("p", ["logprobs", "sampled"])
def test_orders_in_the_data_change_no_verdict(project: Project, p: str, ask: str) -> None:
    """The judge says no to all: whatever stands in the data, nothing but its own reply is read."""
    rows = [{**rag_row(at), "output": f"{text} It costs nothing.", "contexts": [text, "Refunds are free."]} for at, text in enumerate(PLANTED)]
    project.rows(rows)
    project.config(metrics=("llm_answer_relevance", "llm_context_precision"), judge=f'p = "{p}"', run=f'ask = "{ask}"\nmax_error_rate = 1.0')
    project.mock.configure(verdict="no")
    run = project("run", "--json")
    assert run.code == 0, run.err
    found = project.results(run.json["run_id"])
    assert len(found) == 2 * len(rows)
    assert [one["error"] for one in found if one["error"]] == []
    assert {one["score"] for one in found if one["score"] is not None and one["score"] >= 0.5} == set()


@pytest.mark.parametrize("text", PLANTED)
def test_a_judge_that_repeats_the_data_gives_no_verdict(project: Project, text: str) -> None:
    project.rows([{**rag_row(0), "output": text}])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"', run="max_error_rate = 1.0")
    project.mock.configure(answers=(Answer(match="", reply=f"The output says: {text}"),))
    (only,) = results(project).values()
    assert (only["score"], only["error"]["code"]) == (None, "invalid_response")
