from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measurand import MetricCategory, registry
from measurand.core.errors import DeclarationError, Problem, UsageError
from measurand.core.metric import metric, same
from measurand.index import SUITES, Registry
from measurand.plugins import installed_plugins


@pytest.fixture
def fresh() -> Iterator[Registry]:
    """The registry as it is at start-up; put back as it was afterwards."""
    kept = registry._snapshot
    registry._snapshot = None
    yield registry
    registry._snapshot = kept


def declared(name: str, **keywords: Any) -> Any:
    @metric(name, **keywords)
    def says(output: str) -> bool:
        """Says something."""
        return True

    return says


def test_built_ins_are_there_by_name() -> None:
    assert registry["code_token_f1"].name == "code_token_f1"
    assert registry.get("nope") is None
    assert "code_token_f1" in registry
    assert "nope" not in registry


def test_by_category_means_all_of_these_flags() -> None:
    found = registry.by_category(MetricCategory.Agentic | MetricCategory.CodeBased)
    assert "code_tool_call_f1" in {one.name for one in found}
    assert all(one.categories & MetricCategory.Agentic for one in found)


def test_query_conditions_all_hold() -> None:
    found = registry.query(
        any_of=MetricCategory.RAG | MetricCategory.Retrieval,
        without=MetricCategory.LLMBased,
        available={"contexts", "reference_contexts"},
        max_cost_usd=0.0,
    )
    assert {"code_context_recall", "code_ndcg"} <= {one.name for one in found}
    assert all(one.feedable({"contexts", "reference_contexts"}) for one in found)
    assert "code_token_f1" in {one.name for one in registry.query(search="squad f1")}
    assert all("output" in one.requires for one in registry.query(requires=["output"]))


def test_the_zero_selects_nothing_and_says_so() -> None:
    with pytest.raises(UsageError, match="the category is none, which selects nothing"):
        registry.by_category(MetricCategory(0))


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ({"all_of": MetricCategory(0)}, "all_of: the category is none, which selects nothing; name at least one flag"),
        ({"any_of": "rag"}, "any_of: 'rag' is no MetricCategory; e.g. MetricCategory.RAG, or MetricCategory.parse(\"rag\")"),
        ({"method": "neural"}, "method: 'neural' is no method; it is one of code, llm, embed"),
        ({"requires": "outptu"}, "requires: 'outptu' is no field of a record; did you mean output?"),
    ],
)
def test_a_condition_that_cannot_be_is_said_and_not_taken_for_one_that_nothing_meets(conditions: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        registry.query(**conditions)
    assert str(refused.value) == sentence


def test_a_single_name_is_one_field() -> None:
    assert registry.query(requires="status") == [registry["code_terminal_success"]]
    assert all(one.requires == ("output",) for one in registry.query(available="output"))


def test_a_same_alias_resolves_and_is_reserved(fresh: Registry) -> None:
    assert fresh["outcome.f1_token"].name == "code_token_f1"
    with pytest.raises(DeclarationError, match=r"outcome\.f1_token is kept: it is another name of code_token_f1"):
        fresh.add(declared("outcome.f1_token"))


def test_an_unknown_name_is_answered_with_what_is_near() -> None:
    with pytest.raises(KeyError) as refused:
        registry["code_tokn_f1"]
    assert "did you mean code_token_f1" in str(refused.value)
    with pytest.raises(KeyError) as bare:
        registry["tokn_f1"]
    assert "code_token_f1" in str(bare.value)


def test_a_close_relation_is_named_with_its_difference_and_never_resolves(fresh: Registry) -> None:
    fresh.add(declared("house.exactly", aka={"their.exactish": "theirs folds case"}))
    assert fresh.get("their.exactish") is None
    with pytest.raises(KeyError) as refused:
        fresh["their.exactish"]
    assert "close, but not the same: house.exactly (theirs folds case)" in str(refused.value)


def test_a_bare_quantity_resolves_only_to_what_every_row_can_feed(fresh: Registry) -> None:
    assert fresh.resolve("context_recall", lambda one: True) is fresh["code_context_recall"]
    problem = fresh.resolve("context_recall", lambda one: False, "metrics.toml:3")
    assert isinstance(problem, Problem)
    assert (problem.code, problem.where) == ("ambiguous_metric", "metrics.toml:3")
    assert "write code_context_recall (needs contexts, reference_contexts)" in problem.hint
    with pytest.raises(KeyError, match="is a quantity, not a metric"):
        fresh["context_recall"]


def test_a_re_run_cell_replaces_and_another_place_is_refused(fresh: Registry) -> None:
    first, second = declared("house.cell"), declared("house.cell")
    fresh.add(first)
    fresh.add(second)
    assert fresh["house.cell"] is second

    @metric("house.cell")
    def elsewhere(output: str) -> bool:
        """Elsewhere."""
        return False

    with pytest.raises(DeclarationError) as refused:
        fresh.add(elsewhere)
    assert "elsewhere" in str(refused.value)
    assert "declared.<locals>.says" in str(refused.value)


def test_a_re_run_cell_takes_its_former_aliases_back(fresh: Registry) -> None:
    fresh.add(declared("house.cell", aka={"house.former": same}))
    fresh.add(declared("house.cell", aka={"house.present": same}))
    assert fresh.get("house.former") is None
    assert fresh["house.present"].name == "house.cell"


def test_a_second_claim_to_a_same_alias_is_refused(fresh: Registry) -> None:
    with pytest.raises(DeclarationError, match=r"says it is the same as 'outcome\.f1_token', which is code_token_f1"):
        fresh.add(declared("house.f1", aka={"outcome.f1_token": same}))


def test_a_snapshot_is_replaced_and_not_changed(fresh: Registry) -> None:
    before = fresh.snapshot
    fresh.add(declared("house.one"))
    assert "house.one" not in before.metrics
    assert "house.one" in fresh.snapshot.metrics


def test_every_alias_and_every_suite_member_resolves() -> None:
    for one in registry:
        for alias in one.aliases:
            assert registry[alias] is one
    for members in SUITES.values():
        for name in members:
            assert registry[name].name == name


def test_aliases_are_claimed_once() -> None:
    claims = [alias for one in registry for alias in one.aliases]
    assert len(claims) == len(set(claims))


# ---------------------------------------------------------------- plugins


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("plug_"):
            del sys.modules[name]


def install(site: Path, namespace: str, source: str, target: str | None = None) -> None:
    module = f"plug_{namespace}"
    (site / f"{module}.py").write_text(source, encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[measurand.metrics]\n{namespace} = {target or module}\n", encoding="utf-8")


GOOD = '''
from measurand import metric

@metric("{0}.polite")
def polite(output: str) -> bool:
    """Polite."""
    return "please" in output
'''


def test_a_plugin_is_found_without_importing_it_and_loaded_when_named(site: Path, fresh: Registry) -> None:
    install(site, "good", GOOD.format("good"))
    assert installed_plugins()["good"].target == "plug_good"
    assert len(fresh) > 0
    assert "plug_good" not in sys.modules
    assert fresh["good.polite"].plugin == "good"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ImportError('no tensor library')", "ImportError: no tensor library"),
        (GOOD.format("other"), "DeclarationError: other.polite lies outside the plugin's namespace; call it bad.polite"),
        ("x = 1", "DeclarationError: plug_bad holds no metrics"),
        (GOOD.format("bad") + "\nraise SystemError('half way')", "SystemError: half way"),
        ("import sys; sys.exit('no licence')", "SystemExit: no licence"),
    ],
)
def test_a_broken_plugin_is_listed_with_its_reason_and_disturbs_nothing(site: Path, fresh: Registry, source: str, reason: str) -> None:
    install(site, "bad", source)
    install(site, "fine", GOOD.format("fine"))
    fresh.load_plugins()
    assert [one.namespace for one in fresh.snapshot.broken] == ["bad"]
    assert fresh.snapshot.broken[0].reason.startswith(reason)
    assert "fine.polite" in fresh
    assert "bad.polite" not in fresh
    problem = fresh.unknown("bad.polite")
    assert problem.code == "broken_plugin"


def test_a_plugin_may_build_on_built_ins_and_has_aliases_in_its_namespace(site: Path, fresh: Registry) -> None:
    source = """
from measurand import metric, same
from measurand.catalogue.text import code_token_f1

@metric("good.doubled", aka={"good.twice": same})
def doubled(output: str, expected: str) -> float:
    '''Token F1 of the output said twice.'''
    return code_token_f1(output + " " + output, expected)
"""
    install(site, "good", source)
    assert fresh["good.twice"].name == "good.doubled"
    assert fresh["code_token_f1"].plugin is None


def test_a_namespace_of_an_adapter_is_kept(site: Path, fresh: Registry) -> None:
    install(site, "ragas", GOOD.format("ragas"))
    assert fresh.get("ragas.polite") is None
    assert fresh.snapshot.broken[0].reason == "DeclarationError: the namespace ragas is kept for measurand's own adapter; give the entry point another name"


def test_the_operator_can_forbid_plugins(site: Path, fresh: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "good", GOOD.format("good"))
    monkeypatch.setenv("METRICS_NO_PLUGINS", "1")
    assert fresh.get("good.polite") is None
    assert "plug_good" not in sys.modules
