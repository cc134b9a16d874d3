"""What must never be printed or stored, and how it is recognised: by the name of its key, by its look, or inside a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

REDACTED = "<redacted>"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ANYWHERE = frozenset(
    {"secret", "secrets", "password", "passwd", "passphrase", "authorization", "bearer", "cookie", "credential", "credentials", "jwt", "apikey"}
)
_AT_THE_END = frozenset({"token", "auth", "pwd", "pw", "sig"})  # code_token_f1 is no secret
_ONLY_SUSPECT = frozenset({"key", "keys", "signature"})  # prompt_cache_key is none either, but is better not printed
_KEY_OWNER = frozenset({"api", "access", "private", "secret", "auth", "account", "subscription", "functions", "service", "client", "ssh", "x"})
_KNOWN_PREFIX = re.compile(r"(?:sk|pk|rk|gsk|hf|ghp|gho|github_pat|glpat|xai|xoxb|xoxp|pplx|r8|nvapi|AIza|AKIA)[-_A-Za-z0-9]{12,}")
_USERINFO = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/?#@\s]*(?:@[^/?#@\s]*)*@")
_QUERY_PAIR = re.compile(r"([?&;])([^=&#\s?;]{1,100})=([^&#\s;]*)")


def _words(name: str) -> list[str]:
    """The words of a name in lower case, trailing numbers left out."""
    words = [word.lower() for word in _WORD.findall(name[:200])]
    while words and words[-1].isdigit():
        words.pop()
    return words


def is_suspect(name: str) -> bool:
    """Whether a key's value is kept out of every message: its name ends in a word like key or token, or holds one like secret or password."""
    return is_secret(name) or not _ONLY_SUSPECT.isdisjoint(_words(name)[-1:])


def is_secret(name: str) -> bool:
    """Whether a key of this name holds a secret, so that its value may not stand in a file: api_key, Authorization, x-api-key, token …

    Narrower than `is_suspect`: `prompt_cache_key` is only suspect, `max_tokens` neither. A name that ends in env is that of a variable.
    """
    words = _words(name)
    if words[-1:] == ["env"]:
        return False
    owned_key = any(word in {"key", "keys"} and not _KEY_OWNER.isdisjoint(words[:at]) for at, word in enumerate(words))
    return (
        owned_key or not _ANYWHERE.isdisjoint(words) or not _AT_THE_END.isdisjoint(words[-1:]) or "apikey" in name.lower() or words in (["key"], ["signature"])
    )


def looks_like_a_secret(text: str) -> bool:
    """Whether text that should be a variable's name is rather the secret: a known prefix, or long and of mixed case with digits."""
    mixed = len(text) >= 20 and any(c.islower() for c in text) and any(c.isupper() for c in text) and any(c.isdigit() for c in text)
    return mixed or _KNOWN_PREFIX.match(text) is not None


def url_secret(url: str) -> str | None:
    """Which part of a URL is secret ("a user name or password", "the query key 'token'"), None when none is."""
    if _USERINFO.search(url):
        return "a user name or password"
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return None
    return next((f"the query key {name!r}" for name, _ in pairs if is_secret(name)), None)


def redact(text: str) -> str:
    """The text with the userinfo and the secret query values of every URL in it replaced."""
    if "://" not in text:
        return text
    without_user = _USERINFO.sub(rf"\1{REDACTED}@", text)
    return _QUERY_PAIR.sub(lambda pair: f"{pair[1]}{pair[2]}={REDACTED}" if is_suspect(pair[2]) else pair[0], without_user)


def redact_all(value: Any, *, by_name: bool = True) -> Any:
    """A JSON value with the secrets inside URLs replaced, and with `by_name` the values of keys named like secrets, at any depth.

    Keys that end in `_env` hold names of variables and stay.
    """
    if isinstance(value, Mapping):
        return {key: _redacted_under(str(key), one, by_name=by_name) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [redact_all(one, by_name=by_name) for one in value]
    return redact(value) if isinstance(value, str) else value


def _redacted_under(name: str, value: Any, *, by_name: bool) -> Any:
    if name.endswith("_env"):
        return value
    return REDACTED if by_name and value is not None and is_secret(name) else redact_all(value, by_name=by_name)


def read_variable(name: str, environ: Mapping[str, str]) -> str | None:
    """The value of a variable, or of the file that NAME_FILE names where NAME is unset (its last line break removed); None when neither is set.

    Raises OSError when the file cannot be read and UnicodeDecodeError when it is no UTF-8.
    """
    if name in environ:
        return environ[name]
    if f"{name}_FILE" not in environ:
        return None
    with Path(environ[f"{name}_FILE"]).open(encoding="utf-8") as file:
        return file.read(1_000_000).rstrip("\r\n")
