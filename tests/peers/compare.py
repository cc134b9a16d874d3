"""Other projects' cases against our figures: each agrees, deviates for a stated reason, or is not covered for a stated reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal, NamedTuple

import tomli

from .figures import NOT_DEFINED, NotOursError  # noqa: TID252  # tests are imported by path, there is no package to name
from .ours.agentgate import agentgate  # noqa: TID252
from .ours.retrieval import azure_document_retrieval, dotnet_retrieval, ir_measure, ranx  # noqa: TID252
from .ours.statistics import dotnet_statistic, inspect_metric  # noqa: TID252
from .ours.text import autoevals, google_rouge, hf_text, inspect_scorer, openevals, ragas_text, sacrebleu  # noqa: TID252
from .ours.tools import agentevals, azure_navigation, deepeval, ragas_calls  # noqa: TID252

HERE: Final = Path(__file__).parent
CASES: Final = HERE / "cases"
Entry = Mapping[str, Any]
Adapter = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Any]
"""(their metric, its params, its input) → a `Figure`, a list of them, or figures by name; raises `NotOursError`."""
Kind = Literal["agrees", "deviates", "not covered", "unexplained"]
KINDS: Final[tuple[Kind, ...]] = ("agrees", "deviates", "not covered", "unexplained")


class Case(NamedTuple):
    """One case of another project, in its words."""

    id: str
    file: str
    metric: str
    params: Mapping[str, Any]
    given: Mapping[str, Any]
    expected: Any
    tolerance: float


class Verdict(NamedTuple):
    """How one case stands to ours. `why` is the note that explains it, or what nobody has explained; `ours` and `theirs` are the figures that differ."""

    case: Case
    kind: Kind
    names: tuple[str, ...]
    why: str = ""
    ours: Any = None
    theirs: Any = None
    entries: tuple[int, ...] = ()
    """The entries of deviations.toml that this verdict rests on, as places in the list of all."""
    aside: tuple[tuple[str, str], ...] = ()
    """Figures of theirs beside the compared ones that are not covered, each with its note."""


class Stated(NamedTuple):
    """deviations.toml."""

    deviations: Sequence[Entry]
    not_covered: Sequence[Entry]

    @property
    def entries(self) -> Sequence[Entry]:
        return [*self.deviations, *self.not_covered]


ADAPTERS: Final[Sequence[tuple[str, Adapter]]] = (
    ("agentevals/", agentevals),
    ("agenteval_dotnet/mrr/", dotnet_retrieval),
    ("agenteval_dotnet/recall_at_k/", dotnet_retrieval),
    ("agenteval_dotnet/", dotnet_statistic),
    ("agentgate/", agentgate),
    ("autoevals/", autoevals),
    ("azure/task_navigation_efficiency/", azure_navigation),
    ("azure/document_retrieval/", azure_document_retrieval),
    ("deepeval/", deepeval),
    ("google_rouge/", google_rouge),
    ("hf_evaluate_examples/", hf_text),
    ("inspect/metric.", inspect_metric),
    ("inspect/", inspect_scorer),
    ("inspect_math/", inspect_scorer),
    ("ir_measures/", ir_measure),
    ("openevals/", openevals),
    ("ragas/ToolCall", ragas_calls),
    ("ragas/", ragas_text),
    ("ranx/", ranx),
    ("sacrebleu/", sacrebleu),
)
"""By how an id begins; the first that fits."""


def read_cases(folder: Path = CASES) -> list[Case]:
    """Every case of every `.jsonl` file of a folder."""
    return [_case(path.stem, json.loads(line)) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]


def _case(file: str, row: Mapping[str, Any]) -> Case:
    return Case(row["id"], file, row["metric"], row["params"], row["input"], row["expected"], float(row.get("tolerance", 1e-6)))


def read_stated() -> Stated:
    """What deviations.toml states."""
    tables = tomli.loads((HERE / "deviations.toml").read_text(encoding="utf-8"))
    return Stated(tables["deviation"], tables["not_covered"])


def verdict(case: Case, stated: Stated) -> Verdict:
    """Compares one case, and looks for what explains the outcome."""
    try:
        adapter = next(adapter for start, adapter in ADAPTERS if case.id.startswith(start))
        found = adapter(case.metric, case.params, case.given)
    except NotOursError as error:
        return _not_covered(case, error.quantity, stated)
    except StopIteration:
        return Verdict(case, "unexplained", (), "no adapter for this file")
    ours, theirs = _by_name(found), _by_name(_expected(case))
    names = tuple(dict.fromkeys(figure.name for figure in ours.values()))
    unknown = ours.keys() - theirs.keys()
    if unknown or not ours:
        return Verdict(case, "unexplained", names, f"the figures cannot be compared: {sorted(unknown)}")
    left_out = {name: _quantity_entry(case, f"figure {name}", stated) for name in theirs if name not in ours}
    places = tuple(place for place in left_out.values() if place is not None)
    if len(places) < len(left_out):
        return Verdict(case, "unexplained", names, f"figures without one of ours: {sorted(theirs.keys() - ours.keys())}")
    aside = tuple((name, stated.entries[at]["why"]) for name, at in zip(left_out, places, strict=True))
    differing = {name: (figure.value, theirs[name]) for name, figure in ours.items() if not _agrees(figure.value, theirs[name], _tolerance(case))}
    place = next((place for place, entry in enumerate(stated.deviations) if _is_about(entry, case, differing)), None)
    if not differing:
        stale = place is not None
        return Verdict(case, "unexplained" if stale else "agrees", names, "stated as a deviation, and agrees" if stale else "", entries=places, aside=aside)
    values = {"ours": _plain({name: pair[0] for name, pair in differing.items()}), "theirs": _plain({name: pair[1] for name, pair in differing.items()})}
    if place is None:
        return Verdict(case, "unexplained", names, "differs, and nothing says why", entries=places, aside=aside, **values)
    return Verdict(case, "deviates", names, stated.deviations[place]["why"], entries=(place, *places), aside=aside, **values)


def _not_covered(case: Case, quantity: str, stated: Stated) -> Verdict:
    place = _quantity_entry(case, quantity, stated)
    if place is None:
        return Verdict(case, "unexplained", (), f"'{quantity}' is none of our quantities, and nothing says why")
    return Verdict(case, "not covered", (), stated.entries[place]["why"], entries=(place,))


def _quantity_entry(case: Case, quantity: str, stated: Stated) -> int | None:
    for place, entry in enumerate(stated.not_covered):
        if entry["file"] == case.file and quantity in entry["quantities"]:
            return len(stated.deviations) + place
    return None


def _is_about(entry: Entry, case: Case, differing: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether a stated deviation is about this case: named by id, or of the file and metric and with nothing but the stated pair of values between us."""
    if "ids" in entry:
        return case.id in entry["ids"]
    if not differing or entry["file"] != case.file or case.metric not in entry["metrics"]:
        return False
    return all(pair == (entry["ours"], entry["theirs"]) for pair in differing.values())


# ---------------------------------------------------------------- what they say


def _expected(case: Case) -> Any:
    """What the other project says, as one number, several, or several by name."""
    expected = case.expected
    match case.file:
        case "inspect" | "inspect_math":
            return {"C": 1.0, "I": 0.0, "N": 0.0}.get(expected, expected)
        case "openevals" if case.metric == "json_match":
            return fmean(one["score"] for one in expected)
        case "hf_evaluate_examples":
            return _printed(case.metric, expected[0]["printed"])
        case "ir_measures":
            return {f"{one['query_id']} {one['measure']}": one["value"] for one in expected}
        case "azure":
            figures = expected[f"{case.metric}_properties"]
            own = {case.metric: expected[case.metric]} if case.metric == "task_navigation_efficiency" else {}
            return {**own, **{name: value for name, value in figures.items() if not name.endswith(("_result", "_passed", "_threshold", "_higher_is_better"))}}
        case "deepeval":
            return {"score": expected["score"]}
    return expected


def _printed(metric: str, printed: str) -> Mapping[str, Any]:
    found = json.loads(printed.replace("'", '"'))
    return found if isinstance(found, dict) else {metric: found}


def _by_name(found: Any) -> dict[str, Any]:
    if isinstance(found, Mapping):
        return dict(found)
    if isinstance(found, list):
        return {str(place): one for place, one in enumerate(found)}
    return {"": NOT_DEFINED if found is None else found}


def _plain(figures: Mapping[str, Any]) -> Any:
    return figures[""] if set(figures) == {""} else dict(figures)


def _tolerance(case: Case) -> float:
    """Theirs, and half a unit of the last place where they round."""
    rounded = {"scorer.f1": 0.005, "ToolCallF1": 0.00005, "ToolCallF1.legacy": 0.00005}
    return max(case.tolerance, rounded.get(case.metric, 0.0), 0.005 if case.file == "hf_evaluate_examples" else 0.0)


def _agrees(ours: float | str, theirs: Any, tolerance: float) -> bool:
    if theirs is None:
        theirs = NOT_DEFINED
    if isinstance(ours, str) or isinstance(theirs, str):
        return bool(ours == theirs)
    return bool(abs(ours - theirs) <= tolerance)


# ---------------------------------------------------------------- all of them


def compared(folder: Path = CASES) -> list[Verdict]:
    """Every case of the folder, compared."""
    stated = read_stated()
    return [verdict(case, stated) for case in read_cases(folder)]


def by_file(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, dict[Kind, int]]]:
    """File → how many cases there are of each kind."""
    for file in dict.fromkeys(one.case.file for one in verdicts):
        yield file, {kind: sum(one.kind == kind for one in verdicts if one.case.file == file) for kind in KINDS}
