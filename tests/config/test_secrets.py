from __future__ import annotations

from pathlib import Path

import pytest

from measurand.config.secrets import is_secret, is_suspect, looks_like_a_secret, read_variable, redact, redact_all, url_secret


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apiKey",
        "APIKEY",
        "x-api-key",
        "Authorization",
        "Proxy-Authorization",
        "password",
        "client_secret",
        "access_token",
        "token",
        "key",
        "Cookie",
        "sig",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)
    assert is_suspect(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "max_output_tokens",
        "api_key_env",
        "author",
        "keyboard",
        "X-Team",
        "monkey",
        "api-version",
        "input",
        "tokens_per_minute",
        "code_token_f1",
        "code_author",
    ],
)
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret(name)


def test_a_cache_key_may_be_written_but_is_not_printed() -> None:
    assert not is_secret("prompt_cache_key")
    assert is_suspect("prompt_cache_key")


@pytest.mark.parametrize("text", ["sk-proj-abcdefghijklmnop", "gsk_abcdefghijklmnop", "Zx8Qw3Er7Ty2Ui5Op9As", "ghp_0123456789abcdef"])
def test_secrets_where_a_variable_is_meant(text: str) -> None:
    assert looks_like_a_secret(text)


@pytest.mark.parametrize("text", ["OPENAI_API_KEY", "MY_KEY", "azureKey2", "AZURE_OPENAI_API_KEY_EUROPE_WEST_2"])
def test_names_of_variables(text: str) -> None:
    assert not looks_like_a_secret(text)


def test_urls_lose_user_names_passwords_and_secret_query_values() -> None:
    text = "from http://u:pw9@h/v1?token=t9&page=2 by http://p:p@8@x:1 to postgresql://u@db/x"

    assert redact(text) == "from http://<redacted>@h/v1?token=<redacted>&page=2 by http://<redacted>@x:1 to postgresql://<redacted>@db/x"


def test_texts_without_a_url_stay() -> None:
    assert redact("mail a@b.example: what? token=x") == "mail a@b.example: what? token=x"
    assert url_secret("https://h/v1?api-version=2") is None
    assert url_secret("https://h/v1?api-key=2") == "the query key 'api-key'"
    assert url_secret("https://h/v1?a=user@host") is None


def test_redaction_goes_to_any_depth_and_leaves_names_of_variables() -> None:
    value = {"a": [{"api_key": "k", "url": "http://u:p@h"}], "api_key_env": "KEY", "headers_env": {"Authorization": "KEY"}, "token": None}

    assert redact_all(value) == {
        "a": [{"api_key": "<redacted>", "url": "http://<redacted>@h"}],
        "api_key_env": "KEY",
        "headers_env": {"Authorization": "KEY"},
        "token": None,
    }
    assert redact_all({"key": "name", "url": "http://u:p@h"}, by_name=False) == {"key": "name", "url": "http://<redacted>@h"}


def test_a_variable_or_the_file_it_names(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from file\n")
    beside = {"KEY_FILE": str(tmp_path / "key")}

    assert read_variable("KEY", {"KEY": "direct", **beside}) == "direct"
    assert read_variable("KEY", beside) == "from file"
    assert read_variable("KEY", {}) is None
    with pytest.raises(OSError, match="none"):
        read_variable("KEY", {"KEY_FILE": str(tmp_path / "none")})
