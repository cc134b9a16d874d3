"""Providers from installed packages: entry points of the group `measurand.providers`, whose name is the provider's.

An entry point is a factory(settings) → an object with `async complete(request: ModelRequest) -> Completion`, or `async embed(texts)` for embeddings,
and perhaps `async close()`. Limits, retries, deadline, record and budget are ours around it. It raises `RateLimitedError`, `ProviderError`,
`CellTimeoutError`, `OSError` for what may be tried again (`details={"retry_after": seconds}` says when), other `CellError`s for what may not, and
`ModelStoppedError` when it need not be asked again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from attrs import evolve

from measurand.config.bounds import NO_PLUGINS, Bounds
from measurand.config.runtimes import RuntimeTable
from measurand.core.errors import CellError, CellTimeoutError, ConfigError, ModelStoppedError, Problem, ProviderError, RateLimitedError, did_you_mean
from measurand.core.exchange import Completion, ModelRequest
from measurand.runtime.faults import HungError, ThrottledError, UnavailableError
from measurand.runtime.keys import Keys
from measurand.runtime.retry import Line

GROUP: Final = "measurand.providers"
T = TypeVar("T")


def load_provider(settings: RuntimeTable, *, section: str, environ: Mapping[str, str], built_in: tuple[str, ...], method: str) -> Any:
    """Makes what a plugin's factory makes of the settings. `method`: what it must have, "complete" or "embed".

    Raises `ConfigError`: no such provider, plugins not allowed, a factory that fails or gives what has no such method.
    """
    from importlib.metadata import entry_points

    where = f"[{section}] provider"
    if Bounds.from_environ(environ).no_plugins:
        raise ConfigError(
            Problem("not_allowed", where, f"{settings.provider!r} is a plugin's provider", f"{NO_PLUGINS} is set; built in: {', '.join(built_in)}")
        )
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    entry = found.get(settings.provider)
    if entry is None:
        known = (*built_in, *sorted(found))
        hint = did_you_mean(settings.provider, known) or f"known: {', '.join(known)}"
        raise ConfigError(Problem("unknown_provider", where, f"there is no provider {settings.provider!r}", hint))
    try:
        made = entry.load()(settings)
    except Exception as error:  # noqa: BLE001  # whatever a plugin does is a finding about it
        reason = f"the plugin {entry.value} fails: {type(error).__name__}"
        raise ConfigError(Problem("broken_plugin", where, reason, "see its documentation for the keys it needs")) from None
    if not callable(getattr(made, method, None)):
        raise ConfigError(Problem("broken_plugin", where, f"what the plugin {entry.value} makes has no method {method}", "bind it elsewhere, or update it"))
    return made


class PluginChat:
    """A model behind a plugin."""

    def __init__(self, made: Any, line: Line, keys: Keys) -> None:
        self.line = line
        self._made = made
        self._keys = keys

    async def complete(self, request: ModelRequest, order: tuple[int, int]) -> Completion:
        """Asks the plugin within our limits. Raises `CellError`s and `ModelStoppedError`."""
        began = time.perf_counter()

        async def attempt(seconds: float) -> Completion:
            nonlocal began
            began = time.perf_counter()
            return await plugin_attempt(lambda: self._made.complete(request), seconds, self._keys)

        given = await self.line.call(attempt, order=order)
        if not isinstance(given, Completion):
            raise self.line.stop(f"[{self.line.section}]: the plugin answers with {type(given).__name__}, not with a Completion")
        return given if given.latency_s else evolve(given, latency_s=time.perf_counter() - began)

    async def close(self) -> None:
        """Closes what the plugin opened."""
        close = getattr(self._made, "close", None)
        if close is not None:
            await close()


async def plugin_attempt(ask: Callable[[], Awaitable[T]], seconds: float, keys: Keys) -> T:
    """Awaits a plugin's answer and says of its failure whether another attempt makes sense."""
    try:
        async with asyncio.timeout(seconds):
            return await ask()
    except (CellTimeoutError, TimeoutError):
        raise HungError(f"the plugin gave no answer within {seconds:g} s") from None
    except RateLimitedError as error:
        raise ThrottledError(keys.hide(error.message), _told(error.details)) from None
    except (ProviderError, OSError) as error:
        raise UnavailableError(keys.hide(str(error)) or type(error).__name__, _told(getattr(error, "details", None))) from None
    except CellError as error:
        raise type(error)(keys.hide(error.message), error.field, error.details) from None  # an answer, and the plugin's own word for it
    except ModelStoppedError as error:
        raise ModelStoppedError(keys.hide(str(error))) from None
    except Exception as error:  # noqa: BLE001  # whatever a plugin does wrong is one call's error
        raise ProviderError(f"the plugin fails: {keys.hide(f'{type(error).__name__}: {error}')}") from None


def _told(details: Any) -> float | None:
    told = details.get("retry_after") if isinstance(details, Mapping) else None
    return float(told) if isinstance(told, (int, float)) and told > 0 else None
