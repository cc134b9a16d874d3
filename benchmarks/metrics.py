"""Rows a second of single metrics: the bare function, a whole stored run, and what others reach.

    python benchmarks/metrics.py [--rows 20000] [METRIC …]

CPU seconds on one core. A run counts everything: reading JSON Lines twice, checking, scoring, storing, summarising, and starting the process. ROUGE-L is
also timed against rouge-score in the same process on the same rows, and the values are compared. The figures of other libraries were measured once, on
another day and a machine of the same size (2 cores, Python 3.11): they say the order of magnitude, not the third digit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from measurand import registry
from measurand.core.coerce import typed_fields

WORDS: Final = (
    "the of and to in is was for on as with by at from it an be this which or are not have has had but were one all also been after first time new city "
    "river war king state century world name part place house north south born died wrote built found called known near over under between during"
).split()
TOOLS: Final = ("search", "geocode", "forecast", "book", "cancel", "refund")
ELSEWHERE: Final = {
    "code_token_f1": "SQuAD script 80 000, torchmetrics 9 500, Inspect 8 800",
    "code_rouge_l": "rouge-score 38 000, ragas 6 000",
    "code_tool_call_f1": "ragas 6 700 through score()",
    "code_ndcg": "ragas 18 900 (id-based precision)",
    "code_pii_leak": "not measured",
}


def text(random_: random.Random, words: int) -> str:
    """So many words of English."""
    return " ".join(random_.choices(WORDS, k=words))


def answers(random_: random.Random, number: int) -> dict[str, Any]:
    """A short answer and its reference."""
    return {"id": f"r{number}", "output": text(random_, 8), "expected": text(random_, 6)}


def calls(random_: random.Random, number: int) -> dict[str, Any]:
    """Three calls made, three expected."""
    made = [{"name": random_.choice(TOOLS), "arguments": {"place": text(random_, 1), "days": random_.randint(1, 3)}} for _ in range(3)]
    return {"id": f"r{number}", "tool_calls": made, "expected_tool_calls": [*made[:2], {"name": "search", "arguments": {"place": "x"}}]}


def ranking(random_: random.Random, number: int) -> dict[str, Any]:
    """Ten retrieved ids, three relevant ones."""
    ids = [f"d{one}" for one in random_.sample(range(100), 12)]
    return {"id": f"r{number}", "contexts": [{"id": one} for one in ids[:10]], "reference_contexts": [{"id": one} for one in ids[7:10]]}


def letters(random_: random.Random, number: int) -> dict[str, Any]:
    """Three hundred words, in every tenth row a card number."""
    secret = " card 4111 1111 1111 1111" if number % 10 == 0 else ""
    return {"id": f"r{number}", "output": text(random_, 300) + secret}


ROWS_OF: Final[dict[str, Callable[[random.Random, int], dict[str, Any]]]] = {
    "code_token_f1": answers,
    "code_rouge_l": answers,
    "code_tool_call_f1": calls,
    "code_ndcg": ranking,
    "code_pii_leak": letters,
}


def bare(name: str, rows: list[dict[str, Any]]) -> float:
    """CPU seconds of the bare function over fields that are already typed."""
    metric = registry[name]
    fields = [typed_fields(row) for row in rows]
    arguments = [[row.get(one.field) for one in metric.parameters] for row in fields]
    began = time.process_time()
    for row in arguments:
        metric.function(*row)
    return time.process_time() - began


def stored(name: str, rows: list[dict[str, Any]]) -> float:
    """CPU seconds of `metrics run` as a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        command = [sys.executable, "-m", "measurand", "run", "--data", "rows.jsonl", "--metric", name, "--no-progress"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"metrics run --metric {name} ended with {process.returncode}")
        return usage.ru_utime + usage.ru_stime


def beside_rouge_score(rows: list[dict[str, Any]]) -> Iterator[str]:
    """ROUGE-L here and in rouge-score, in turn on the same rows; and whether every value is equal."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])
    ours = registry["code_rouge_l"].function
    began = time.process_time()
    here = [ours(row["output"], row["expected"]) for row in rows]
    middle = time.process_time()
    there = [scorer.score(row["expected"], row["output"])["rougeL"].fmeasure for row in rows]
    ended = time.process_time()
    equal = sum(abs(a - b) < 1e-12 for a, b in zip(here, there, strict=True))
    yield f"ROUGE-L beside rouge-score: {(ended - middle) / (middle - began):.1f} × as fast, {equal} of {len(rows)} values equal"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", nargs="*", choices=[*ROWS_OF, []], metavar="METRIC")
    parser.add_argument("--rows", type=int, default=20_000)
    asked = parser.parse_args()
    print(f"{'METRIC':<20}{'BARE ROWS/S':>13}{'RUN ROWS/S':>12}  ELSEWHERE, ROWS/S")
    for name in asked.metrics or ROWS_OF:
        random_ = random.Random(7)  # rows, not secrets
        rows = [ROWS_OF[name](random_, number) for number in range(asked.rows)]
        print(f"{name:<20}{asked.rows / bare(name, rows):>13,.0f}{asked.rows / stored(name, rows):>12,.0f}  {ELSEWHERE[name]}")
        if name == "code_rouge_l":
            for line in beside_rouge_score(rows):
                print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
