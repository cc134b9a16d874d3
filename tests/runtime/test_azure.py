"""Azure's paths and header."""

from __future__ import annotations

import pytest
from tests.runtime.asking import SCHEMA, ask, asks
from tests.servers.mock import MockServer

from measurand.config.runtimes import ModelSettings
from measurand.runtime import azure

KEY = "azure-planted-key"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("https://r.openai.azure.com", "/openai/deployments/grader%20eu/chat/completions"),
        ("https://r.openai.azure.com/", "/openai/deployments/grader%20eu/chat/completions"),
        ("https://gateway.example/azure/openai", "/deployments/grader%20eu/chat/completions"),
        ("https://r.openai.azure.com/openai/deployments/other", "/chat/completions"),
        ("https://r.openai.azure.com/openai/v1/", "/chat/completions"),
    ],
)
def test_the_deployments_path_is_added_where_the_address_lacks_it(base: str, path: str) -> None:
    assert azure.path(ModelSettings(provider="azure", model="grader eu", base_url=base)) == path


def test_a_deployment_of_any_name_is_asked_for_what_it_can_do() -> None:  # P14
    with MockServer(api_key=KEY) as mock:
        outcome = ask(
            mock.root,
            asks(schema=SCHEMA),
            provider="azure",
            model="grader-eu",
            query={"api-version": "2024-10-21"},
            api_key_env="AZURE_KEY",
            environ={"AZURE_KEY": KEY},
        )
        (sent,) = mock.log
    assert sent["path"] == "/openai/deployments/grader-eu/chat/completions?api-version=2024-10-21"
    assert sent["headers"]["api-key"] == KEY
    assert "authorization" not in sent["headers"]
    assert mock.bodies()[0]["response_format"]["type"] == "json_schema"
    assert outcome.completion.text.startswith("{")
    with MockServer(refuses=("json_schema",)) as mock:
        outcome = ask(mock.root, asks(schema=SCHEMA), provider="azure", model="grader-eu")
    assert outcome.model.learned == {"response_format": "json_object"}
