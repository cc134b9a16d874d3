"""What a judged run costs beside the model: wall time over the ideal, CPU a call, peak memory. `python benchmarks/judged.py [--latency-ms 200]`

A mock server answers every call after a fixed time. Ideal = calls × latency / requests in flight. Beside `metrics run`, in the same rounds, a bare asyncio
client that makes as many calls and reads nothing shows what the machine itself allows. These machines are noisy: read the ratios.
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
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
METRICS = ("llm_faithfulness", "llm_answer_relevance", "llm_context_precision", "llm_context_recall")
SUBJECTS = ("The warranty", "A refund", "The premium plan", "Roadside help", "The annual fee", "A deposit", "The export job", "Our night train")
SAYS = ("covers accidental damage for two years", "needs a written request within thirty days", "is limited to five thousand calls a minute")
TAILS = ("as the help page explains", "although exceptions exist", "for most customers", "since the last update", "unless stated otherwise")


def sentence(chance: random.Random) -> str:
    """One sentence of a passage."""
    return f"{chance.choice(SUBJECTS)} {chance.choice(SAYS)} {chance.choice(TAILS)}."


def rows(count: int) -> list[dict[str, Any]]:
    """Questions with an answer of four sentences, four passages of about 80 words and an expected answer of two sentences."""
    chance = random.Random(7)
    made = []
    for number in range(count):
        passages = [" ".join(sentence(chance) for _ in range(7)) for _ in range(4)]
        answer = " ".join(passage.split(". ")[0].rstrip(".") + "." for passage in passages)
        made.append(
            {
                "id": f"r{number}",
                "input": f"Case {number}: what is covered?",
                "output": answer,
                "contexts": passages,
                "expected": " ".join(answer.split(". ")[:2]) + ".",
            }
        )
    return made


def get(root: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """A control request of the mock, as JSON."""
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(root + path, data=data), timeout=10) as reply:  # noqa: S310  # the mock's own address
        return json.load(reply)


def measured(command: list[str], folder: Path) -> tuple[float, float, float, int]:
    """(wall s, CPU s, peak MB, exit code) of a process."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=(folder / "out").open("w"), stderr=(folder / "err").open("w"), env={**os.environ, "JUDGE_KEY": "k"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode


BARE = """
import asyncio, json, sys
host, port, calls, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
body = json.dumps({"model": "mock", "messages": [{"role": "user", "content": "x" * 2000}]}).encode()
head = f"POST /v1/chat/completions HTTP/1.1\\r\\nHost: {host}\\r\\nContent-Type: application/json\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n".encode()
async def worker(left):
    reader, writer = await asyncio.open_connection(host, port)
    while left:
        left.pop()
        writer.write(head + body)
        reply = await reader.readuntil(b"\\r\\n\\r\\n")
        length = next(int(line.split(b":")[1]) for line in reply.split(b"\\r\\n") if line.lower().startswith(b"content-length"))
        await reader.readexactly(length)
async def main():
    left = [None] * calls
    await asyncio.gather(*(worker(left) for _ in range(at_once)))
asyncio.run(main())
"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=200.0)
    parser.add_argument("--rows", type=int, default=100, help="rows for each 20 requests in flight")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--in-flight", type=int, nargs="*", default=[20, 64])
    parser.add_argument("--ask", choices=["separately", "together"], default="separately")
    given = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.mock", "--set", f"latency_ms={given.latency_ms}"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    base_url = server.stdout.readline().strip()
    root = base_url.removesuffix("/v1")
    print(
        f"{'in flight':>9}  {'who':<12} {'calls':>6}  {'wall / ideal':>12}  {'span / ideal':>12}  {'CPU ms/call':>11}  {'peak MB':>7}  {'tokens in/row':>13}  {'out/row':>7}"
    )
    try:
        for _ in range(given.rounds):
            for at_once in given.in_flight:
                count = given.rows * max(1, round(at_once / 20))
                report(one_run(root, base_url, count, at_once, given.ask), at_once, "metrics run", given.latency_ms, count)
                report(bare(root, count * 5, at_once), at_once, "bare client", given.latency_ms, count)
    finally:
        server.terminate()
        server.wait()


def one_run(root: str, base_url: str, count: int, at_once: int, ask: str) -> dict[str, Any]:
    """One `metrics run` of the four metrics, and what the mock saw of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(count)))
        (folder / "metrics.toml").write_text(
            f'[data]\npath = "rows.jsonl"\n[models.judge]\nprovider = "openai"\nmodel = "mock"\nbase_url = "{base_url}"\napi_key_env = "JUDGE_KEY"\n'
            f'max_concurrency = {at_once}\n[run]\njudge = "judge"\nask = "{ask}"\nmetrics = {json.dumps(METRICS)}\n'
        )
        get(root, "/__reset", {})
        wall, cpu, peak, code = measured([os.environ.get("BENCHMARK_PYTHON", sys.executable), "-m", "measurand", "run", "--no-progress", "--json"], folder)
        stats = get(root, "/__stats")
        if code != 0:
            print((folder / "out").read_text()[:2000], (folder / "err").read_text()[-2000:])
        told = json.loads((folder / "out").read_text())
        return {"wall": wall, "inner": told["elapsed_s"], "cpu": cpu, "peak": peak, "stats": stats}


def bare(root: str, calls: int, at_once: int) -> dict[str, Any]:
    """As many calls by a client that reads nothing."""
    host, _, port = root.removeprefix("http://").partition(":")
    get(root, "/__reset", {})
    with tempfile.TemporaryDirectory() as name:
        wall, cpu, peak, _ = measured([sys.executable, "-c", BARE, host, port, str(calls), str(at_once)], Path(name))
    return {"wall": wall, "inner": wall, "cpu": cpu, "peak": peak, "stats": get(root, "/__stats")}


def report(found: dict[str, Any], at_once: int, who: str, latency_ms: float, count: int) -> None:
    """One line of the table."""
    stats = found["stats"]
    calls = sum(stats["calls"].values())
    ideal = calls * latency_ms / 1000 / at_once
    print(
        f"{at_once:>9}  {who:<12} {calls:>6}  {found['wall'] / ideal:>12.2f}  {stats.get('span_s', 0) / ideal:>12.2f}  {1000 * found['cpu'] / calls:>11.2f}"
        f"  {found['peak']:>7.0f}  {stats.get('prompt_tokens', 0) / count:>13.0f}  {stats.get('completion_tokens', 0) / count:>7.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
