from __future__ import annotations

import subprocess
import sys
from typing import Any

import genai_prices
import pytest

from measurand.config.runtimes import EmbeddingPrice, EmbeddingSettings, ModelPrice, ModelSettings
from measurand.core.exchange import TokenUsage
from measurand.runtime.prices import Price, Rates, cost, price_of


def model(name: str, provider: str = "openai", **more: Any) -> ModelSettings:
    return ModelSettings(provider=provider, model=name, **more)


def test_the_configs_price_comes_first() -> None:
    price = price_of(model("gpt-4o-mini", price=ModelPrice(input=1.0, output=2.0)))
    assert price == Price(1.0, 2.0)
    assert price_of(EmbeddingSettings(provider="openai", model="anything", price=EmbeddingPrice(input=0.5))) == Price(0.5, 0.0)


GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
AZURE = "https://x.openai.azure.com/openai/deployments/gpt-4o-mini"


@pytest.mark.parametrize(
    ("settings", "input_rate", "output_rate"),
    [
        (model("gpt-4o-mini"), 0.15, 0.6),  # USD per million tokens, as the vendors have published them since 2024 and 2025
        (model("gpt-4o-mini-2024-07-18"), 0.15, 0.6),
        (model("gpt-4o-mini", base_url="https://api.openai.com/v1/"), 0.15, 0.6),
        (model("gpt-4o-mini", provider="azure", base_url=AZURE), 0.15, 0.6),
        (model("claude-sonnet-4-5", provider="anthropic"), 3.0, 15.0),
    ],
)
def test_known_models_have_their_vendors_price(settings: ModelSettings, input_rate: float, output_rate: float) -> None:
    price = price_of(settings)
    assert price is not None
    assert (price.input, price.output) == (input_rate, output_rate)
    assert price.source.startswith("genai-prices ")


@pytest.mark.parametrize(
    ("settings", "provider"),
    [
        (model("gpt-4o-mini"), "openai"),
        (model("gpt-4o", provider="azure", base_url=AZURE), "azure"),
        (model("claude-sonnet-4-5", provider="anthropic"), "anthropic"),
        (model("llama-3.3-70b-versatile", base_url="https://api.groq.com/openai/v1"), "groq"),
        (model("gemini-2.5-pro", base_url=GEMINI), "google"),
        (model("openai/gpt-4o-mini", base_url="https://openrouter.ai/api/v1"), "openrouter"),
    ],
)
@pytest.mark.parametrize("usage", [TokenUsage(1_000, 100), TokenUsage(1_000, 100, cached_tokens=600), TokenUsage(200_000, 10), TokenUsage(200_001, 10)])
def test_a_call_costs_what_the_tables_own_calculator_says(settings: ModelSettings, provider: str, usage: TokenUsage) -> None:
    price = price_of(settings)
    assert price is not None
    theirs = genai_prices.Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_read_tokens=usage.cached_tokens)
    assert cost(price, usage) == pytest.approx(float(genai_prices.calc_price(theirs, settings.model, provider_id=provider).total_price))


def test_embeddings_have_no_price_for_output() -> None:
    price = price_of(EmbeddingSettings(provider="openai", model="text-embedding-3-small"))
    assert price is not None
    assert (price.input, price.output) == (0.02, 0.0)
    assert price_of(EmbeddingSettings(provider="local", model="use-multilingual")) == Price(0.0, 0.0, source="local")


@pytest.mark.parametrize(
    "settings",
    [
        model("gpt-4o-mini-of-our-own"),
        model("claude-nonsense", provider="anthropic"),
        model("gpt-4o", provider="anthropic"),
        model("gpt-4o-mini", base_url="http://127.0.0.1:8080/v1"),
        model("gpt-4o-mini", base_url="https://gateway.example/v1"),
        model("gpt-4o-mini", base_url="https://api.openai.com.evil.example/v1"),
        model("gpt-4o-mini", base_url="https://gateway.example/api.openai.com/v1"),
        model("gpt-4o-mini", base_url="http://api.openai.com/v1"),
        model("grader-eu", provider="azure", base_url="https://x.openai.azure.com"),
        model("deepseek-reasoner", provider="azure", base_url="https://x.openai.azure.com"),  # its maker's price is not Azure's
        model("gpt-4o-mini", provider="systemone", base_url="https://x.example"),
        model("gpt-4o-mini", provider="a-plugin"),
        model("text-embedding-3-small"),  # no price for output: no chat model
        model("whisper-1"),
        model("sonar-pro", base_url="https://api.perplexity.ai"),  # a fee for every request besides the tokens
    ],
)
def test_what_is_not_known_exactly_has_no_price(settings: ModelSettings) -> None:
    assert price_of(settings) is None


def test_cost_by_hand() -> None:
    price = Price(2.0, 8.0, 0.5)
    usage = TokenUsage(1_000, 100, cached_tokens=600)
    assert cost(price, usage) == pytest.approx((400 * 2.0 + 600 * 0.5 + 100 * 8.0) / 1e6)
    assert cost(Price(2.0, 8.0), usage) == pytest.approx((1_000 * 2.0 + 100 * 8.0) / 1e6)
    assert cost(price, TokenUsage(0, 0)) == 0


def test_a_long_prompt_costs_more_from_its_first_token() -> None:
    price = Price(1.0, 10.0, longer=(Rates(2.0, 15.0, None, 200_000), Rates(3.0, 15.0, None, 500_000)))
    assert cost(price, TokenUsage(200_000, 0)) == pytest.approx(0.2)
    assert cost(price, TokenUsage(200_001, 1_000)) == pytest.approx(200_001 * 2e-6 + 0.015)
    assert cost(price, TokenUsage(600_000, 0)) == pytest.approx(1.8)


def test_the_tables_are_loaded_only_for_a_host_they_know_and_nothing_is_fetched() -> None:
    program = """
import socket, sys
def refuse(*_): raise AssertionError("a socket was opened")
from measurand.config.runtimes import ModelSettings
from measurand.runtime.prices import price_of
assert price_of(ModelSettings(provider="openai", model="gpt-4o-mini", base_url="http://127.0.0.1:1/v1")) is None
assert "genai_prices" not in sys.modules
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
assert price_of(ModelSettings(provider="openai", model="gpt-4o-mini")) is not None
assert "genai_prices" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
