"""Other projects' cases: each agrees, deviates for a stated reason, or is not covered for a stated reason. `python -m tests.peers` prints which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from measurand import registry

from .__main__ import main  # noqa: TID252  # tests are imported by path, there is no package to name
from .compare import CASES, HERE, KINDS, Case, Stated, Verdict, by_file, compared, read_cases, read_stated, verdict  # noqa: TID252
from .figures import Figure, NotOursError, of  # noqa: TID252

STATED: Final = read_stated()
VERDICTS: Final = compared()
BY_ID: Final = {one.case.id: one for one in VERDICTS}


@pytest.mark.parametrize("found", VERDICTS, ids=lambda found: str(found.case.id))
def test_a_case_agrees_or_is_explained(found: Verdict) -> None:
    assert found.kind != "unexplained", f"{found.why}: ours {found.ours}, theirs {found.theirs}"


@pytest.mark.parametrize("place", range(len(STATED.entries)), ids=lambda place: STATED.entries[place]["why"][:60])
def test_each_statement_explains_some_case_and_gives_a_reason(place: int) -> None:
    assert len(STATED.entries[place]["why"]) > 20
    assert any(place in found.entries for found in VERDICTS)


@pytest.mark.parametrize("entry", STATED.not_covered, ids=lambda entry: entry["why"][:60])
def test_no_metric_of_ours_has_a_quantity_that_is_said_not_to_be_covered(entry: dict[str, Any]) -> None:
    for quantity in entry["quantities"]:
        assert quantity not in registry
        assert not [one.name for one in registry if quantity in one.aliases]


@pytest.mark.parametrize(("file", "quantity"), [(entry["file"], quantity) for entry in STATED.not_covered for quantity in entry["quantities"]])
def test_each_quantity_that_is_not_covered_is_asked_for_by_some_case(file: str, quantity: str) -> None:
    without = [{**entry, "quantities": [one for one in entry["quantities"] if (entry["file"], one) != (file, quantity)]} for entry in STATED.not_covered]
    cases = [found.case for found in VERDICTS if found.case.file == file]
    assert any(verdict(case, Stated(STATED.deviations, without)).kind == "unexplained" for case in cases)


@pytest.mark.parametrize("identity", [one for entry in STATED.deviations for one in entry.get("ids", ())])
def test_each_deviation_named_by_id_is_one(identity: str) -> None:
    assert BY_ID[identity].kind == "deviates"


def test_each_case_has_its_licence_told() -> None:
    told = (HERE / "LICENCES.md").read_text(encoding="utf-8")
    for path in CASES.glob("*.jsonl"):
        assert f"| {path.name} |" in told
        row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        assert row["licence"] in next(line for line in told.splitlines() if line.startswith(f"| {path.name} |"))


# ---------------------------------------------------------------- the comparison itself


def _exact(expected: Any, output: str = "a") -> Case:
    return Case("autoevals/exact_match/x", "autoevals", "exact_match", {}, {"output": output, "expected": "a"}, expected, 1e-6)


def test_what_differs_without_a_statement_is_unexplained() -> None:
    found = verdict(_exact(1, output="b"), STATED)
    assert (found.kind, found.ours, found.theirs) == ("unexplained", 0.0, 1)


def test_a_stated_deviation_that_agrees_is_unexplained() -> None:
    entry = {"ids": ["autoevals/exact_match/x"], "why": "it once differed"}
    assert verdict(_exact(1), Stated([], [])).kind == "agrees"
    assert verdict(_exact(1), Stated([entry], [])).why == "stated as a deviation, and agrees"
    assert verdict(_exact(0), Stated([entry], [])).kind == "deviates"


@pytest.mark.parametrize(("theirs", "kind"), [(0, "deviates"), (1, "unexplained")])
def test_a_deviation_by_values_explains_these_values_only(theirs: float, kind: str) -> None:
    entry = {"file": "agenteval_dotnet", "metrics": ["median"], "ours": "not defined", "theirs": 0, "why": "nothing has no median"}
    case = Case("agenteval_dotnet/median/x", "agenteval_dotnet", "median", {}, {"values": []}, theirs, 1e-6)
    assert verdict(case, Stated([entry], [])).kind == kind


def test_a_file_without_adapter_is_unexplained() -> None:
    assert verdict(Case("elsewhere/f1/x", "elsewhere", "f1", {}, {}, 1, 1e-6), STATED).kind == "unexplained"


def test_a_metric_that_does_not_exist_is_none_of_ours() -> None:
    with pytest.raises(NotOursError, match="code_of_nothing"):
        of("code_of_nothing", output="a")
    assert of("code_exact_match", output="a", expected="a") == Figure(1.0, "code_exact_match")


# ---------------------------------------------------------------- the command


def test_the_command_prints_every_file_and_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split()[0] for line in lines] == ["file", *(file for file, _ in by_file(VERDICTS)), "total"]
    assert lines[-1].split()[1:] == [str(sum(one.kind == kind for one in VERDICTS) or "–") for kind in KINDS]


def test_the_verbose_command_prints_each_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-v"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{found.kind}: {found.case.id}" in printed for found in VERDICTS if found.kind != "agrees")
    assert all(entry["why"] in printed for entry in STATED.entries)


def test_the_command_fails_on_what_is_unexplained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "ranx/precision/x", "metric": "precision", "params": {"extra": [1]}, "input": {"qrels": [[[1, 1]]], "run": [[[1, 1]]]}, "expected": [0.5]}
    (tmp_path / "ranx.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert "unexplained: ranx/precision/x  ours {'0': 1.0}, theirs {'0': 0.5}" in capsys.readouterr().out
    assert [case.id for case in read_cases(tmp_path)] == ["ranx/precision/x"]
