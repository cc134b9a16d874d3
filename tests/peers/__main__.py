"""`python -m tests.peers [-v] [FOLDER]`: how our figures stand to those of other projects, file by file. Exit code 1 when something is unexplained."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .compare import CASES, KINDS, Verdict, by_file, compared  # noqa: TID252  # tests are imported by path, there is no package to name


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table, with `-v` each deviation and what is not covered with its note; what is unexplained always."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CASES, help="other case files of the same form (default: those of this repository)")
    parser.add_argument("-v", "--verbose", action="store_true", help="each deviation and what is not covered, with its note")
    asked = parser.parse_args(arguments)
    verdicts = compared(asked.folder)
    print("\n".join(table(verdicts)))
    for kind in KINDS[1:] if asked.verbose else KINDS[3:]:
        print("".join(f"\n{line}" for line in notes([one for one in verdicts if one.kind == kind])), end="")
    if asked.verbose:
        print("".join(f"\n{line}" for line in beside(verdicts)), end="")
    print()
    return int(any(one.kind == "unexplained" for one in verdicts))


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One line a file, and the total."""
    rows = [(file, counts) for file, counts in by_file(verdicts)]
    rows.append(("total", {kind: sum(counts[kind] for _, counts in rows) for kind in KINDS}))
    yield f"{'file':<22}" + "".join(f"{kind:>13}" for kind in KINDS)
    for file, counts in rows:
        yield f"{file:<22}" + "".join(f"{counts[kind] or '–':>13}" for kind in KINDS)


def notes(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The cases that share a note, above it."""
    for kind, why in dict.fromkeys((one.kind, one.why) for one in verdicts):
        for one in verdicts:
            if (one.kind, one.why) == (kind, why):
                values = "" if one.ours is None else f"  ours {one.ours}, theirs {one.theirs}"
                yield f"{kind}: {one.case.id}{values}"
        yield f"    {why}"


def beside(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Figures that stand beside the compared ones of a case and are not covered."""
    told = [(why, one.case.file, one.case.metric, name) for one in verdicts for name, why in one.aside]
    for why, file, metric in dict.fromkeys(one[:3] for one in told):
        names = dict.fromkeys(one[3] for one in told if one[:3] == (why, file, metric))
        yield f"not covered: {file}/{metric}: {', '.join(names)}"
        yield f"    {why}"


if __name__ == "__main__":
    sys.exit(main())
