"""`--load FILE.py`: importing a user's file so that the metrics declared there are known."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import Final

from measurand.core.errors import MeasurandError, Problem, UsageError, did_you_mean

_LOADED: Final[set[Path]] = set()


def import_file(path: Path) -> None:
    """Imports a Python file, once a process. Its folder is searched last for what it imports itself.

    Raises `UsageError` for a file that is not there, and with file, line and the exception's own words when the file fails.
    """
    where = f"--load {path}"
    if path.is_dir():
        raise UsageError(Problem("not_a_file", where, "is a directory", "name the Python file in it"))
    if not path.exists():
        raise UsageError(Problem("no_file", where, "there is no such file", _near(path)))
    if path.suffix != ".py":
        raise UsageError(Problem("not_python", where, "is no Python file", "its name ends in .py"))
    real = path.resolve()
    if real in _LOADED:
        return
    _LOADED.add(real)
    from importlib.util import module_from_spec, spec_from_file_location

    if str(real.parent) not in sys.path:
        sys.path.append(str(real.parent))
    name = f"measurand_loaded_{real.stem}_{len(_LOADED)}"
    spec = spec_from_file_location(name, real)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever the file does, also exit(), is said as one sentence
        raise UsageError(_failed(error, path, real)) from None


def _failed(error: BaseException, path: Path, real: Path) -> Problem:
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(real) else _line_in(error.__traceback__, str(real))
    where = f"{path}:{line}" if line else str(path)
    words = str(error) if isinstance(error, MeasurandError) else f"{type(error).__name__}: {error}".removesuffix(": ")
    return Problem("load_failed", where, words)


def _line_in(trace: TracebackType | None, file: str) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _near(path: Path) -> str:
    try:
        beside = [one.name for one in path.parent.iterdir() if one.suffix == ".py"]
    except OSError:
        return ""
    return did_you_mean(path.name, beside)
