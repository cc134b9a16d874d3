"""`metrics cache`: info, export, import, prune; and the requests of one row."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from measurand.report.calls_text import LONGEST
from measurand.run.record import OF_THE_RUN, Ledger, NewCall
from measurand.run.store import open_store

from .here import Here, house  # noqa: TID252  # tests are imported by path, there is no package to name

URL = "sqlite:///.metrics/store.db"


def a_call(text: str, **changes: Any) -> NewCall:
    usage = {"input_tokens": 1_200, "output_tokens": 3, "cached_tokens": 0, "reported": True, "cost_usd": 0.25, "latency_s": 0.5, "calls": 1}
    request = {"messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": f"Is it?\n{text} asked"}], "logprobs": True}
    values: dict[str, Any] = {"kind": "chat", "model": "judge", "request": request, "reply": {"text": text, "finish": "stop"}, "usage": usage, **changes}
    return NewCall(**values)


def record(run_id: str, *calls: tuple[str, NewCall, tuple[int, int] | None]) -> None:
    async def work(ledger: Ledger) -> None:
        for key, call, use in calls:
            await ledger.record(key, call, use)

    with open_store(URL) as store, Ledger(store, run_id) as ledger:
        asyncio.run(work(ledger))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """A run with calls: row a used two, of which b shared one."""
    made = house(Here(tmp_path, monkeypatch, capsys))
    run_id = made("run", "--json").document["run_id"]
    record(
        run_id,
        ("k1", a_call("one \x1b[2J", served={"model": "judge-2026"}), (0, 0)),
        (
            "k2",
            a_call("two", status="unreadable", usage={"input_tokens": 5, "output_tokens": 1, "reported": False, "cost_usd": None, "latency_s": 0.1}),
            (0, 1),
        ),
        ("p", a_call("1. yes", kind="probe"), OF_THE_RUN),
        ("nobody", a_call("x" * 3_000), None),
    )
    return made


def test_what_is_recorded(here: Here) -> None:
    ran = here("cache", "info")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["MODEL", "KIND", "STATUS", "IMPORTED", "CALLS", "UNUSED", "SIZE"]
    assert [line[:5] for line in lines[1:4]] == [
        ["judge", "chat", "ok", "2", "1"],
        ["judge", "chat", "unreadable", "1", "0"],
        ["judge", "probe", "ok", "1", "0"],
    ]
    assert "4 recorded calls in .metrics/store.db, " in ran.out
    assert ran.out.endswith("1 used by no run: metrics cache prune --unused\n")
    told = here("cache", "info", "--json").document
    assert {name: told[name] for name in ("store", "calls", "imported", "unused")} == {"store": ".metrics/store.db", "calls": 4, "imported": 0, "unused": 1}
    assert told["bytes"] == sum(one["bytes"] for one in told["groups"]) > 6_000


def test_nothing_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = house(Here(tmp_path, monkeypatch, capsys))
    assert made("cache", "info").code == 2
    assert "there is no store at .metrics/store.db yet" in made("cache", "info").sentence
    assert made("run").code == 0
    assert made("cache", "info").out == "no calls are recorded in .metrics/store.db; a run with a judge or an embedding model records them\n"
    ran = made("cache", "export", "c.jsonl")
    assert (ran.code, "used no recorded calls; name another one with --run" in ran.sentence) == (2, True)
    assert not (tmp_path / "c.jsonl").exists()


def test_to_a_cassette_and_into_another_store(here: Here) -> None:
    ran = here("cache", "export", "c.jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert ran.sentence.startswith("wrote 3 calls of run ")
    assert ran.sentence.endswith(" to c.jsonl")
    manifest, *calls = [json.loads(line) for line in (here.folder / "c.jsonl").read_text().splitlines()]
    assert manifest == {"format": "measurand-cassette", "version": 1}
    assert [one["key"] for one in calls] == ["p", "k1", "k2"]
    assert "asked" not in (here.folder / "c.jsonl").read_text()
    again = here("cache", "export", "c.jsonl", "--run", "latest", "--with-requests", "--json")
    assert again.document == {"ok": True, "path": "c.jsonl", "calls": 3, "without_reply": 0}
    assert "asked" in (here.folder / "c.jsonl").read_text()
    here.text("fresh.toml", f'project = "q"\n[run]\nstore = "{URL.replace("store", "fresh")}"\nmetrics = ["code_token_f1"]\n')
    assert here("cache", "import", "c.jsonl", "-c", "fresh.toml").out == "imported 3 calls\n"
    assert here("cache", "import", "c.jsonl", "-c", "fresh.toml", "--json").document == {"ok": True, "imported": 0, "known": 3}
    told = here("cache", "-c", "fresh.toml", "info", "--json").document
    assert (told["calls"], told["imported"], told["unused"]) == (3, 3, 3)


def test_a_run_file_has_its_calls_with_it(here: Here) -> None:
    assert here("export", "latest", "-o", "base.run").code == 0
    assert here("cache", "export", "c.jsonl", "--run", "base.run").sentence.startswith("wrote 3 calls")


def test_a_broken_cassette_is_one_sentence_and_nothing_is_imported(here: Here) -> None:
    here("cache", "export", "c.jsonl")
    whole = (here.folder / "c.jsonl").read_text()
    here.text("c.jsonl", whole[:-9])
    ran = here("cache", "import", "c.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert ran.sentence.startswith("c.jsonl:4: this line is cut off")
    assert here("cache", "info", "--json").document["calls"] == 4


def test_what_no_run_uses_goes(here: Here) -> None:
    assert here("cache", "prune", "--older-than", "1h").out == "removed 0 recorded calls that no run uses\n"
    assert here("cache", "prune", "--unused", "--dry-run").out == "would remove 1 recorded call that no run uses\n"
    assert here("cache", "prune", "--unused", "--json").document == {"ok": True, "dry_run": False, "calls": 1}
    assert here("cache", "info", "--json").document["calls"] == 3
    assert here("delete", "latest").out == "removed 1 run, 4 rows, 8 results, 3 recorded calls\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["prune"], "metrics cache prune: say what to remove; give --unused, or --older-than 90d"),
        (["prune", "--older-than", "90"], "--older-than: '90' is no age; a number with h, d or w: 12h, 90d, 8w"),
        (["exprot", "f"], "metrics cache: there is no command 'cache exprot'; did you mean export"),
        (["export"], "metrics cache export: FILE is missing"),
        (["export", "none/c.jsonl"], "FILE: none/c.jsonl cannot be written: no such file or directory"),
        (["export", "c.jsonl", "--run", "nope"], "RUN: no run has the id, the name or an id beginning 'nope'"),
        (["import", "none.jsonl"], "none.jsonl: cannot be read: no such file or directory"),
        (["info", "--frob"], "metrics cache info: there is no option --frob"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here: Here, words: list[str], told: str) -> None:
    ran = here("cache", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.sentence.startswith(told)


def test_paths_stay_in_the_folder_where_they_must(here: Here) -> None:
    for words in (("export", "../c.jsonl"), ("import", "/etc/hostname")):
        ran = here("cache", *words, METRICS_CONFINE="1")
        assert ran.code == 2
        assert "METRICS_CONFINE" in ran.sentence


# ---------------------------------------------------------------- the requests of one row


def test_a_row_shows_every_request_and_reply(here: Here) -> None:
    out = here("results", "latest", "--id", "a").out
    assert "\x1b" not in out
    assert "request 1 of 2 · code_token_f1 · judge (answered by judge-2026) · 1 200 + 3 tokens · 0.25 USD · 0.5 s" in out
    assert "request 2 of 2 · code_output_length · judge · unreadable · about 5 + 1 token · 0.1 s" in out
    assert "  system: You judge.\n  user: Is it?\n    one ␛[2J asked\n  logprobs: true\n  reply: one ␛[2J\n" in out
    assert "  2 calls, 2 400 + 6 tokens, 0.50 USD, 1.0 s\n" in out  # with the probe
    assert "request" not in here("results", "latest", "--id", "b").out


def test_as_json_they_stand_in_a_line_of_their_own(here: Here) -> None:
    *results, requests = here("results", "latest", "--id", "a", "--json").lines
    assert [one["usage"]["calls"] for one in results] == [2, 1]
    assert results[1]["usage"]["cost_usd"] is None
    assert requests["sample_id"] == "a"
    assert [(one["key"], one["metrics"], one["reply"]["text"]) for one in requests["requests"]] == [
        ("k1", ["code_token_f1"], "one \x1b[2J"),
        ("k2", ["code_output_length"], "two"),
    ]
    assert len(here("results", "latest", "--id", "b", "--json").lines) == 2
    assert all("requests" not in one for one in here("results", "latest", "--json").lines)


def test_long_texts_are_cut_on_a_terminal_only(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = here("runs", "--json").document[0]["run_id"]
    record(run_id, ("long", a_call("y" * (LONGEST + 1_234)), (2, 0)))
    whole = here("results", "latest", "--id", "c").out
    assert "y" * (LONGEST + 1_234) in whole
    monkeypatch.setattr("measurand.cli.results.on_a_terminal", lambda: True)
    cut = here("results", "latest", "--id", "c").out
    assert f"  reply: {'y' * LONGEST}\n    … 1 234 more characters; --json shows all\n" in cut


def test_usage_is_in_the_tables(here: Here) -> None:
    import csv
    import io

    rows = list(csv.DictReader(io.StringIO(here("export", "latest", "--format", "csv").out)))
    assert [rows[0][name] for name in ("calls", "input_tokens", "output_tokens", "cost_usd")] == ["2", "2400", "6", "0.5"]
    assert [rows[1][name] for name in ("calls", "cost_usd")] == ["1", ""]
    assert rows[2]["cost_usd"] == "0.0"
