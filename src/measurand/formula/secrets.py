"""Secrets in a text: keys in the formats of well-known providers, and random values that stand where a secret is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from math import log2
from typing import Final

from measurand.formula.findings import Finding, apart
from measurand.formula.visible import visible

_FORMATS: Final = (
    # kind, how it begins, what follows
    ("aws_access_key", "AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}"),
    ("github_token", "ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9]{36,251}"),
    ("github_token", "github_pat_", r"[A-Za-z0-9_]{40,250}"),
    ("gitlab_token", "glpat-|gldt-|glrt-|glptt-", r"[\w-]{20,64}"),
    ("anthropic_key", "sk-ant-", r"[\w-]{24,200}"),
    ("openai_key", "sk-", r"(?:proj-|svcacct-|admin-|None-|or-v1-)?[\w-]{20,200}"),
    ("huggingface_token", "hf_", r"[A-Za-z0-9]{30,64}"),
    ("groq_key", "gsk_", r"[A-Za-z0-9]{40,64}"),
    ("google_api_key", "AIza", r"[\w-]{35}"),
    ("google_oauth_secret", "GOCSPX-", r"[\w-]{28}"),
    ("google_oauth_token", "ya29.", r"[\w-]{20,400}"),
    ("slack_token", "xoxa-|xoxb-|xoxe-|xoxo-|xoxp-|xoxr-|xoxs-|xapp-", r"[A-Za-z0-9-]{10,250}"),
    ("slack_webhook", "hooks.slack.com/services/", r"T\w{6,14}/B\w{6,14}/\w{20,32}"),
    ("discord_webhook", "discord.com/api/webhooks/|discordapp.com/api/webhooks/", r"\d{15,22}/[\w-]{50,90}"),
    ("stripe_key", "sk_live_|sk_test_|rk_live_|rk_test_", r"[A-Za-z0-9]{16,250}"),
    ("stripe_webhook_secret", "whsec_", r"[A-Za-z0-9+/=]{24,80}"),
    ("npm_token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi_token", "pypi-AgE", r"[\w-]{50,400}"),
    ("sendgrid_key", "SG.", r"[\w-]{20,24}\.[\w-]{39,50}"),
    ("twilio_key", "SK", r"[0-9a-f]{32}"),
    ("mailgun_key", "key-", r"[0-9a-f]{32}"),
    ("digitalocean_token", "dop_v1_|doo_v1_|dor_v1_", r"[0-9a-f]{64}"),
    ("shopify_token", "shpat_|shpca_|shppa_|shpss_", r"[0-9a-fA-F]{32}"),
    ("databricks_token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("vault_token", "hvs.|hvb.", r"[\w-]{24,200}"),
    ("jwt", "eyJ", r"[\w-]{10,4000}\.eyJ[\w-]{8,8000}\.[\w-]{16,2000}"),
)
_LEAST_ENTROPY: Final = 3.0
"""Bits a character. Sixteen random characters of hexadecimal digits have 3.2 and more in 99 % of cases; English words have less, or no digit."""


def secrets(text: str) -> list[Finding]:
    """The secrets in a text, in order of place and without overlaps; placeholders (YOUR_KEY_HERE, `<token>`, sk-xxxx, AKIA…EXAMPLE) are none."""
    seen = visible(text)
    plain = seen.text
    found = [*_private_keys(plain), *_formatted(plain), *_passwords_in_urls(plain), *_named(plain)]
    return [Finding(one.kind, *seen.original(one.start, one.end)) for one in apart(found)]


def entropy(text: str) -> float:
    """Shannon's entropy of the characters of a text, in bits a character; 0 for an empty one."""
    size = len(text)
    counts = [text.count(character) for character in set(text)]
    return -sum(count / size * log2(count / size) for count in counts)


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one that is to be filled in, or was taken out."""
    return _placeholder().search(value) is not None or len(set(value)) <= 4


@cache
def _placeholder() -> re.Pattern[str]:
    words = "your|example|placeholder|change.?me|dummy|sample|insert|replace|redacted|masked|hidden|fake|key.?here|token.?here|goes.?here|todo|none|null"
    return re.compile(rf"(?i){words}|xxxx|\*\*\*|\.\.\.|…|•••|[<>{{}}$%]|\[\w+\]")


# ---------------------------------------------------------------- formats


def _formatted(text: str) -> Iterator[Finding]:
    done = 0
    for match in _beginning().finditer(text):
        if match.start() < done:
            continue
        kind, pattern = _after()[match[0]]
        rest = pattern.match(text, match.end())
        if rest and _is_random(kind, rest[0]):
            done = rest.end()
            yield Finding(kind, match.start(), done)


@cache
def _after() -> dict[str, tuple[str, re.Pattern[str]]]:
    return {begin: (kind, re.compile(rf"{rest}(?![A-Za-z0-9])")) for kind, begins, rest in _FORMATS for begin in begins.split("|")}


@cache
def _beginning() -> re.Pattern[str]:
    longest_first = sorted(_after(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})")


def _is_random(kind: str, value: str) -> bool:
    if is_placeholder(value):
        return False
    return kind == "aws_access_key" or (_mixes(value) and not _is_worded(value) and entropy(value[:200]) >= _LEAST_ENTROPY)


def _mixes(value: str) -> bool:
    """Digits, or letters of both cases: of random keys of twenty characters, all but one in a million."""
    return any(map(str.isdigit, value)) or (not value.islower() and not value.isupper())


def _is_worded(value: str) -> bool:
    """Whether it is words and numbers joined by marks, as names are: learn-with-3-examples, config.api_key_2."""
    return all(part.isdigit() or (part.isalpha() and part.islower()) for part in re.split(r"[-_.]+", value) if part)


def _private_keys(text: str) -> Iterator[Finding]:
    """PEM and OpenSSH private keys (RFC 7468): the opening line with a line of the key after it, up to the closing line where there is one."""
    if "PRIVATE KEY" not in text:
        return
    for match in _pem().finditer(text):
        close = text.find("-----END", match.end(), match.end() + 20_000)
        yield Finding("private_key", match.start(), _line_end(text, close) if close >= 0 else match.end())


@cache
def _pem() -> re.Pattern[str]:
    return re.compile(
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\n){1,4}(?:[\w-]{1,20}: [^\n]{0,80}\n\s{0,2}){0,3}[A-Za-z0-9+/=]{16,80}"
    )


def _line_end(text: str, start: int) -> int:
    close = text.find("-----", start + 8, start + 80)
    return close + 5 if close >= 0 else start


def _passwords_in_urls(text: str) -> Iterator[Finding]:
    if "://" not in text:
        return
    for match in _url_password().finditer(text):
        if not is_placeholder(match[1]) and match[1].lower() not in _WORDS:
            yield Finding("password_in_url", *match.span(1))


@cache
def _url_password() -> re.Pattern[str]:
    return re.compile(r"://[^\s/:@?#]{0,64}:([^\s/:@?#]{3,128})@[\w.-]{1,253}")


_WORDS: Final = frozenset(["pass", "password", "passwd", "pwd", "secret", "token", "user", "username", "pw", "string"])


# ---------------------------------------------------------------- named values


def _named(text: str) -> Iterator[Finding]:
    """A value after the name of a secret and a sign of assignment, if it is random enough; after a password's name, if it mixes kinds of characters."""
    for match in _assignment().finditer(text):
        value = match["value"].rstrip(".,;:)\"'`")
        start = match.start("value")
        if _is_secret(match["name"].lower(), value):
            yield Finding("password" if match["name"].lower().startswith(("pass", "pwd")) else "named_secret", start, start + len(value))


@cache
def _assignment() -> re.Pattern[str]:
    names = (
        r"api[ _-]?keys?|api[ _-]?secret|api[ _-]?token|apikey|(?:secret|access|auth|client|private|account|signing|encryption|master|service)[ _-]?(?:access[ _-]?)?"
        r"(?:key|token|secret)|secret|token|bearer|passwords?|passwd|passphrase|passcode|pwd|credentials?"
    )
    sign = r"""["'`*]{0,2}(?:\s{0,3}(?::=|=>|[:=])\s{0,3}(?:bearer\s{1,2}|basic\s{1,2})?|\s{1,2}(?:is|was)\s{1,2}|(?<=bearer)\s{1,2})["'`*<]{0,2}"""
    return re.compile(rf"(?<![A-Za-z])(?P<name>{names}){sign}(?P<value>[^\s\"'`,;<>|]{{6,400}})", re.IGNORECASE)


_SHORTEST: Final = 6


def _is_secret(name: str, value: str) -> bool:
    if len(value) < _SHORTEST or is_placeholder(value) or _code().search(value) or _is_worded(value):
        return False
    kinds = sum(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit, _is_mark))
    if name.startswith(("pass", "pwd")):
        return kinds >= 3 or (kinds == 2 and any(map(str.isdigit, value)) and not value[0].isdigit())
    random = len(value) >= 16 and kinds >= 2 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return random and entropy(value) >= _LEAST_ENTROPY


def _is_mark(character: str) -> bool:
    return not character.isalnum()


@cache
def _code() -> re.Pattern[str]:
    """An expression of a program, a name, a path, a URL, a number or a day, and no value: get_token(), os.environ, API_KEY_2, https://…, 2024-01-15."""
    return re.compile(r"[()\[\]{}]|^[A-Z][A-Z_]*_[A-Z0-9_]*$|^[a-z_]+(?:[._-][a-z_]+)*$|://|^[./~]|^[\d.,:/T+-]+Z?$|^\w+\.\w+\.[a-z]+$|@")
