"""What all tests share: a known environment, and the decision whether a PostgreSQL server can be had."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from tests.servers import local_model

# In CI the same examples every time: a submission is judged by what it changed, not by what chance finds.
settings.register_profile("quick", max_examples=50, deadline=None, derandomize=os.environ.get("CI") == "true")
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

POSTGRES_REQUIRED = "METRICS_TEST_POSTGRES"
_OURS = ("METRICS_ALLOW_HOSTS", "METRICS_ALLOW_KEYS", "METRICS_CONFINE", "METRICS_NO_PLUGINS")
_TERMINALS = ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONWARNINGS")


def postgres_programs() -> Path | None:
    """The folder that holds `initdb` and `postgres`; None where there is none."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def _postgres_required() -> bool:
    return os.environ.get(POSTGRES_REQUIRED) == "1" or os.environ.get("CI") == "true"


def pytest_configure(config: pytest.Config) -> None:
    """Takes away what the caller's shell may have set: no test means to depend on it."""
    for name in (*_OURS, *_TERMINALS):
        os.environ.pop(name, None)
    os.environ["COLUMNS"] = "80"


def pytest_report_header(config: pytest.Config) -> str:
    """Says in the first lines what is left out, and how to have it."""
    return f"{_postgres_header()}\n{local_model.header()}"


def _postgres_header() -> str:
    found = postgres_programs()
    if found:
        return f"PostgreSQL: {found}"
    if _postgres_required():
        return "PostgreSQL: required and not found; its tests fail"
    return f"PostgreSQL: not found, tests marked 'postgres' are left out; {POSTGRES_REQUIRED}=1 requires them"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests that need a server that cannot be had, but where one is required."""
    absent = set() if postgres_programs() or _postgres_required() else {"postgres"}
    absent |= set() if local_model.wanted() else {"local_model"}
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in absent)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
