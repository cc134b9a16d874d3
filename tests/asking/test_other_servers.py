"""Whole runs against other servers than the plain one: typed questions, HTTPS with a private CA and a client certificate, a proxy on the way."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.asking.project import Project, rag_row
from tests.servers.proxy import ProxyServer
from tests.servers.tls import NAME, TlsServer

ANSWERS = {
    "noul": {"yes": 0.18, "no": 0.82},
    "score": {"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4},
    "choice": {"warm": 0.5, "cold": 0.5},
}


class Typed(BaseHTTPRequestHandler):
    """A server of typed questions."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append(body)
        answers = {name: {"probabilities": ANSWERS[question["type"]]} for name, question in body["questions"].items()}
        reply = json.dumps({"answers": answers, "model": "jev-1", "usage": {"input_tokens": 50, "output_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def typed() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Server", (Typed,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_typed_questions(project: Project, typed: tuple[str, list[dict[str, Any]]]) -> None:
    url, asked = typed
    row = {"id": "a", "input": "Refund order 4471 and notify the customer.", "output": "Notified customer; refund pending approval.", "contexts": ["x", "y"]}
    project.rows([{**row, "expected": "Refund issued and customer notified."}])
    question = (
        '[[questions]]\nname = "acme.tone"\nask = "What is the tone of `output`?"\ntype = "choice"\n'
        'options = { warm = { means = "friendly", score = 1.0 }, cold = { means = "curt", score = 0.0 } }\n'
    )
    typed_judge = f'[models.typed]\nprovider = "systemone"\nmodel = "jev"\nbase_url = "{url}"\n'
    metrics = ("llm_agent_goal", "llm_task_completion", "llm_context_precision", "acme.tone")
    project.config(metrics=metrics, rest=question + typed_judge)
    path = project.folder / "metrics.toml"
    path.write_text(path.read_text().replace('judge = "judge"', 'judge = "typed"'))
    summary = project.run()
    goal, completion, precision, tone = project.results()
    assert (goal["score"], goal["label"], goal["passed"]) == (0.18, "18% yes", False)
    assert goal["confidence"] == pytest.approx(0.64)
    assert completion["score"] == pytest.approx((0.2 + 0.6 + 1.2) / 3)
    assert precision["score"] == 0
    assert tone["score"] == 0.5
    assert all("|p:typed|" in one["signature"] for one in summary["metrics"])
    assert asked[0]["state"]["input"] == row["input"]
    assert project.mock.log == []


def test_claims_cannot_be_had_from_typed_questions(project: Project, typed: tuple[str, list[dict[str, Any]]]) -> None:
    url, asked = typed
    project.config(metrics=("llm_faithfulness",), rest=f'[models.typed]\nprovider = "systemone"\nmodel = "jev"\nbase_url = "{url}"\n')
    path = project.folder / "metrics.toml"
    path.write_text(path.read_text().replace('judge = "judge"', 'judge = "typed"'))
    ran = project("run")
    assert ran.code == 2
    assert "systemone" in ran.err
    assert asked == []


def test_behind_a_proxy_with_a_private_ca_and_a_client_certificate(project: Project, tmp_path: Path) -> None:
    (tmp_path / "certificates").mkdir()
    with TlsServer(tmp_path / "certificates") as server, ProxyServer({NAME: server.host}) as proxy:
        keys = "\n".join(f'{key} = "{value}"' for key, value in server.certificates.keys().items())
        secure = f'[models.secure]\nprovider = "openai"\nmodel = "mock"\nbase_url = "https://{NAME}/v1"\nproxy = "{proxy.url}"\n{keys}\n'
        project.config(rest=secure)
        path = project.folder / "metrics.toml"
        path.write_text(path.read_text().replace('judge = "judge"', 'judge = "secure"'))
        project.rows([rag_row(0), rag_row(1)])
        summary = project.run()
        assert [one["errors"] for one in summary["metrics"]] == [0, 0, 0, 0]
        assert len(server.log) == 11
        assert set(proxy.connected) == {f"{NAME}:443"}
        assert project.mock.log == []


def test_a_certificate_that_nobody_vouches_for_stops_the_run(project: Project, tmp_path: Path) -> None:
    (tmp_path / "certificates").mkdir()
    with TlsServer(tmp_path / "certificates", require_client=False) as server:
        project.config(rest=f'[models.secure]\nprovider = "openai"\nmodel = "mock"\nbase_url = "{server.base_url}"\n')
        path = project.folder / "metrics.toml"
        path.write_text(path.read_text().replace('judge = "judge"', 'judge = "secure"'))
        summary = project.run(code=3)
        assert "certificate" in summary["reason"]
        assert server.log == []
