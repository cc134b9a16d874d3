from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from measurand.core.taxonomy import MEANINGS, MetricCategory
from measurand.index import registry

Metrics = Callable[..., Any]

KEYS = [
    "name",
    "version",
    "status",
    "description",
    "categories",
    "method",
    "requires",
    "optional",
    "direction",
    "range",
    "type",
    "calls",
    "estimated_cost_usd",
    "cost_model",
    "aliases",
    "relations",
    "source",
    "plugin",
]

HOUSE = '''
from __future__ import annotations

from measurand import Ask, Judge, Steps, judged, metric, registry


@metric("house.count", direction="lower")
def count(output: str) -> int:
    """\\x1b[31mRed\\x1b[0m and \\u202ereversed\\u202c."""
    return len(output)


@metric("house.asks", example={"output": "One. Two."})
def asks(output: str) -> Steps[Judge, float]:
    """Asks twice."""
    first = yield Ask("Is `output` kind?")
    second = yield Ask("Is `output` polite?")
    return first.value * second.value


@metric("house.tier", one_of=[("expected", "facts")])
def tier(output: str, expected: str | None = None, facts: list[str] | None = None) -> float:
    """Needs one of two."""
    return 1.0
'''


def listed(ran: Any) -> list[dict[str, Any]]:
    assert (ran.code, ran.err) == (0, "")
    found: list[dict[str, Any]] = json.loads(ran.out)
    return found


def names(ran: Any) -> list[str]:
    assert ran.code == 0, ran.err
    return str(ran.out).splitlines()


# ---------------------------------------------------------------- JSON


def test_json_has_exactly_the_keys_of_the_contract(metrics: Metrics) -> None:
    found = listed(metrics("list", "--json"))
    assert [one["name"] for one in found] == [one.name for one in registry]
    assert all(list(one) == KEYS for one in found)


def test_json_of_one_metric(metrics: Metrics) -> None:
    one = next(one for one in listed(metrics("list", "--json")) if one["name"] == "code_task_reward")
    metric = registry["code_task_reward"]
    assert one["range"] == [None, None]
    assert one["requires"] == ["reward"]
    assert one["categories"] == ["Agentic", "CodeBased", "Correctness"]
    assert (one["method"], one["calls"], one["estimated_cost_usd"], one["cost_model"], one["plugin"]) == (["code"], 0, 0.0, None, None)
    assert one["relations"] == [{"name": relation.name, "difference": relation.difference} for relation in metric.relations]


def test_json_of_what_asks_and_of_one_of(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(HOUSE)
    found = {one["name"]: one for one in listed(metrics("list", "--json", "--load", "house.py", "--search", "house."))}
    assert set(found) == {"house.count", "house.asks", "house.tier"}
    assert found["house.count"]["range"] == [0.0, None]
    asks = found["house.asks"]
    assert (asks["method"], asks["calls"], asks["estimated_cost_usd"]) == (["llm"], 2, None)
    assert found["house.tier"]["requires"] == ["output", "expected|facts"]


def test_json_is_safe_to_show_and_loses_nothing(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(HOUSE)
    ran = metrics("list", "--json", "--load", "house.py", "--search", "house.count")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert listed(ran)[0]["description"] == "\x1b[31mRed\x1b[0m and \u202ereversed\u202c"


# ---------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["--category", "agentic", "--category", "code-based"],
            lambda one: one.categories & MetricCategory.Agentic and one.categories & MetricCategory.CodeBased,
        ),
        (["--category", "rag", "--category", "Structure", "--any"], lambda one: one.categories & (MetricCategory.RAG | MetricCategory.Structure)),
        (["--without", "requires_ground_truth"], lambda one: not one.categories & MetricCategory.RequiresGroundTruth),
        (["--method", "code"], lambda one: not one.judge and not one.embedder),
        (["--requires", "tool_calls"], lambda one: "tool_calls" in one.requires),
        (["--requires", "output", "--requires", "expected"], lambda one: {"output", "expected"} <= set(one.requires)),
        (["--max-cost", "0"], lambda one: not one.judge and not one.embedder),
        (["--category", "agentic", "--requires", "reward"], lambda one: one.name == "code_task_reward"),
    ],
)
def test_conditions(metrics: Metrics, words: list[str], expected: Callable[[Any], Any]) -> None:
    wanted = [one.name for one in registry if expected(one)]
    assert wanted
    assert names(metrics("list", "--format", "names", *words)) == wanted


def test_search_finds_names_elsewhere(metrics: Metrics) -> None:
    assert "code_tool_call_f1" in names(metrics("list", "--search", "ragas toolcallf1", "--format", "names"))


def test_max_cost_leaves_out_what_has_no_known_price(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(HOUSE)
    found = names(metrics("list", "--load", "house.py", "--search", "house.", "--max-cost", "1000", "--format", "names"))
    assert found == ["house.count", "house.tier"]


def test_nothing_found_says_so(metrics: Metrics) -> None:
    nothing = ("list", "--method", "embed", "--category", "performance")
    assert metrics(*nothing) == (0, f"No metric meets all of this; there are {len(registry)}. Fewer conditions show more: metrics list.\n", "")
    assert metrics(*nothing, "--json") == (0, "[]\n", "")


def test_any_without_a_category_says_what_it_is_for(metrics: Metrics) -> None:
    ran = metrics("list", "--any")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "--any: says how --category is meant, and there is none; metrics list --category rag --category agentic --any\n"


# ---------------------------------------------------------------- forms


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_the_table_fits_and_cuts_no_name(metrics: Metrics, width: int) -> None:
    ran = metrics("list", "-q", COLUMNS=str(width))
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].split()[:3] == ["NAME", "TYPE", "NEEDS"][: len(lines[0].split())] or width == 40
    if width >= 80:
        begun = [line.split()[0] for line in lines[1:] if not line.startswith(" ")]
        assert begun == [one.name for one in registry]


def test_a_wide_table_has_a_line_for_each_metric(metrics: Metrics) -> None:
    head, *lines = metrics("list", "-q", COLUMNS="200").out.splitlines()
    assert head.split() == ["NAME", "TYPE", "NEEDS", "COST", "WHAT"]
    assert len(lines) == len(registry)
    column = head.index("WHAT")
    one = registry["code_redundant_calls"]
    assert next(line for line in lines if line.startswith(one.name))[column:] == one.description


def test_a_narrow_table_has_the_description_below(metrics: Metrics) -> None:
    lines = metrics("list", "-q").out.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("code_redundant_calls "))
    assert lines[at + 1] == f"    {registry['code_redundant_calls'].description}"


def test_the_last_line_says_how_many_and_what_to_type(metrics: Metrics) -> None:
    ran = metrics("list", "--category", "agentic", "--category", "code-based")
    count = len(registry.by_category(MetricCategory.Agentic | MetricCategory.CodeBased))
    last = ran.out.splitlines()[-1]
    assert last.startswith(f"{count} of {len(registry)} metrics. One in full: metrics show code_")
    assert "For your data: metrics list --for FILE" in last
    assert ran.err == ""


def test_csv(metrics: Metrics) -> None:
    rows = list(csv.DictReader(io.StringIO(metrics("list", "--format", "csv").out)))
    assert [row["name"] for row in rows] == [one.name for one in registry]
    one = next(row for row in rows if row["name"] == "code_tool_call_f1")
    assert one["requires"] == "tool_calls expected_tool_calls"
    assert one["plugin"] == ""


def test_markdown(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(HOUSE)
    lines = metrics("list", "--format", "markdown", "--load", "house.py", "--search", "house.tier").out.splitlines()
    assert lines == [
        "| Metric | Type | Needs | USD a row | What |",
        "| --- | --- | --- | --: | --- |",
        "| `house.tier` | proportion | output, expected\\|facts | 0 | Needs one of two |",
    ]


def test_hostile_text_is_shown_as_symbols(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "house.py").write_text(HOUSE)
    for layout in ("table", "csv", "markdown"):
        ran = metrics("list", "--load", "house.py", "--search", "house.count", "--format", layout)
        assert "␛[31mRed␛[0m and <U+202E>reversed<U+202C>" in ran.out
        assert "\x1b" not in ran.out


# ---------------------------------------------------------------- for data

TICKETS = "Question,Answer,Docs,Lang\nWhere?,There,A passage,en\nWhen?,Now,Another,de\n"


def test_for_says_what_can_be_measured_what_almost_and_how_columns_are_read(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text(TICKETS)
    ran = metrics("list", "--for", "tickets.csv", COLUMNS="2000")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    fed = registry.query(available={"input", "output"})
    assert lines[0].startswith(f"can be measured ({len(fed)})")
    for one in fed:
        assert one.name in lines[0]
    almost = [one for one in registry if len(one.missing({"input", "output"})) == 1]
    assert lines[1].startswith(f"almost ({len(almost)})")
    text = " ".join(ran.out.split())
    assert 'code_context_redundancy needs contexts (no column; nearest: "Docs")' in text
    assert "code_latency needs usage (no column)" in text
    assert "need tool_calls and expected_tool_calls: " in text
    assert "mapping input ← Question · output ← Answer · metadata ← Docs, Lang" in text
    assert lines[-1] == f"{len(fed)} of {len(registry)} metrics can be measured. A config for these rows: metrics init --for tickets.csv"


def test_for_fits_in_80_columns(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text(TICKETS)
    ran = metrics("list", "-q", "--for", "tickets.csv")
    assert max(map(len, ran.out.splitlines())) <= 80


def test_for_with_json_keeps_what_can_be_fed_in_the_shape_of_list(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text(TICKETS)
    found = listed(metrics("list", "--for", "tickets.csv", "--json"))
    assert [one["name"] for one in found] == [one.name for one in registry.query(available={"input", "output"})]
    assert all(list(one) == KEYS for one in found)


def test_for_counts_the_rows_that_can_feed(metrics: Metrics, tmp_path: Path) -> None:
    rows = [{"id": "a", "output": "x", "expected": "x"}, {"id": "b", "output": "y"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = metrics("list", "--for", "rows.jsonl", "--search", "code_token_f1")
    assert "code_token_f1 (1 of 2 rows)" in " ".join(ran.out.split())


def test_for_reads_standard_input_and_takes_the_columns_of_a_config(metrics: Metrics, tmp_path: Path) -> None:
    assert names(metrics("list", "--for", "-", "--format", "names", "--requires", "reward", stdin='{"reward": 1}\n')) == ["code_task_reward"]
    (tmp_path / "metrics.toml").write_text('[data.columns]\nreward = "points"\n')
    words = ("list", "--for", "-", "--format", "names", "--requires", "reward")
    assert names(metrics(*words, stdin='{"points": 1}\n')) == []
    assert names(metrics(*words, "-c", "metrics.toml", stdin='{"points": 1}\n')) == ["code_task_reward"]


def test_for_data_that_is_not_there(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text(TICKETS)
    ran = metrics("list", "--for", "tikets.csv")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "tikets.csv: there is no such file; did you mean tickets.csv?\n"


# ---------------------------------------------------------------- plugins


def install(folder: Path, name: str, module: str) -> None:
    """What pip leaves behind for a package with one entry point."""
    (folder / f"{name}-1.0.dist-info").mkdir(parents=True)
    (folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(f"[measurand.metrics]\n{name} = {name}_metrics\n")
    (folder / f"{name}_metrics.py").write_text(module)


GOOD = '''
from __future__ import annotations
from measurand import metric

@metric("acme.polite")
def polite(output: str) -> bool:
    """Says please."""
    return True
'''


@pytest.fixture
def site(tmp_path: Path) -> str:
    install(tmp_path / "site", "acme", GOOD)
    install(tmp_path / "site", "broken", "raise ImportError('libfoo.so is missing')\n")
    import os

    return os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])


def test_plugins_are_named_but_not_imported_until_asked(metrics: Metrics, site: str) -> None:
    ran = metrics("list", PYTHONPATH=site)
    assert (ran.code, ran.err) == (0, "")
    assert "acme.polite" not in ran.out
    assert "Of plugins not loaded (acme, broken): metrics list --plugins" in " ".join(ran.out.split())
    for words in (["--help"], ["--version"], ["categories"], ["show", "code_token_f1"]):
        assert metrics(*words, PYTHONPATH=site).code == 0


def test_a_broken_plugin_is_listed_with_its_reason_and_disturbs_nothing(metrics: Metrics, site: str) -> None:
    ran = metrics("list", "--plugins", "--json", PYTHONPATH=site)
    assert ran.code == 0
    assert ran.err == "the plugin broken (broken_metrics) cannot be loaded: ImportError: libfoo.so is missing\n"
    found = {one["name"]: one for one in json.loads(ran.out)}
    assert all(list(one) == KEYS for one in found.values())
    assert (found["acme.polite"]["plugin"], found["acme.polite"]["status"]) == ("acme", "stable")
    assert (found["broken"]["plugin"], found["broken"]["status"]) == ("broken", "unavailable")
    assert found["broken"]["description"] == "the plugin cannot be loaded: ImportError: libfoo.so is missing"
    assert set(found) == {*(one.name for one in registry), "acme.polite", "broken"}


def test_naming_a_plugin_loads_it_alone(metrics: Metrics, site: str) -> None:
    assert metrics("show", "acme.polite", PYTHONPATH=site).code == 0
    ran = metrics("show", "broken.thing", PYTHONPATH=site)
    assert ran.code == 2
    assert ran.err == "metrics show: 'broken.thing' belongs to the plugin broken, which cannot be loaded; ImportError: libfoo.so is missing\n"


def test_plugins_can_be_forbidden(metrics: Metrics, site: str) -> None:
    ran = metrics("list", "--plugins", "--format", "names", PYTHONPATH=site, METRICS_NO_PLUGINS="1")
    assert ran.code == 0
    assert ran.err == "plugins are off: METRICS_NO_PLUGINS is set\n"
    assert ran.out.splitlines() == [one.name for one in registry]


# ---------------------------------------------------------------- categories


def test_categories(metrics: Metrics) -> None:
    lines = metrics("categories", COLUMNS="200").out.splitlines()
    assert lines[0].split() == ["FLAG", "METRICS", "MEANING"]
    for line, (flag, meaning) in zip(lines[1:], MEANINGS.items(), strict=False):
        count = sum(1 for one in registry if one.categories & flag)
        assert line.split(maxsplit=2) == [flag.name, str(count), meaning]
    assert max(map(len, metrics("-q", "categories").out.splitlines())) <= 80


def test_categories_json(metrics: Metrics) -> None:
    found = listed(metrics("categories", "--json"))
    assert found[0] == {
        "name": "RequiresContext",
        "value": 1,
        "meaning": "needs contexts or reference_contexts",
        "metrics": len(registry.by_category(MetricCategory.RequiresContext)),
    }
    assert [one["name"] for one in found] == [flag.name for flag in MetricCategory]
