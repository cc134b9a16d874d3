"""What starting costs: CPU seconds and peak memory of whole processes, beside `python -c pass`, in alternating rounds.

    python benchmarks/startup.py [--rounds 11] [--assert]

Ratios are medians of the rounds' own ratios, so a machine that slows down for a while does not move them. `--assert` fails above the limits.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

SCRIPT: Final = Path(sys.executable).with_name("metrics")
METRICS: Final = (str(SCRIPT),) if SCRIPT.exists() else (sys.executable, "-m", "measurand")
YARDSTICK: Final = "python -c pass"
COMMANDS: Final = {
    YARDSTICK: (sys.executable, "-c", "pass"),
    "metrics --version": (*METRICS, "--version"),
    "metrics list": (*METRICS, "list"),
    "metrics show code_token_f1": (*METRICS, "show", "code_token_f1"),
}
# At most so many times the CPU of the yardstick, and so many MB.
LIMITS: Final = {"metrics --version": (6.0, 30.0), "metrics list": (9.0, 30.0)}


class Cost(NamedTuple):
    """One process: CPU seconds of user and system, peak resident megabytes."""

    cpu: float
    megabytes: float


def once(command: tuple[str, ...]) -> Cost:
    """Runs a command to its end. Raises `RuntimeError` when it fails."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measured(rounds: int) -> dict[str, list[Cost]]:
    """Every command once a round, after one round that only warms the caches."""
    costs: dict[str, list[Cost]] = {name: [] for name in COMMANDS}
    for turn in range(rounds + 1):
        for name, command in COMMANDS.items():
            cost = once(command)
            if turn:
                costs[name].append(cost)
    return costs


def main() -> int:
    """Prints the table; with `--assert`, 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--assert", dest="hold", action="store_true", help="exit 1 where a limit is broken")
    asked = parser.parse_args()
    costs = measured(asked.rounds)
    broken = []
    print(f"{'COMMAND':<28}{'CPU MS':>8}{'× PASS':>8}{'PEAK MB':>9}  LIMITS")
    for name, samples in costs.items():
        ratio = statistics.median(one.cpu / base.cpu for one, base in zip(samples, costs[YARDSTICK], strict=True))
        milliseconds = 1000 * statistics.median(one.cpu for one in samples)
        megabytes = statistics.median(one.megabytes for one in samples)
        most, room = LIMITS.get(name, (float("inf"), float("inf")))
        limits = f"{most:g} ×, {room:g} MB" if name in LIMITS else ""
        print(f"{name:<28}{milliseconds:>8.1f}{ratio:>8.2f}{megabytes:>9.1f}  {limits}".rstrip())
        if ratio > most or megabytes > room:
            broken.append(name)
    if broken:
        print(f"over the limit: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken and asked.hold else 0


if __name__ == "__main__":
    sys.exit(main())
