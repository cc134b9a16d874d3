"""Whether a model can be asked from here: its key, its files, its library, its plugin. Nothing is opened and nothing is sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve

from measurand.config import EmbeddingSettings, ModelSettings, Settings, read_variable
from measurand.config.runtimes import DEFAULT_BASE_URLS, EMBEDDING_PROVIDERS, MODEL_PROVIDERS, fits_header
from measurand.core.errors import ConfigError, Problem, did_you_mean

_FILES: Final = ("ca_file", "client_cert_file", "client_key_file")


def reachable(settings: Settings, key: tuple[str, str], model: ModelSettings | EmbeddingSettings, environ: Mapping[str, str]) -> Iterator[Problem]:
    """Every reason why a model of the config cannot be asked. `key`: ("models", NAME) or ("embeddings", NAME)."""
    yield from _variables(settings, key, model, environ)
    unreadable = list(_files(settings, key, model))
    unknown = list(_provider(key, settings, model))
    yield from (*unreadable, *unknown)
    if not unreadable and model.provider in _built_in(model):
        yield from _opened(settings, key, model, environ)


def _variables(settings: Settings, key: tuple[str, str], model: ModelSettings | EmbeddingSettings, environ: Mapping[str, str]) -> Iterator[Problem]:
    in_header = model.provider in _built_in(model)  # a plugin may send its key in other ways
    if model.api_key_env is not None:
        yield from _variable(model.api_key_env, "api_key_env", settings.where((*key, "api_key_env")), environ, in_header=in_header)
    elif model.base_url is None and model.provider in DEFAULT_BASE_URLS and not model.headers_env:
        message = f"{DEFAULT_BASE_URLS[model.provider]} answers only with a key, and no variable is named that holds one"
        yield Problem("missing_key", settings.where(key), message, f'write api_key_env = "{model.provider.upper()}_API_KEY"')
    for header, variable in model.headers_env.items():
        yield from _variable(variable, f"headers_env, {header}", settings.where((*key, "headers_env", header)), environ, in_header=in_header)


def _variable(name: str, written: str, where: str, environ: Mapping[str, str], *, in_header: bool) -> Iterator[Problem]:
    try:
        value = (read_variable(name, environ) or "").strip()
        if not value:
            hint = f"set {name}, or {name}_FILE to the path of a file that holds it"
            yield Problem("missing_variable", where, f"the variable {name} ({written}) is not set", hint)
        elif in_header and not fits_header(value):
            message = f"the variable {name} ({written}) holds what no HTTP header can: line breaks, or letters beyond ASCII"
            yield Problem("unusable_variable", where, message, f"set {name} to the key and nothing else")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        yield Problem("unreadable_variable", where, f"the file that {name}_FILE names cannot be read: {reason}", "name a text file that you may read")


def _files(settings: Settings, key: tuple[str, str], model: ModelSettings | EmbeddingSettings) -> Iterator[Problem]:
    for name in _FILES:
        written = getattr(model, name)
        if written is None:
            continue
        path = settings.resolve(written)
        where = settings.where((*key, name))
        if not path.is_file():
            yield Problem("no_such_file", where, f"there is no file {written!r}", "a PEM file; relative paths are relative to the config")
        elif not os.access(path, os.R_OK):
            yield Problem("unreadable_file", where, f"{written!r} may not be read by this user", "its permissions allow it to others only")


def _opened(settings: Settings, key: tuple[str, str], model: ModelSettings | EmbeddingSettings, environ: Mapping[str, str]) -> Iterator[Problem]:
    """What opening it finds: certificates that are none, a local encoder that is not installed. No socket is opened and no weights are loaded."""
    from measurand.runtime.embedding import open_embedding
    from measurand.runtime.model import open_model

    try:
        if isinstance(model, ModelSettings):
            open_model(key[1], model, environ=environ, resolve=settings.resolve)
        else:
            open_embedding(key[1], model, environ=environ, resolve=settings.resolve)
    except ConfigError as error:
        for problem in error.problems:
            yield evolve(problem, where=settings.where((*key, problem.where.rpartition(" ")[2])))


def _built_in(model: ModelSettings | EmbeddingSettings) -> tuple[str, ...]:
    return MODEL_PROVIDERS if isinstance(model, ModelSettings) else EMBEDDING_PROVIDERS


def _provider(key: tuple[str, str], settings: Settings, model: ModelSettings | EmbeddingSettings) -> Iterator[Problem]:
    """A provider that nobody brings. A plugin's is not loaded: its code runs when a run does."""
    known = _built_in(model)
    if model.provider in known:
        return
    from importlib.metadata import entry_points

    from measurand.runtime.providers import GROUP

    plugins = sorted({one.name for one in entry_points(group=GROUP)})
    if model.provider not in plugins:
        every = [*known, *plugins]
        hint = did_you_mean(model.provider, every) or f"there are: {', '.join(every)}"
        yield Problem("unknown_provider", settings.where((*key, "provider")), f"no provider is called '{model.provider}', and no plugin brings it", hint)
