"""Secrets: formats, named values, placeholders, and any text."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.secrets import entropy, secrets

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
FORMATS = {
    "aws_access_key": ("AKIA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "github_token": ("ghp_", 36, LETTERS),
    "gitlab_token": ("glpat-", 20, LETTERS + "-_"),
    "anthropic_key": ("sk-ant-api03-", 93, LETTERS + "-_"),
    "openai_key": ("sk-proj-", 48, LETTERS),
    "huggingface_token": ("hf_", 34, LETTERS),
    "google_api_key": ("AIza", 35, LETTERS + "-_"),
    "slack_token": ("xoxb-", 50, "0123456789abcdefABCDEF-"),
    "stripe_key": ("sk_live_", 24, LETTERS),
    "npm_token": ("npm_", 36, LETTERS),
    "pypi_token": ("pypi-AgE", 120, LETTERS + "-_"),
    "twilio_key": ("SK", 32, "0123456789abcdef"),
    "digitalocean_token": ("dop_v1_", 64, "0123456789abcdef"),
    "databricks_token": ("dapi", 32, "0123456789abcdef"),
    "vault_token": ("hvs.", 90, LETTERS),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_random_keys_of_each_format_are_found_whole(kind: str) -> None:
    begins, length, letters = FORMATS[kind]
    random = Random(kind)
    keys = [begins + "".join(random.choices(letters, k=length - 1)) + random.choice("ABCDEF" if kind == "aws_access_key" else "abcdef") for _ in range(50)]
    missed = [key for key in keys if [(one.kind, one.start, one.end) for one in secrets(f"Use {key}, please.")] != [(kind, 4, 4 + len(key))]]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "api_key: YOUR_KEY_HERE",
        "export OPENAI_API_KEY=sk-your-openai-key-goes-here-1234",
        "token: <paste 32 characters>",
        "secret = ${{ secrets.DEPLOY_KEY_2 }}",
        "password: ********",
        "password = input('Password: ')",
        "The password is case sensitive and has at least 12 characters.",
        "token count: 12345678901234567",
        "secret: https://vault.example.org/v1/secret/data/app2",
        "api_key = config.api_key_2",
        "sk-learn-compatible-estimators-for-everyone-2",
        "primary key: 550e8400-e29b-41d4-a716-446655440000",
        "idempotency-key 3f786850e387550fdab836ed7e6dc881de23001b",
        "AKIAIOSFODNN7EXAMPLE",
        "https://user:password@host.org, https://host.org:8080/x@y",
    ],
)
def test_placeholders_expressions_and_identifiers_are_none(text: str) -> None:
    assert secrets(text) == []


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ('{"apiKey": "q8Zr2LmX0vT5cYbN"}', "q8Zr2LmX0vT5cYbN", "named_secret"),
        ("Authorization: Bearer 3f786850e387550fdab836ed7e6dc881de23001b", "3f786850e387550fdab836ed7e6dc881de23001b", "named_secret"),
        ("Your password is Tr0ub4dor&3.", "Tr0ub4dor&3", "password"),
        ("DB_PASSWORD=s3cr3t-Pa55", "s3cr3t-Pa55", "password"),
        ("password: hunter2", "hunter2", "password"),
        ("redis://:p4ssw0rd9@cache.internal:6379/0", "p4ssw0rd9", "password_in_url"),
    ],
)
def test_named_values(text: str, value: str, kind: str) -> None:
    assert [(text[one.start : one.end], one.kind) for one in secrets(text)] == [(value, kind)]


def test_entropy_is_shannons() -> None:
    assert entropy("aabb") == 1
    assert entropy("abcd") == 2
    assert entropy("aaaa") == 0
    assert entropy("") == 0


@given(st.one_of(st.text(max_size=80), st.text(st.sampled_from("sk-eyJ.password=:/@ghp_AKIA1aZ\u200b"), max_size=80)))
def test_any_text_gives_spans_inside_it(text: str) -> None:
    assert all(0 <= one.start < one.end <= len(text) for one in secrets(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["sk-", "sk-ant-", "eyJabcdefghij.", "-----BEGIN PRIVATE KEY-----\n", "://a:", "password=Abc123def ", "api_key=", "token ", "ghp_"]
)
def test_a_megabyte_takes_a_second_or_so(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    secrets(text)
    assert time.process_time() - start < 4
