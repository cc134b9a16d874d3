"""Azure OpenAI: chat completions at a deployment's own path, with the key in a header of its own.

base_url is the resource ("https://NAME.openai.azure.com"), or the whole path up to the deployment; api-version stands in `query`. An address
that ends in /openai/v1 is Azure's newer surface, which is OpenAI's. Which deployment can do what is learned from it, never from its name.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlsplit

from measurand.config.runtimes import RuntimeTable
from measurand.runtime import openai

GIVES_LOGPROBS: Final = True
HEADERS: Final[tuple[tuple[str, str], ...]] = ()

body = openai.body
completion = openai.completion


def key_header(key: str) -> tuple[str, str]:
    """Azure's header for a resource's key."""
    return "api-key", key


def path(settings: RuntimeTable) -> str:
    """Below base_url."""
    return deployment_path(settings, "/chat/completions")


def deployment_path(settings: RuntimeTable, operation: str) -> str:
    """The path of an operation ("/chat/completions", "/embeddings"), with the deployment where base_url does not hold it."""
    base = urlsplit(settings.base_url or "").path.rstrip("/")
    if base.endswith("/openai/v1") or "/deployments/" in base:
        return operation
    prefix = "" if base.endswith("/openai") else "/openai"
    return f"{prefix}/deployments/{quote(settings.model, safe='')}{operation}"
