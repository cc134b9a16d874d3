"""Texts out of a row, its shape kept: what a store may hold of content that must not be kept."""

from __future__ import annotations

from hashlib import blake2b

from measurand.core.fields import Json


def masked(value: Json) -> Json:
    """The same structure with each text as its length and a short hash: `‹12 chars 3fa2c1d0›`. Keys, numbers and truth values stay.

    Equal texts have equal masks. The hash is no secret: a text that can be guessed can be recognised.
    """
    if isinstance(value, str):
        digest = blake2b(value.encode(errors="surrogatepass"), digest_size=4).hexdigest()
        return f"‹{len(value)} chars {digest}›"
    if isinstance(value, dict):
        return {key: masked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(item) for item in value]
    return value
