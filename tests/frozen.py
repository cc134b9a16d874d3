"""What golden cases gave under which version of their metric, so that a number cannot move while its version stays.

`python -m tests.frozen` freezes the golden cases as they are. It refuses a case whose outcome changed while the metric's version did not: whatever changes
a number bumps the version, because results of one version are compared with each other.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Final

import tomli

from measurand import registry

GOLDEN: Final = Path(__file__).parent / "golden"
FROZEN: Final = GOLDEN / "frozen.json"


def cases_now() -> dict[str, dict[str, Any]]:
    """Metric → its version, and the outcome of each golden case by a hash of what goes in."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(GOLDEN.glob("*.toml")):
        cases = tomli.loads(path.read_text(encoding="utf-8"))["case"]
        found[path.stem] = {"version": registry[path.stem].version, "cases": dict(sorted((_given(case), _outcome(case)) for case in cases))}
    return found


def _given(case: dict[str, Any]) -> str:
    given = [case["fields"], case.get("options", {}), *([case["replies"]] if "replies" in case else [])]
    text = json.dumps(given, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _outcome(case: dict[str, Any]) -> Any:
    return case["score"] if "score" in case else case["code"]


def moved(frozen: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]]) -> list[str]:
    """A sentence for each case whose outcome is another one under the same version."""
    return [
        f"{name}: a case gave {before[given]!r} and now gives {here[given]!r} under version {now[name]['version']}; give the metric a new version"
        for name in frozen.keys() & now.keys()
        if frozen[name]["version"] == now[name]["version"]
        for before, here in [(frozen[name]["cases"], now[name]["cases"])]
        for given in sorted(before.keys() & here.keys())
        if before[given] != here[given]
    ]


def main() -> int:
    """Freezes the cases, or says why not."""
    now = cases_now()
    problems = moved(json.loads(FROZEN.read_text(encoding="utf-8")), now) if FROZEN.exists() else []
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    lines = [f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in now.items()]
    FROZEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
