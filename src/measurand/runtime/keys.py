"""The secrets of one runtime: read from the environment, sent in headers, and found again in whatever a server sends back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from measurand.config.runtimes import RuntimeTable
from measurand.config.secrets import REDACTED, read_variable, redact

QUOTED_CHARS: Final = 200
_IN_MESSAGES: Final = 5  # shorter values ("none", "x") are no secrets, and occur everywhere
_IN_REPLIES: Final = 12
_CUT: Final = 8  # as much of a key's beginning or end as would still be too much

KeyHeader = Callable[[str], tuple[str, str]]


def missing_keys(settings: RuntimeTable, environ: Mapping[str, str]) -> list[str]:
    """The variables a table names that hold nothing usable: absent, empty, or a file (NAME_FILE) that cannot be read."""
    return [name for name in _variables(settings) if not _value(name, environ)]


class Keys:
    """api_key_env and headers_env of one table. What they hold is in no repr and in no message."""

    def __init__(self, settings: RuntimeTable, *, section: str, environ: Mapping[str, str], key_header: KeyHeader, proxy: str | None = None) -> None:
        self.generation = 0
        """How often the variables were read again."""
        self.headers: tuple[tuple[str, str], ...] = ()
        """The secret headers."""
        self.problem: str | None = None
        """Why they cannot be sent: a variable holds nothing, or what no header can hold."""
        self._settings = settings
        self._section = section
        self._environ = environ
        self._key_header = key_header
        self._secrets = {part for part in (urlsplit(proxy).password, urlsplit(proxy).username) if part} if proxy else set()
        self._works = True  # nothing is known against what was just read
        self._read()

    def __repr__(self) -> str:
        return f"Keys({', '.join(_variables(self._settings)) or 'none'})"

    def worked(self, generation: int) -> None:
        """Noted after an accepted request: should the key be refused later, it may have been renewed and is worth reading again."""
        self._works = self._works or generation == self.generation

    def renewed(self, generation: int) -> bool:
        """Whether a request that was refused with the keys of `generation` is worth sending again: they are read again once, and again after they have worked."""
        if generation != self.generation:
            return True  # another call has read them since
        if not self._works or not _variables(self._settings):
            return False
        self._works = False
        self.generation += 1
        self._read()
        return True

    def hide(self, text: str) -> str:
        """The text without the secrets, whole or cut, plain or escaped, and without those inside URLs; at most 200 characters of it."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            if len(secret) >= _IN_MESSAGES:
                for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
                    text = text.replace(form, REDACTED)
            text = _without_ends(text, secret)
        return redact(text)[:QUOTED_CHARS]

    def scrubbed(self, content: bytes) -> bytes:
        """A reply's bytes without the secrets: a server may echo what it was sent."""
        for secret in self._secrets:
            if len(secret) >= _IN_REPLIES:
                for form in (secret, json.dumps(secret)[1:-1]):
                    raw = form.encode()
                    if raw in content:
                        content = content.replace(raw, REDACTED.encode())
        return content

    def _read(self) -> None:
        self.problem = None
        headers = []
        for name, header in self._named():
            value = _value(name, self._environ)
            if not value:
                self.problem = self.problem or f"the variable {name} of [{self._section}] is not set, nor {name}_FILE, or holds nothing"
                continue
            self._secrets.add(value)
            if not value.isascii() or not value.isprintable():
                self.problem = self.problem or f"the variable {name} of [{self._section}] holds what no HTTP header can: line breaks, or letters beyond ASCII"
                continue
            headers.append(header(value))
        self.headers = tuple(headers)

    def _named(self) -> list[tuple[str, KeyHeader]]:
        named: list[tuple[str, KeyHeader]] = [(variable, _header(name)) for name, variable in self._settings.headers_env.items()]
        return [(self._settings.api_key_env, self._key_header), *named] if self._settings.api_key_env is not None else named


def bearer(key: str) -> tuple[str, str]:
    """The header most servers want the key in."""
    return "authorization", f"Bearer {key}"


def _header(name: str) -> KeyHeader:
    return lambda value: (name, value)


def _variables(settings: RuntimeTable) -> list[str]:
    key = [settings.api_key_env] if settings.api_key_env is not None else []
    return list(dict.fromkeys([*key, *settings.headers_env.values()]))


def _value(name: str, environ: Mapping[str, str]) -> str:
    try:
        return (read_variable(name, environ) or "").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _without_ends(text: str, secret: str) -> str:
    for size in range(min(len(secret) - 1, 2_000), _CUT - 1, -1):
        text = text.replace(secret[:size], REDACTED).replace(secret[-size:], REDACTED)
    return text
