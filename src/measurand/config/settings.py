"""The whole of metrics.toml, checked and frozen: what every later step reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, PrivateAttr

from measurand.config.gate import GateSettings
from measurand.config.locate import Path
from measurand.config.questions import QuestionSettings
from measurand.config.runtimes import EmbeddingSettings, ModelSettings
from measurand.config.secrets import REDACTED, read_variable, redact_all
from measurand.config.table import Name, Table, Text, Texts
from measurand.config.tree import Node, Place, where
from measurand.config.work import AnchorSettings, DataSettings, MetricSettings, RagasSettings, RunSettings
from measurand.core.errors import ConfigError, Problem

STDIN: Final = "-"
STORED_RUN: Final = "run:"
_NOT_IN_A_PLAN = {"run": ("mode", "budget_usd", "budget_calls", "budget_tokens"), "runtime": ("max_concurrency", "requests_per_minute", "tokens_per_minute")}


class _EvalTable(Table):
    """Holds [eval.ragas], read as [ragas]."""

    ragas: RagasSettings | None = None
    """The same table as [ragas]."""


class Settings(Table):
    """The effective configuration: the file, what it extends, the `--set` options, and the defaults of every key left out.

    Paths are as written; `resolve` makes them absolute. `where` names the line of any key.
    """

    model_config = ConfigDict(title="metrics.toml")

    project: Text = ""
    """Groups runs; `latest` means the newest run of a project. Default: the name of this file's folder."""
    extends: Text | None = Field(default=None, exclude=True)
    """A file this one is laid over: tables merge by key, [[questions]] by name, the rest is replaced. At most three deep."""
    data: DataSettings = DataSettings()
    """The rows: files, how they are read, which column is which field."""
    models: dict[Name, ModelSettings] = Field(default_factory=dict)
    """Named models. Nothing is ever chosen implicitly."""
    embeddings: dict[Name, EmbeddingSettings] = Field(default_factory=dict)
    """Named embedding models."""
    run: RunSettings = RunSettings()
    """What is measured, by which instruments, within which budget."""
    metrics: dict[Text, MetricSettings] = Field(default_factory=dict)
    """Options and thresholds of one metric, or of an instance of it under a dotted, quoted name."""
    questions: Annotated[tuple[QuestionSettings, ...], Field(strict=False)] = ()
    """Judged metrics written as data."""
    suites: dict[Name, Texts] = Field(default_factory=dict)
    """Named selections of metrics, written "suite:NAME"."""
    ragas: RagasSettings | None = None
    """Options of the ragas adapter."""
    eval: _EvalTable | None = Field(default=None, exclude=True)
    """Holds [eval.ragas], read as [ragas]."""
    anchors: AnchorSettings | None = None
    """Fixed items that show whether the judge drifted."""
    gate: GateSettings | None = None
    """The policy of `metrics gate`; absent: the one stored with the base run."""

    _root: Node = PrivateAttr(default=Node({}, Place()))
    _base: FilePath = PrivateAttr(default=FilePath())
    _files: tuple[FilePath, ...] = PrivateAttr(default=())

    @classmethod
    def default(cls, base: FilePath | None = None, *, project: str | None = None) -> Settings:
        """The settings where there is no file: every key at its default, paths relative to `base` (the working directory)."""
        return cls._built({"project": project}, Node({}, Place()), base or FilePath.cwd(), ())

    @classmethod
    def _built(cls, plain: dict[str, Any], root: Node, base: FilePath, files: tuple[FilePath, ...]) -> Settings:
        """The settings of a checked mapping. Raises pydantic's ValidationError."""
        folder = FilePath(os.path.normpath(base.absolute()))
        project = plain.get("project")
        settings = cls.model_validate({**plain, "project": (folder.name or "project") if project is None else project})
        settings._root, settings._base, settings._files = root, folder, files
        return settings

    @property
    def base(self) -> FilePath:
        """The folder that relative paths are relative to, absolute."""
        return self._base

    @property
    def file(self) -> FilePath | None:
        """The file these settings were read from, None for defaults and mappings."""
        return self._files[0] if self._files else None

    @property
    def files(self) -> tuple[FilePath, ...]:
        """The file and every file it extends, nearest first."""
        return self._files

    def where(self, path: Path) -> str:
        """Where a key stands, e.g. ("run", "metrics", 2) → "metrics.toml:14: [run] metrics"; for a key left out, the table around it."""
        return where(self._root, path)

    def resolve(self, path: str) -> FilePath:
        """A path of the config as an absolute one."""
        return self._base / FilePath(path).expanduser() if path.startswith("~") else self._base / path

    def data_paths(self) -> tuple[str, ...]:
        """[data] path with every file or glob absolute; "-" and "run:RUN" as they are."""
        return tuple(path if path == STDIN or path.startswith(STORED_RUN) else str(self.resolve(path)) for path in self.data.path)

    def store_url(self, environ: Mapping[str, str]) -> str:
        """The store's URL, a SQLite path absolute, from `store_env` where set.

        May hold a password: never print it. Raises ConfigError when the variable is not set or its file cannot be read.
        """
        if self.run.store_env is None:
            return self._absolute_store(self.run.store)
        name, place = self.run.store_env, self.where(("run", "store_env"))
        try:
            url = read_variable(name, environ)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigError(Problem("unreadable_variable", place, f"the file that {name}_FILE names cannot be read: {reason}")) from None
        if not url:
            raise ConfigError(Problem("missing_variable", place, f"the variable {name} (store_env) is not set", f"set {name} to the store's URL"))
        return self._absolute_store(url)

    def _absolute_store(self, url: str) -> str:
        scheme, _, path = url.partition("://")
        return f"sqlite:///{self.resolve(path[1:])}" if scheme == "sqlite" and len(path) > 1 else url

    def metric(self, name: str) -> MetricSettings:
        """The table of a metric or instance; an empty one where none is written."""
        return self.metrics.get(name, MetricSettings())

    def effective(self) -> dict[str, Any]:
        """Every key with its effective value, keys without value left out; JSON-able and free of secrets: what is stored with a run.

        `from_mapping` reads it back, but for the values of headers, which are only named.
        """
        plain: dict[str, Any] = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        redacted: dict[str, Any] = redact_all(plain, by_name=False)
        for runtime in (*redacted["models"].values(), *redacted["embeddings"].values()):
            runtime["headers"] = dict.fromkeys(runtime["headers"], REDACTED)
            runtime["query"], runtime["extra_body"] = redact_all(runtime["query"]), redact_all(runtime["extra_body"])
        return redacted

    def plan_relevant(self) -> dict[str, Any]:
        """`effective` without what only says how fast, how far and from which records: mode, budgets and concurrency. Part of a plan's id."""
        plain = self.effective()
        for key in _NOT_IN_A_PLAN["run"]:
            plain["run"].pop(key, None)
        for runtime in (*plain["models"].values(), *plain["embeddings"].values()):
            for key in _NOT_IN_A_PLAN["runtime"]:
                runtime.pop(key, None)
        return plain
