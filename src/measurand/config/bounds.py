"""What the operator's environment lets any config reach: hosts, variables, paths, plugins."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from attrs import frozen

from measurand.config.runtimes import EMBEDDING_PROVIDERS, MODEL_PROVIDERS, RuntimeTable
from measurand.config.secrets import redact
from measurand.config.settings import STDIN, STORED_RUN, Settings
from measurand.core.errors import Problem

ALLOW_HOSTS: Final = "METRICS_ALLOW_HOSTS"
ALLOW_KEYS: Final = "METRICS_ALLOW_KEYS"
CONFINE: Final = "METRICS_CONFINE"
NO_PLUGINS: Final = "METRICS_NO_PLUGINS"
_OFF = frozenset({"", "0", "false", "no", "off"})
_MATCHES_CHECKED = 10_000
_DEFAULT_PORTS = {"http": 80, "https": 443}


@frozen
class Bounds:
    """What is in force. None: unbounded; an empty set: nothing is allowed."""

    hosts: tuple[str, ...] | None = None
    """Hosts that may be contacted: "api.openai.com" (any port), "gateway:8443", "*.corp.example"."""
    keys: tuple[str, ...] | None = None
    """Environment variables a config may name."""
    confine: bool = False
    """Paths, symlinks resolved, stay in the working directory; the store is SQLite."""
    no_plugins: bool = False
    """No plugin is imported."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Bounds:
        """Read METRICS_ALLOW_HOSTS and METRICS_ALLOW_KEYS (lists by comma or space; set but empty allows nothing), METRICS_CONFINE, METRICS_NO_PLUGINS."""
        hosts = _listed(environ, ALLOW_HOSTS)
        return cls(
            tuple(host.lower() for host in hosts) if hosts is not None else None,
            _listed(environ, ALLOW_KEYS),
            environ.get(CONFINE, "").strip().lower() not in _OFF,
            environ.get(NO_PLUGINS, "").strip().lower() not in _OFF,
        )

    def describe(self) -> list[str]:
        """One sentence for each bound in force; empty when none is."""
        said = []
        if self.hosts is not None:
            said.append(f"{ALLOW_HOSTS}: requests go only to {', '.join(self.hosts) or 'no host'}")
        if self.keys is not None:
            said.append(f"{ALLOW_KEYS}: only these variables are read: {', '.join(self.keys) or 'none'}")
        if self.confine:
            said.append(f"{CONFINE}: paths stay in the working directory, the store is SQLite")
        if self.no_plugins:
            said.append(f"{NO_PLUGINS}: no plugin is imported")
        return said

    def allows_host(self, url: str) -> bool:
        """Whether requests to this URL are allowed."""
        if self.hosts is None:
            return True
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
        return bool(host) and any(_fits(rule, host, port) for rule in self.hosts)

    def allows_key(self, variable: str) -> bool:
        """Whether a config may name this environment variable."""
        return self.keys is None or variable in self.keys


def _listed(environ: Mapping[str, str], name: str) -> tuple[str, ...] | None:
    return tuple(environ[name].replace(",", " ").split()) if name in environ else None


def _fits(rule: str, host: str, port: int | None) -> bool:
    bracketed = rule.startswith("[")
    name, _, wanted = rule.rpartition(":") if (":" in rule and (not bracketed or not rule.endswith("]"))) else (rule, "", "")
    if rule.count(":") > 1 and not bracketed:
        name, wanted = rule, ""  # a bare IPv6 address
    name = name.strip("[]")
    if wanted and wanted != str(port):
        return False
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def confined(path: Path | str, cwd: Path, where: str = "") -> Problem | None:
    """A problem when `path` (relative to `cwd`), symlinks resolved, lies outside `cwd`; for METRICS_CONFINE. A glob is checked match by match."""
    inside = cwd.resolve()
    for one in _candidates(str(cwd / path)):
        try:
            resolved = Path(one).resolve()
        except (OSError, RuntimeError, ValueError):
            return Problem("not_allowed", where, f"{str(path)!r} cannot be followed", f"{CONFINE} is set: name a file in the working directory")
        if not resolved.is_relative_to(inside):
            return Problem("not_allowed", where, f"{str(path)!r} leads out of the working directory", f"{CONFINE} is set: name a file inside it")
    return None


def _candidates(path: str) -> Iterator[str]:
    yield path
    if glob.has_magic(path):
        yield from islice(glob.iglob(path, recursive=True), _MATCHES_CHECKED)


def check_bounds(settings: Settings, bounds: Bounds, cwd: Path) -> list[Problem]:
    """Every way in which a config goes beyond its bounds. Host names and variables are said, their contents never."""
    found: list[Problem] = []
    for section, runtimes, providers in (
        ("models", settings.models, MODEL_PROVIDERS),
        ("embeddings", settings.embeddings, EMBEDDING_PROVIDERS),
    ):
        for name, runtime in runtimes.items():
            found += _runtime_problems(settings, bounds, runtime, (section, name), providers)
    found += _store_problems(settings, bounds)
    return [*found, *(_path_problems(settings, cwd) if bounds.confine else ())]


def _runtime_problems(settings: Settings, bounds: Bounds, runtime: RuntimeTable, path: tuple[str, str], providers: tuple[str, ...]) -> Iterator[Problem]:
    if bounds.no_plugins and runtime.provider not in providers:
        hint = f"{NO_PLUGINS} is set; built in: {', '.join(providers)}"
        yield Problem("not_allowed", settings.where((*path, "provider")), f"{runtime.provider!r} is a plugin's provider", hint)
    address = runtime.address()
    if bounds.hosts is not None and runtime.provider != "local":
        if address is None:
            yield Problem("not_allowed", settings.where(path), "its host is not known", f"{ALLOW_HOSTS} is set: write base_url")
        elif not bounds.allows_host(address):
            yield _host_problem(settings, bounds, address, (*path, "base_url"))
        if runtime.proxy not in {None, "none"} and not bounds.allows_host(str(runtime.proxy)):
            yield _host_problem(settings, bounds, str(runtime.proxy), (*path, "proxy"))
    if runtime.api_key_env is not None:
        yield from _key_problems(settings, bounds, runtime.api_key_env, (*path, "api_key_env"))
    for header, variable in runtime.headers_env.items():
        yield from _key_problems(settings, bounds, variable, (*path, "headers_env", header))


def _host_problem(settings: Settings, bounds: Bounds, url: str, path: tuple[str, ...]) -> Problem:
    parts = urlsplit(redact(url))
    host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    return Problem("not_allowed", settings.where(path), f"the host {host} is not allowed", f"{ALLOW_HOSTS} allows {', '.join(bounds.hosts or ()) or 'none'}")


def _key_problems(settings: Settings, bounds: Bounds, variable: str, path: tuple[str, ...]) -> Iterator[Problem]:
    if not bounds.allows_key(variable):
        hint = f"{ALLOW_KEYS} allows {', '.join(bounds.keys or ()) or 'none'}"
        yield Problem("not_allowed", settings.where(path), f"the variable {variable} may not be read", hint)


def _store_problems(settings: Settings, bounds: Bounds) -> Iterator[Problem]:
    run = settings.run
    if run.store_env is not None:
        yield from _key_problems(settings, bounds, run.store_env, ("run", "store_env"))
        if bounds.confine:
            yield Problem("not_allowed", settings.where(("run", "store_env")), "may name another store than SQLite", f"{CONFINE} is set: write store")
    elif not run.store.startswith("sqlite:"):
        if bounds.confine:
            yield Problem("not_allowed", settings.where(("run", "store")), "is not SQLite", f'{CONFINE} is set: write store = "sqlite:///….db"')
        if not bounds.allows_host(run.store):
            yield _host_problem(settings, bounds, run.store, ("run", "store"))


def _path_problems(settings: Settings, cwd: Path) -> Iterator[Problem]:
    for path, written in _paths(settings):
        problem = confined(settings.resolve(written), cwd, settings.where(path))
        if problem is not None:
            yield Problem(problem.code, problem.where, f"{written!r} leads out of the working directory", problem.hint)


def _paths(settings: Settings) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every path of a config that is opened, with its key."""
    for index, written in enumerate(settings.data.path):
        if written != STDIN and not written.startswith(STORED_RUN):
            yield ("data", "path", index), written
    if settings.anchors is not None:
        yield ("anchors", "data"), settings.anchors.data
    scheme, _, path = settings.run.store.partition(":///")
    if settings.run.store_env is None and scheme == "sqlite" and path:
        yield ("run", "store"), path
    for section, runtimes in (("models", settings.models), ("embeddings", settings.embeddings)):
        for name, runtime in runtimes.items():
            for key in ("ca_file", "client_cert_file", "client_key_file"):
                written = getattr(runtime, key)
                if written is not None:
                    yield (section, name, key), written
            if runtime.provider == "local" and (Path(runtime.model).is_absolute() or runtime.model.startswith((".", "~"))):
                yield (section, name, "model"), runtime.model
