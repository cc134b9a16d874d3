"""README and docs say what is true: names exist, files load, links lead somewhere, and shown outputs are what the commands print."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import click
import pytest

from measurand import MetricCategory, registry
from measurand.cli.group import metrics
from measurand.config import load
from measurand.core.fields import FIELDS
from measurand.report.request_text import example_requests

ROOT: Final = Path(__file__).resolve().parent.parent


def script(name: str) -> ModuleType:
    """A file of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


consoles: Final = script("consoles")
generate: Final = script("generate")
PAGES: Final[tuple[Path, ...]] = (*consoles.PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").glob("*/README.md")))
TEXTS: Final[Mapping[str, str]] = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}


def commands() -> set[str]:
    context = click.Context(metrics)
    return {name for name in metrics.list_commands(context) if not getattr(metrics.get_command(context, name), "hidden", False)}


def words_after_metrics(command: str) -> list[list[str]]:
    """The words of every call of `metrics` in a shell line."""
    return [words[1:] for words in (shlex.split(part) for part in re.split(r"\||&&", command)) if words and words[0] == "metrics"]


@pytest.mark.parametrize("page", TEXTS)
def test_every_command_and_option_exists(page: str) -> None:
    for command in consoles.commands(TEXTS[page]):
        for words in words_after_metrics(command):
            known = metrics.get_command(click.Context(metrics), words[0])
            assert known is not None, command
            options = {option for parameter in (*known.params, *metrics.params) for option in (*parameter.opts, *parameter.secondary_opts)}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, command


@pytest.mark.parametrize("page", TEXTS)
def test_every_metric_exists(page: str) -> None:
    named = set(re.findall(r"\b(?:code|llm|embed)_[a-z0-9_]+\b", TEXTS[page]))
    mistaken = {"code_tool_call_f"}  # the tutorial shows what is said about it
    assert {name for name in named - mistaken if name not in registry} == set()


@pytest.mark.parametrize("page", TEXTS)
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    made = {*generate.generated_pages(), *(f"adr/{path.name}" for path in (ROOT / "docs" / "adr").glob("*.md"))}
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", TEXTS[page]):
        path = (ROOT / page).parent / target
        site = (ROOT / "docs" / "pages").resolve()
        inside = path.resolve().is_relative_to(site) and path.resolve().relative_to(site).as_posix() in made
        assert path.exists() or inside, target


@pytest.mark.parametrize("page", TEXTS)
def test_every_config_shown_is_valid(page: str, tmp_path: Path) -> None:
    for number, text in enumerate(consoles.files(TEXTS[page], ".toml")):
        if "[[case]]" not in text:
            path = tmp_path / f"{number}.toml"
            path.write_text(text, encoding="utf-8")
            load(path, environ={})


def test_every_command_has_its_section() -> None:
    sections = set(re.findall(r"^## metrics (\S+)$", generate.command_line_page(), re.MULTILINE))
    assert sections == commands()


def test_every_metric_has_its_page() -> None:
    pages = generate.generated_pages()
    names = {one.name for one in registry if "." not in one.name}
    assert {f"catalogue/{name}.md" for name in names} <= pages.keys()
    assert all(f"[{name}]({name}.md)" in pages["catalogue/index.md"] for name in names)


@pytest.mark.parametrize("name", sorted(one.name for one in registry if "." not in one.name))
def test_a_metric_s_page_says_what_it_needs_and_its_example_scores(name: str) -> None:
    one: Any = registry[name]
    page = generate.metric_page(one)
    assert one.description in page
    assert all(f"`{field}`" in page for need in one.requires for field in need.split("|"))
    assert all(f"| `{option.name}` |" in page for option in one.options)
    if one.method == ("code",):
        assert "scores **" in page
        return
    assert one.judged is None or f"> {one.judged.ask}\n" in page
    requests = example_requests(one)
    assert requests
    assert f"costs {len(requests)} request" in page
    for request in requests:
        texts = request["texts"] or [message["content"] for message in (request["sent"] or {"messages": []})["messages"]]
        assert all(text in page for text in texts)


def test_every_category_and_field_is_described() -> None:
    categories = generate.categories_page()
    assert all(f"| {flag.words[0]} | {int(flag)} |" in categories for flag in MetricCategory)
    record = generate.record_page()
    assert all(f"| `{field.name}` |" in record and all(alias in record for alias in field.aliases) for field in FIELDS.values())


@pytest.mark.slow
@pytest.mark.parametrize("page", [path.relative_to(ROOT).as_posix() for path in consoles.PAGES])
def test_every_output_shown_is_what_the_commands_print(page: str) -> None:
    text = TEXTS[page]
    assert consoles.stable(consoles.in_fresh_folder(lambda folder: consoles.refreshed(text, folder))) == consoles.stable(text)
