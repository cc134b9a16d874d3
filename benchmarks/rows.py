"""Rows a second and peak memory of a whole run, from JSON Lines to stored results, beside a plain loop over the bare functions.

    python benchmarks/rows.py [ROWS …]        default: 100 000 and 1 000 000
    python benchmarks/rows.py --rounds 3 --assert 100000 1000000

Both sides read the same file and compute the same three metrics in processes of their own, alternating; figures are CPU seconds of the whole process,
start-up included, and medians over the rounds. `--assert` fails below 15 000 rows/s, above 150 MB, or where memory grows with rows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

METRICS: Final = ("code_exact_match", "code_token_f1", "code_levenshtein")
FLOOR: Final = 15_000  # rows a second
ROOM: Final = 150.0  # megabytes
GROWTH: Final = 1.25  # peak memory of the most rows over that of the fewest
WORDS: Final = (
    "the of and to in is was for on as with by at from it an be this which or are not have has had but were one all also been after first time new city "
    "river war king state century world name part place house north south born died wrote built found called known near over under between during "
    "Paris London Rome Vienna Einstein Mozart Darwin 1969 1815 1492 3.5 1,000 population kingdom music science theory battle company founded"
).split()

LOOP: Final = """
import json, sys
from measurand import registry
functions = [registry[name].function for name in sys.argv[2:]]
totals = [0.0] * len(functions)
rows = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        row = json.loads(line)
        rows += 1
        for index, function in enumerate(functions):
            totals[index] += function(row["output"], row["expected"])
print(json.dumps([total / rows for total in totals]))
"""


class Cost(NamedTuple):
    """One process: CPU and wall seconds, peak resident megabytes, and what it printed."""

    cpu: float
    wall: float
    megabytes: float
    printed: str


def write_rows(path: Path, rows: int) -> None:
    """Questions with short answers; a third of them right, a third partly right."""
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as target:
        for number in range(rows):
            expected = " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
            output = (expected, f"It was {expected}.", " ".join(chance.choices(WORDS, k=chance.randint(1, 12))))[number % 3]
            row = {"id": f"q{number}", "input": f"Question {number}: " + " ".join(chance.choices(WORDS, k=9)), "output": output, "expected": expected}
            target.write(json.dumps(row) + "\n")


def once(command: list[str], folder: Path) -> Cost:
    """Runs a command to its end. Raises `RuntimeError` with what it said when it fails."""
    printed, said = folder / "stdout", folder / "stderr"
    with printed.open("wb") as out, said.open("wb") as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said.read_text()[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, printed.read_text())


def pair(data: Path, folder: Path) -> tuple[Cost, Cost]:
    """The run and the loop, one after the other. Raises `RuntimeError` where their means differ."""
    chosen = [part for name in METRICS for part in ("--metric", name)]
    store = folder / "store.db"
    command = [sys.executable, "-m", "measurand", "run", "--data", str(data), *chosen, "--set", f'run.store="sqlite:///{store}"', "--no-progress", "--json"]
    run = once(command, folder)
    for leftover in folder.glob("store.db*"):
        leftover.unlink()
    loop = once([sys.executable, "-c", LOOP, str(data), *METRICS], folder)
    means = [one["mean"] for one in json.loads(run.printed)["metrics"]]
    for name, ours, bare in zip(METRICS, means, json.loads(loop.printed), strict=True):
        if abs(ours - bare) > 1e-9:
            raise RuntimeError(f"{name}: the run says {ours}, the loop {bare}")
    return run, loop


def main() -> int:
    """Prints the table; with `--assert`, 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--assert", dest="hold", action="store_true", help="exit 1 where a limit is broken")
    asked = parser.parse_args()
    peaks, broken = [], []
    print(f"{'ROWS':>9}{'RUN ROWS/S':>12}{'LOOP ROWS/S':>13}{'RUN / LOOP':>12}{'µS A ROW':>10}{'RUN MB':>8}{'LOOP MB':>9}{'WALL S':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in asked.rows:
            data = folder / "rows.jsonl"
            write_rows(data, rows)
            pairs = [pair(data, folder) for _ in range(asked.rounds)]
            run, loop = (statistics.median(one[side].cpu for one in pairs) for side in (0, 1))
            ratio = statistics.median(one[0].cpu / one[1].cpu for one in pairs)
            peak, beside = (statistics.median(one[side].megabytes for one in pairs) for side in (0, 1))
            wall = statistics.median(one[0].wall for one in pairs)
            peaks.append(peak)
            print(f"{rows:>9}{rows / run:>12,.0f}{rows / loop:>13,.0f}{ratio:>12.2f}{1e6 * run / rows:>10.1f}{peak:>8.0f}{beside:>9.0f}{wall:>8.1f}")
            broken += [f"{rows} rows: {rows / run:,.0f} rows/s, below {FLOOR:,}"] if rows / run < FLOOR else []
            broken += [f"{rows} rows: {peak:.0f} MB, above {ROOM:.0f}"] if peak > ROOM else []
    if max(peaks) > GROWTH * min(peaks):
        broken.append(f"memory grows with rows: {min(peaks):.0f} to {max(peaks):.0f} MB")
    for sentence in broken:
        print(sentence, file=sys.stderr)
    return 1 if broken and asked.hold else 0


if __name__ == "__main__":
    sys.exit(main())
