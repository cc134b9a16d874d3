"""Cassettes: what stands in one, how one answers, every way it can be broken."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import CacheMissError, DataError
from measurand.run.cassette import Cassette, Written, write_cassette
from measurand.run.record import OF_THE_RUN, Ledger
from measurand.run.store import Imported, Store, StoredRun, open_store

from .recording import a_call, a_run, claimed, recorded, rows, within  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def judged(file_store: Store) -> StoredRun:
    a_run(file_store)
    with Ledger(file_store, "r") as ledger:
        recorded(
            ledger,
            ("c", a_call("third"), (1, 0)),
            ("b", a_call("second", status="unreadable"), (0, 1)),
            ("a", a_call("first ✓ \ud83d"), (0, 0)),
            ("p", a_call(kind="probe"), OF_THE_RUN),
            ("unused", a_call(), None),
        )
    return rows(file_store.resolve("r"), file_store, 2)


def written(run: StoredRun, path: Path, **options: Any) -> list[dict[str, Any]]:
    with path.open("wb") as stream:
        write_cassette(run.all_calls(by_first_use=True), stream, **options)
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_manifest_and_the_calls_by_first_use(judged: StoredRun, tmp_path: Path) -> None:
    manifest, *calls = written(judged, tmp_path / "c.jsonl")
    assert manifest == {"format": "measurand-cassette", "version": 1}
    assert [one["key"] for one in calls] == ["p", "a", "b", "c"]
    assert calls[2] == {
        "key": "b",
        "kind": "chat",
        "model": "judge",
        "status": "unreadable",
        "reply": {"text": "second", "finish": "stop"},
        "usage": {"input_tokens": 10, "output_tokens": 1, "cached_tokens": 0, "reported": True, "cost_usd": 0.5, "latency_s": 0.25, "calls": 1},
        "served": {"model": "judge-2026"},
    }
    assert calls[1]["reply"]["text"] == "first ✓ \ud83d"
    assert "✓".encode() in (tmp_path / "c.jsonl").read_bytes()  # readable in a diff


def test_requests_only_where_they_are_asked_for(judged: StoredRun, tmp_path: Path) -> None:
    assert "request" not in str(written(judged, tmp_path / "without.jsonl"))
    _, *calls = written(judged, tmp_path / "with.jsonl", with_requests=True)
    assert calls[3]["request"] == {"messages": [{"role": "user", "content": "asked for third"}]}


def test_the_same_calls_are_the_same_file_whatever_finished_first(tmp_path: Path) -> None:
    calls = {f"k{i}": (i % 3, i // 3) for i in range(6)}
    for name, keys in (("one", list(calls)), ("two", list(calls)[::-1])):
        with open_store(f"sqlite:///{tmp_path / name}.db") as store:
            a_run(store)
            with Ledger(store, "r") as ledger:
                recorded(ledger, *((key, a_call(key), calls[key]) for key in keys))
            written(store.resolve("r"), tmp_path / f"{name}.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_what_was_given_up_or_has_no_reply_is_left_out(file_store: Store) -> None:
    a_run(file_store)
    with Ledger(file_store, "r", keep_texts=False) as ledger:
        recorded(ledger, ("no reply", a_call(), (0, 0)))
    with Ledger(file_store, "r") as ledger:
        recorded(ledger, ("given up", a_call(status="fault"), (1, 0)), ("k", a_call(), (2, 0)))
    writer, _ = file_store.continue_("r")
    writer.add([(1, "b", "t", 0, None, "{}", None, None, None)], [(1, 0, 2, None, '{"error": {"code": "timeout", "message": ""}}')])
    file_store.continue_("r")
    stream = io.BytesIO()
    assert write_cassette(file_store.resolve("r").all_calls(), stream) == Written(1, 1)
    assert [json.loads(line).get("key") for line in stream.getvalue().splitlines()] == [None, "k"]


def test_a_cassette_answers_a_replay_in_a_fresh_store(judged: StoredRun, tmp_path: Path) -> None:
    written(judged, tmp_path / "c.jsonl")
    with open_store(f"sqlite:///{tmp_path / 'fresh.db'}") as fresh:
        run = a_run(fresh)
        with Ledger(fresh, run, mode="replay", cassette=Cassette(tmp_path / "c.jsonl")) as ledger:
            for key, use in (("c", (1, 0)), ("p", OF_THE_RUN), ("a", (0, 0)), ("b", (0, 1))):  # in another order
                found = claimed(ledger, key, use)
                assert found is not None
                assert found.imported
            with pytest.raises(CacheMissError):
                claimed(ledger, "unused")
        again = rows(fresh.resolve(run), fresh, 2)
        assert [one.usage for one in again.results()] == [one.usage for one in judged.results()]
        assert again.call_totals().cached_calls == 4
        assert written(again, tmp_path / "again.jsonl") == written(judged, tmp_path / "c.jsonl")


@pytest.mark.parametrize(("trusted", "answers"), [(False, False), (True, True)])
def test_in_mode_cache_it_answers_only_when_trusted_and_never_with_what_is_not_ok(judged: StoredRun, tmp_path: Path, trusted: bool, answers: bool) -> None:
    written(judged, tmp_path / "c.jsonl")
    cassette = Cassette(tmp_path / "c.jsonl")
    with open_store(f"sqlite:///{tmp_path / 'fresh.db'}") as fresh, Ledger(fresh, a_run(fresh), cassette=cassette, trust_imported=trusted) as ledger:
        assert (claimed(ledger, "a", (0, 0)) is not None) is answers
        assert claimed(ledger, "b", (0, 0)) is None


def test_the_store_comes_before_the_cassette(file_store: Store, judged: StoredRun, tmp_path: Path) -> None:
    written(judged, tmp_path / "c.jsonl")
    with open_store(f"sqlite:///{tmp_path / 'own.db'}") as own:
        a_run(own)
        with Ledger(own, "r") as ledger:
            recorded(ledger, ("a", a_call("own"), None))
        with Ledger(own, "r", mode="replay", cassette=Cassette(tmp_path / "c.jsonl")) as ledger:
            found = claimed(ledger, "a")
    assert found is not None
    assert found.reply["text"] == "own"


def lines(*calls: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in ({"format": "measurand-cassette", "version": 1}, *calls))


def line(text: str = "yes", **changes: Any) -> dict[str, Any]:
    return {"key": "k", "kind": "chat", "model": "m", "status": "ok", "reply": {"text": text, "finish": "stop"}, "usage": {}, **changes}


def test_of_several_calls_of_a_key_the_last_one_answers(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"

    def texts(*statuses: str) -> tuple[str | None, str | None]:
        path.write_bytes(lines(*(line(f"{i}{status}", status=status) for i, status in enumerate(statuses))))
        found = [Cassette(path).find("k", only_ok=only_ok) for only_ok in (False, True)]
        last, last_ok = (None if one is None or one.reply is None else str(one.reply["text"]) for one in found)
        return last, last_ok

    assert texts("ok", "ok") == ("1ok", "1ok")
    assert texts("fault", "ok") == ("1ok", "1ok")
    assert texts("ok", "fault") == ("1fault", "0ok")
    assert texts("ok", "fault", "refused") == ("2refused", "0ok")
    assert texts("ok", "fault", "ok", "fault") == ("3fault", "2ok")
    assert texts("fault", "fault") == ("1fault", None)
    assert Cassette(path).find("none", only_ok=False) is None


def test_a_look_into_a_cassette(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines(line("yes", served={"model": "s"}), line(key="bad", status="fault")))
    cassette = Cassette(path)
    found = cassette.recorded("k")
    assert found is not None
    assert (found.call, found.imported, found.reply["text"], found.served) == (0, True, "yes", {"model": "s"})
    assert cassette.recorded("bad") is None
    assert cassette.calls == 2
    cassette.close()
    assert cassette.recorded("k") is None


@pytest.mark.parametrize(
    ("content", "where", "sentence"),
    [
        (b"", "", "is empty: it has no manifest"),
        (b"\n", ":1", "this line is no JSON"),
        (b'{"key": "k"}\n', ":1", "is no cassette: its first line is not"),
        (b"[]\n", ":1", "is no cassette"),
        (b'{"format": "measurand-cassette", "version": 2}\n', ":1", "has version 2; this measurand reads 1; upgrade measurand"),
        (lines(line())[:-1], ":2", "this line is cut off"),
        (lines(line(), line())[:-20], ":3", "this line is cut off"),
        (lines(line()) + b'{"key": "k", "ki\n' + lines(line())[47:], ":3", "this line is no JSON"),
        (lines(line()) + b"\xff\n", ":3", "this line is no JSON"),
        (lines(line()) + b'{"x": NaN}\n', ":3", "this line is no JSON"),
        (lines(line()) + b"[" * 100_000 + b"\n", ":3", "this line is no JSON"),
        (lines(line()) + b"[1]\n", ":3", "this line is no recorded call: it is no JSON object"),
        (lines({"key": "k"}), ":2", "it has no 'kind'"),
        (lines(line(api_key="s")), ":2", "it has 'api_key', which no call has"),
        (lines(line(key=5)), ":2", "key, kind, model, status are texts"),
        (lines(line(key="a\nb")), ":2", "key is a hash"),
        (lines(line(model="")), ":2", "are texts"),
        (lines(line(reply=None)), ":2", "usage, reply, served, request are objects"),
        (lines(line(served="s")), ":2", "are objects"),
        (lines(line(status="done")), ":2", "status one of ok, unreadable, refused, truncated, fault"),
        (lines(line(kind="image")), ":2", "kind is one of chat, embedding, probe, learned"),
        (lines(line(usage={"input_tokens": -1})), ":2", "tokens and calls in usage are counts"),
        (lines(line(usage={"calls": 1.5})), ":2", "tokens and calls in usage are counts"),
        (lines(line(usage={"cost_usd": "1"})), ":2", "cost_usd and latency_s in usage are amounts"),
        (lines(line(reply={})), ":2", "its reply cannot be read (KeyError: 'text')"),
        (lines(line(reply={"text": "x", "finish": "stop", "tokens": [["a"]]})), ":2", "its reply cannot be read (ValueError"),
        (lines(line(kind="embedding", reply={"vector": "AAA"})), ":2", "its reply cannot be read"),
        (lines(line(reply={"error": "no"})), ":2", "an error in a reply has a code and a message"),
    ],
)
def test_a_broken_one_is_named_by_its_line_before_anything_is_done(tmp_path: Path, file_store: Store, content: bytes, where: str, sentence: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        file_store.import_calls(Cassette(path))
    assert f"c.jsonl{where}: " in str(caught.value)
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 2
    assert file_store.call_groups() == []


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read: no such file or directory"):
        Cassette(tmp_path / "none.jsonl")


def test_a_file_that_changes_while_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines(line("x" * 100)))
    cassette = Cassette(path)
    path.write_bytes(lines())
    with pytest.raises(DataError, match="changed while it was in use"):
        cassette.find("k", only_ok=False)


# ---------------------------------------------------------------- imports


def test_an_import_writes_nothing_over(store: Store) -> None:
    run = a_run(store)
    with Ledger(store, run) as ledger:
        recorded(ledger, ("own", a_call("own"), None), ("failed", a_call("?", status="fault"), None))
    calls = [("own", a_call("other")), ("failed", a_call("other")), ("failed", a_call("?", status="fault")), ("new", a_call("other"))]
    assert store.import_calls(calls) == Imported(2, 2)
    assert store.import_calls(calls) == Imported(0, 4)
    with Ledger(store, run, mode="replay") as ledger:
        found = {key: claimed(ledger, key) for key in ("own", "failed", "new")}
    assert {key: one and (one.reply["text"], one.imported) for key, one in found.items()} == {
        "own": ("own", False),
        "failed": ("other", True),
        "new": ("other", True),
    }
    with Ledger(store, run, trust_imported=True) as ledger:
        assert [claimed(ledger, key) is not None for key in ("own", "failed", "new")] == [True, True, True]


def test_an_import_is_whole_or_not_at_all(store: Store) -> None:
    def calls() -> Any:
        for i in range(1_200):
            yield f"k{i}", a_call()
        raise DataError([])

    with pytest.raises(DataError):
        store.import_calls(calls())
    assert store.call_groups() == []


def test_many_calls_are_imported_and_found(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines(*(line(str(i), key=f"k{i}") for i in range(1_300))))
    assert store.import_calls(Cassette(path)) == Imported(1_300, 0)
    assert store.import_calls(Cassette(path)) == Imported(0, 1_300)
    found = store.recorded("k1299")
    assert found is not None
    assert found.reply["text"] == "1299"


# ---------------------------------------------------------------- the store's calls as a whole


def test_groups_and_what_no_run_uses(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("a", a_call("✓"), (0, 0)), ("b", a_call(), None), ("c", a_call(status="fault"), (0, 0)))
    store.import_calls([("d", a_call(kind="embedding", model="e", request=None, reply={"vector": ""}))])
    groups = store.call_groups()
    assert [(one.model, one.kind, one.status, one.imported, one.calls, one.unused) for one in groups] == [
        ("e", "embedding", "ok", True, 1, 1),
        ("judge", "chat", "fault", False, 1, 0),
        ("judge", "chat", "ok", False, 2, 1),
    ]
    assert groups[0].bytes == len('{"vector":""}')
    assert groups[2].bytes == 2 * len('{"messages":[{"role":"user","content":"asked for "}]}{"text":"","finish":"stop"}') + 2 * (len("yes") + len("✓".encode()))
    assert store.prune(dry_run=True) == 2
    assert store.prune(older_than_days=1) == 0
    assert store.prune(older_than_days=-1) == 2
    assert [(one.model, one.calls) for one in store.call_groups()] == [("judge", 1), ("judge", 1)]
    assert store.prune() == 0


def test_a_call_of_the_whole_run_is_used(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("p", a_call(kind="probe"), None))
        assert store.prune(dry_run=True) == 1
        within(20, lambda: ledger.use("p", OF_THE_RUN))
    assert store.prune() == 0
