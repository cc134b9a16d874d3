"""Every check there is, one session each: `nox` runs the quick ones, `nox -s slow docs benchmarks` the rest, `.ci/run` all of them."""

from __future__ import annotations

import nox

nox.options.sessions = ["tests", "lint", "types", "contracts"]
nox.options.reuse_existing_virtualenvs = True


def _installed(session: nox.Session) -> None:
    session.install("-e", ".[dev]")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The quick tests; arguments go to pytest."""
    _installed(session)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """The slow tests only."""
    _installed(session)
    session.run("python", "-m", "pytest", "-m", "slow", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Quick tests with branch coverage, and what no test reaches."""
    _installed(session)
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session
def lint(session: nox.Session) -> None:
    """Style: ruff's rules and its format."""
    _installed(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types: mypy, strict."""
    _installed(session)
    session.run("mypy")


@nox.session
def contracts(session: nox.Session) -> None:
    """Floors: which room may import which."""
    _installed(session)
    session.run("lint-imports")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation with its generated catalogue; `nox -s docs -- serve` shows it while you write."""
    _installed(session)
    session.run("mkdocs", *(session.posargs or ["build", "--strict"]), "-f", "docs/mkdocs.yml")


@nox.session
def peers(session: nox.Session) -> None:
    """How our figures stand to those of other projects, file by file; `nox -s peers -- -v` prints each note."""
    _installed(session)
    session.run("python", "-m", "tests.peers", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Start-up and throughput; arguments go to benchmarks/rows.py (e.g. `-- 1000000`)."""
    _installed(session)
    session.run("python", "benchmarks/startup.py")
    session.run("python", "benchmarks/rows.py", *session.posargs)
