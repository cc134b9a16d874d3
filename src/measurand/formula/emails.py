"""E-mail addresses in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from measurand.formula.findings import Finding
from measurand.formula.normalise import joins_words

_SUFFIXES: Final = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "ico",
        "js",
        "mjs",
        "ts",
        "css",
        "py",
        "rb",
        "go",
        "java",
        "html",
        "htm",
        "json",
        "xml",
        "yml",
        "yaml",
        "md",
        "txt",
        "pdf",
        "zip",
    ]
)
"""What ends the name of a file such as icon@2x.png, and no domain."""


def emails(text: str) -> Iterator[Finding]:
    """Addresses as in RFC 5321 and RFC 6531 (any script), without quoted local parts. `git@host:path` and a password before a host are none."""
    if "@" not in text:
        return
    for match in _email().finditer(text):
        at = match.start("domain") - 1
        local, domain = _local(match["local"]), _domain(match["domain"])
        start, end = at - len(local), at + 1 + len(domain)
        if local and domain and not _is_login(text, start, at):
            yield Finding("email", start, end)


@cache
def _email() -> re.Pattern[str]:
    """Each run of characters is entered once, at its beginning, and left at 64 characters: linear in any text."""
    latin = r"(?<![A-Za-z0-9.+%'_-])[A-Za-z0-9.+%'_-]{1,64}+"
    any_script = r"(?<![\w.+%'-])[\w.+%'-]{1,64}+"
    label = r"(?:[^\W_]|-){1,63}+"
    return re.compile(rf"(?P<local>{latin}(?=@)|{any_script})@(?P<domain>{label}(?:\.{label})++)")


def _local(written: str) -> str:
    """The local part; text in a script without spaces that runs into a Latin address is none of it."""
    local = written.lstrip(".'-%")
    if not local.isascii() and local[-1].isascii():
        local = local[max((at + 1 for at, one in enumerate(local) if not one.isascii() and not joins_words(one)), default=0) :]
    return "" if local.endswith(".") or ".." in local else local


def _domain(written: str) -> str:
    """The domain as far as it is one, else ""."""
    labels: list[str] = []
    for label in written.split("."):
        cut = next((at for at, one in enumerate(label) if label[0].isascii() and not one.isascii() and not joins_words(one)), len(label))
        labels.append(label[:cut])
        if cut < len(label):
            break
    while labels and not _is_top_level(labels[-1]):
        labels.pop()
    sound = len(labels) > 1 and labels[-1].lower() not in _SUFFIXES and all(label[0] != "-" and label[-1] != "-" for label in labels)
    return ".".join(labels) if sound else ""


def _is_top_level(label: str) -> bool:
    return len(label) > 1 and (label.isalpha() or label.lower().startswith("xn--"))


def _is_login(text: str, start: int, at: int) -> bool:
    """Whether it is user@host of a command or a URL: `git@host:path`, `scheme://user@host`, `scheme://user:password@host`."""
    if text[start:at] == "git":
        return True
    before = text[max(0, start - 80) : start].rpartition("://")
    return bool(before[1]) and not re.search(r"[\s/?]", before[2])
