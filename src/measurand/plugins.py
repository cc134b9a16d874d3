"""Plugins: installed packages that bring metrics, found without importing them and imported only when their namespace is named."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from attrs import frozen

from measurand.core.errors import DeclarationError
from measurand.core.metric import ADAPTERS, Metric, built_in

GROUP: Final = "measurand.metrics"


@frozen
class Plugin:
    """An entry point of the group: its name is the namespace, its target the module (and attribute) that holds the metrics."""

    namespace: str
    target: str


@frozen
class BrokenPlugin:
    """A plugin that could not be loaded, and why."""

    namespace: str
    target: str
    reason: str


def plugins_allowed() -> bool:
    """False where the operator set METRICS_NO_PLUGINS."""
    return os.environ.get("METRICS_NO_PLUGINS", "") in ("", "0")


def installed_plugins(paths: list[str] | None = None) -> Mapping[str, Plugin]:
    """The plugins of every installed distribution, by namespace; the first on the path wins.

    Read from `entry_points.txt` of the dist-info folders: `importlib.metadata` would cost as much start-up as everything else together.
    """
    found: dict[str, Plugin] = {}
    for folder in paths if paths is not None else sys.path:
        for text in _entry_points(folder or "."):
            for plugin in _of_group(text):
                found.setdefault(plugin.namespace, plugin)
    return found


def _entry_points(folder: str) -> Iterator[str]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return
    for name in sorted(names):
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                yield file.read()
        except (OSError, UnicodeDecodeError):
            continue


def _of_group(text: str) -> Iterator[Plugin]:
    if GROUP not in text:
        return
    section = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            yield Plugin(name.strip(), target.partition("[")[0].strip())


def load_plugin(plugin: Plugin) -> list[Metric[Any]]:
    """Imports a plugin and gives its metrics. Raises whatever it raises, and `DeclarationError` for a metric outside its namespace."""
    from measurand.core.opaque import opaque

    if plugin.namespace in ADAPTERS:
        raise DeclarationError(f"the namespace {plugin.namespace} is kept for measurand's own adapter; give the entry point another name")
    module, _, attribute = plugin.target.partition(":")
    thing: Any = import_module(module)
    for part in attribute.split(".") if attribute else ():
        thing = getattr(thing, part)
    metrics = [opaque(one) if not isinstance(one, Metric) else one for one in _metrics_in(thing)]
    if not metrics:
        raise DeclarationError(f"{plugin.target} holds no metrics; declare them with @metric, or as objects with name, requires and evaluate")
    for one in metrics:
        if not one.name.startswith(f"{plugin.namespace}."):
            raise DeclarationError(f"{one.name} lies outside the plugin's namespace; call it {plugin.namespace}.{one.name.rpartition('.')[2]}")
    return metrics


def _metrics_in(thing: Any) -> list[Any]:
    from measurand.core.opaque import OpaqueMetric

    if isinstance(thing, Metric):
        return [thing]
    if isinstance(thing, type) and isinstance(getattr(thing, "name", None), str):
        return [thing()]
    if isinstance(thing, OpaqueMetric):
        return [thing]
    if isinstance(thing, (list, tuple)):
        return [one for part in thing for one in _metrics_in(part)]
    if hasattr(thing, "__path__") or hasattr(thing, "__spec__"):
        return [one for one in vars(thing).values() if _is_declared(one) or (not isinstance(one, (type, Metric)) and isinstance(one, OpaqueMetric))]
    if callable(thing):
        return _metrics_in(thing())
    return []


def _is_declared(thing: Any) -> bool:
    """A metric of the plugin's; not one of ours that it imports to build on."""
    return isinstance(thing, Metric) and not built_in(thing.origin[0])
