"""Pages that are made from the code at build time: the catalogue, the categories, the record, the command line, the peers. A mkdocs hook."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mkdocs.structure.files import File, Files

from measurand import Metric, MetricCategory, registry
from measurand.core.fields import FIELDS
from measurand.core.judged import answers
from measurand.core.metric import REQUIRED
from measurand.core.taxonomy import DERIVED, MEANINGS
from measurand.report.catalogue_json import calls_on_example, split_example
from measurand.report.figures import counted
from measurand.report.metric_text import computed_example
from measurand.report.request_text import example_requests

if TYPE_CHECKING:
    import click
    from mkdocs.config.defaults import MkDocsConfig
    from tests.peers.compare import Verdict

HERE: Final = Path(__file__).parent
PART_NAMES: Final = {"identity": "names the row", "task": "what was asked for", "subject": "what came of it"}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the generated pages, and the decisions kept in docs/adr."""
    for path, text in generated_pages().items():
        files.append(File.generated(config, path, content=text))
    for decision in sorted((HERE / "adr").glob("*.md")):
        files.append(File.generated(config, f"adr/{decision.name}", abs_src_path=str(decision)))
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts them in the navigation."""
    reference = next(entry["Reference"] for entry in config.nav or [] if isinstance(entry, dict) and "Reference" in entry)
    reference[:0] = ["reference/record.md", "reference/categories.md", "reference/command-line.md"]
    reference.append("reference/peers.md")
    names = sorted(one.name for one in built_ins())
    config.nav = [*(config.nav or []), {"Catalogue": ["catalogue/index.md", *(f"catalogue/{name}.md" for name in names)]}]
    config.nav.append({"Decisions": [f"adr/{decision.name}" for decision in sorted((HERE / "adr").glob("*.md"))]})
    return config


def generated_pages() -> Mapping[str, str]:
    """Path below the site → Markdown."""
    pages = {f"catalogue/{one.name}.md": metric_page(one) for one in built_ins()}
    pages["catalogue/index.md"] = catalogue_page()
    pages["reference/categories.md"] = categories_page()
    pages["reference/record.md"] = record_page()
    pages["reference/command-line.md"] = command_line_page()
    pages["reference/peers.md"] = peers_page()
    return pages


def built_ins() -> list[Metric[Any]]:
    """The metrics that measurand itself brings."""
    return [one for one in registry if "." not in one.name]


# ---------------------------------------------------------------- catalogue


def catalogue_page() -> str:
    """Every metric in one table."""
    rows = [f"| [{one.name}]({one.name}.md) | {one.type} | {_fields(one.requires)} | {_cell(one.description)} |" for one in built_ins()]
    head = ["# Catalogue", "", f"{len(rows)} metrics. On the command line: `metrics list`, one in full: `metrics show NAME`.", ""]
    return "\n".join([*head, "| name | type | needs | what |", "| --- | --- | --- | --- |", *rows, ""])


def metric_page(one: Metric[Any]) -> str:
    """One metric in full."""
    summary, _, rest = one.doc.partition("\n")
    parts = (*_facts(one), "", *_question(one), *_options(one), *_example(one), *_requests(one), *_elsewhere(one))
    return "\n".join([f"# {one.name}", "", summary, "", _paragraphs(rest), "", *parts])


_LEADS = ("Use it when", "Not when", "Empty:")


def _paragraphs(text: str) -> str:
    """The docstring's body; what it is for, what not, and what happens with empty fields each in a paragraph of its own."""
    lines = text.strip().split("\n")
    return "\n".join(f"\n{line}" if line.startswith(_LEADS) else line for line in lines)


def _facts(one: Metric[Any]) -> Iterator[str]:
    yield "| property | value |"
    yield "| --- | --- |"
    yield f"| needs | {_fields(one.requires)} |"
    if one.optional:
        yield f"| uses when there | {_fields(one.optional)} |"
    yield f"| direction | {'descriptive, neither way is better' if one.direction == 'none' else f'{one.direction} is better'} |"
    yield f"| type, range | {one.type}, {_number(one.range[0])} to {_number(one.range[1])} |"
    if one.threshold is not None:
        yield f"| passes | {'at or above' if one.direction == 'higher' else 'below'} {_number(one.threshold)} |"
    yield f"| computed by | {', '.join(one.method)} |"
    yield f"| categories | {', '.join(one.categories.words)} |"
    yield f"| version | {one.version}, {one.status} since {one.since} |"
    if one.source:
        yield f"| source | {_cell(one.source)} |"


def _question(one: Metric[Any]) -> Iterator[str]:
    """What is asked, verbatim, and what may be answered."""
    if one.judged is None:
        return
    yield from ("## Question", "", f"> {one.judged.ask}", "")
    optional = [f"`{name}`" for name in one.optional]
    if optional:
        yield from (f"What is about {' or '.join(optional)} is asked only of rows that have it.", "")
    if one.judged.through:
        yield from (f"Asked of each {one.judged.part}, all in one request.", "")
    yield from (f"- {name}: {means}" if means else f"- {name}" for name, means in answers(one.judged).items())
    yield ""


def _options(one: Metric[Any]) -> Iterator[str]:
    if not one.options:
        return
    yield from ("## Options", "", f"Set under `[metrics.{one.name}]`, or as `{one.name}({one.options[0].name}=…)`.", "")
    yield from ("| option | takes | default |", "| --- | --- | --- |")
    for option in one.options:
        default = _default(option.default)
        yield f"| `{option.name}` | {_cell(option.type.allowed)} | {default} |"
    yield ""


def _default(value: object) -> str:
    if value is REQUIRED:
        return "must be set"
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False, default=list)}`"


def _example(one: Metric[Any]) -> Iterator[str]:
    result = computed_example(one)
    if result is None and not (one.judge or one.embedder):
        return
    fields, options = split_example(one)
    yield from ("## Example", "", "```json", json.dumps(fields, ensure_ascii=False, indent=2), "```", "")
    if options:
        yield from (f"with {', '.join(f'`{name} = {json.dumps(value, ensure_ascii=False)}`' for name, value in options.items())}", "")
    if result is None:
        yield from (f"costs {counted(calls_on_example(one) or 0, 'request')}; the score is what the model's answers make it.", "")
        return
    yield f"scores **{_number(result.score)}**." if result.score is not None else f"is {result.status}: {result.error.message if result.error else ''}"
    yield ""


def _requests(one: Metric[Any]) -> Iterator[str]:
    """What the example sends, word for word, made by the code that a run uses; replies before it stand in."""
    requests = example_requests(one)
    if not requests:
        return
    yield from (
        "## What is sent for it",
        "",
        "Word for word, with stand-in replies; `metrics show` prints the same, for models without token probabilities too.",
        "",
    )
    for number, request in enumerate(requests, 1):
        yield from (f"Request {number} of {len(requests)}:" if len(requests) > 1 else "The request:", "")
        sent = request["sent"]
        texts = request["texts"] or [f"{message['role']}\n\n{message['content']}" for message in (sent or {"messages": []})["messages"]]
        for text in texts:
            yield from ("````text", text, "````", "")
        if sent is not None:
            schema = sent["schema"]
            yield from (
                "The reply is text, and probabilities are read from its tokens." if schema is None else f"The reply is JSON: `{json.dumps(schema)}`",
                "",
            )


def _elsewhere(one: Metric[Any]) -> Iterator[str]:
    if not one.aliases and not one.relations:
        return
    yield from ("## Elsewhere", "")
    yield from (f"- `{name}`: the same" for name in one.aliases)
    yield from (f"- `{known.name}`: {known.difference}" for known in one.relations)
    yield ""


# ---------------------------------------------------------------- the other pages


def categories_page() -> str:
    """Every flag, its meaning and how many metrics have it."""
    rows = [f"| {flag.words[0]} | {int(flag)} | {'derived' if flag & DERIVED else 'written'} | {MEANINGS[flag]} | {_having(flag)} |" for flag in MetricCategory]
    head = [
        "# Categories",
        "",
        "Flags of a metric. *Derived* ones follow from its fields and instruments and are never written by hand, so they cannot lie.",
        "",
    ]
    return "\n".join([*head, "| flag | value | | meaning | metrics |", "| --- | --- | --- | --- | --- |", *rows, ""])


def _having(flag: MetricCategory) -> int:
    return sum(bool(one.categories & flag) for one in built_ins())


def record_page() -> str:
    """Every field of a record, with the column names it is read from."""
    rows = [f"| `{one.name}` | {one.meaning} | {one.shape} | {', '.join(one.aliases) or '–'} | {PART_NAMES[one.part]} |" for one in FIELDS.values()]
    head = ["# The record", "", "One row of a dataset. A column that is called otherwise is mapped: see [your data](../how-to/your-data.md).", ""]
    return "\n".join([*head, "| field | meaning | shape | read also from | part |", "| --- | --- | --- | --- | --- |", *rows, ""])


def command_line_page() -> str:
    """`metrics --help` and the help of every command."""
    import click

    from measurand.cli.group import metrics

    context = click.Context(metrics, info_name="metrics")
    texts = ["# The command line", "", "```text", metrics.get_help(context), "```", ""]
    for name in metrics.list_commands(context):
        command = metrics.get_command(context, name)
        if command is not None and not command.hidden:
            texts += [f"## metrics {name}", "", "```text", _help(command, context, name), "```", ""]
    return "\n".join(texts)


def _help(command: click.Command, parent: click.Context, name: str) -> str:
    import click

    return command.get_help(click.Context(command, info_name=name, parent=parent))


# ---------------------------------------------------------------- other projects


@cache
def peers_page() -> str:
    """Other projects' own cases against our figures: what agrees, where we differ and why, what is not covered. From `tests/peers`, compared anew."""
    if str(HERE.parent) not in sys.path:
        sys.path.append(str(HERE.parent))  # tests/ is installed nowhere
    from tests.peers import compare

    found = compare.compared()
    head = [
        "# Other projects' figures",
        "",
        f"{len(found)} cases from the tests of other projects, with the values that those projects state, run against the metrics here. Each agrees, deviates for",
        "a stated reason, or is not covered for a stated reason; the tests fail on anything else. Case by case, from a clone: `python -m tests.peers -v`.",
        "",
    ]
    counts = [f"| {file} | {of['agrees']} | {of['deviates']} | {of['not covered']} |" for file, of in compare.by_file(found)]
    lines = [*head, "| project | agrees | deviates | not covered |", "| --- | --- | --- | --- |", *counts, ""]
    lines += ["## Where we differ", "", "| project | theirs | cases | why |", "| --- | --- | --- | --- |", *_reasons(found, "deviates"), ""]
    lines += ["## Whose metric is which", "", "| project | theirs | here |", "| --- | --- | --- |", *_counterparts(found), ""]
    lines += ["## Not covered", "", "| project | theirs | cases | why |", "| --- | --- | --- | --- |", *_reasons(found, "not covered"), *_beside(found), ""]
    return "\n".join(lines)


def _reasons(found: list[Verdict], kind: str) -> Iterator[str]:
    """One row for each file and note."""
    some = [one for one in found if one.kind == kind]
    for file, why in dict.fromkeys((one.case.file, one.why) for one in some):
        these = [one for one in some if (one.case.file, one.why) == (file, why)]
        theirs = ", ".join(f"`{name}`" for name in dict.fromkeys(one.case.metric for one in these))
        yield f"| {file} | {theirs} | {len(these)} | {_cell(why)} |"


def _beside(found: list[Verdict]) -> Iterator[str]:
    """Figures that stand beside the compared ones of a case: one row for each file and note."""
    told = [(one.case.file, why, name) for one in found for name, why in one.aside]
    for file, why in dict.fromkeys((one[0], one[1]) for one in told):
        theirs = [name for other, reason, name in told if (other, reason) == (file, why)]
        distinct = dict.fromkeys(theirs)
        yield f"| {file} | {', '.join(f'`{name}`' for name in distinct)} | {len(theirs) // len(distinct)} (in part) | {_cell(why)} |"


def _counterparts(found: list[Verdict]) -> Iterator[str]:
    """One row for each metric of theirs: what was compared with it."""
    for file, theirs in dict.fromkeys((one.case.file, one.case.metric) for one in found if one.names):
        ours = dict.fromkeys(name for one in found if (one.case.file, one.case.metric) == (file, theirs) for name in one.names)
        yield f"| {file} | `{theirs}` | {', '.join(_linked(name) for name in ours)} |"


def _linked(name: str) -> str:
    return f"[{name}](../catalogue/{name}.md)" if name in registry else name


# ---------------------------------------------------------------- words


def _fields(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`".replace("|", "` or `") for name in names)


def _number(value: float) -> str:
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
