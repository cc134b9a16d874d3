"""What tokens cost: the config's price, else the price tables installed with genai-prices, else unknown.

The tables are read from the installed package and never fetched. They are loaded only when a model's host is one that they know, because loading
them takes 30 MB and a seventh of a second. No price is guessed: a host, a model or a way of charging that is not known exactly gives None.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import frozen

from measurand.config.runtimes import EmbeddingSettings, ModelSettings
from measurand.core.exchange import TokenUsage

_PER: Final = 1_000_000

_PROVIDERS: Final = {
    "api.anthropic.com": "anthropic",
    "api.cerebras.ai": "cerebras",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshotai",
    "api.novita.ai": "novita",
    "api.openai.com": "openai",
    "api.together.xyz": "together",
    "api.voyageai.com": "voyageai",
    "api.x.ai": "x-ai",
    "generativelanguage.googleapis.com": "google",
    "openrouter.ai": "openrouter",
}
"""Host → provider in the tables. A host that is not here may resell at its own price."""
_AZURE: Final = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_SAME_PRICES: Final = {"azure": "openai"}
"""Provider → another one whose models it sells at that one's prices."""
_CHARGED_BESIDES: Final = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "input_mchars")
"""Prices of what a count of input and output tokens does not tell."""


@frozen
class Rates:
    """USD per million tokens, of prompts longer than `above` tokens. `cached`: input tokens read from the provider's cache."""

    input: float
    output: float
    cached: float | None = None
    above: int = 0


@frozen
class Price:
    """USD per million tokens. `longer`: the rates of long prompts, where a provider has them, in the order of their `above`."""

    input: float
    output: float
    cached: float | None = None
    """Input tokens from the provider's cache; None: they cost what others do."""
    source: str = "config"
    """"config", or the tables with their version, provider and model."""
    longer: tuple[Rates, ...] = ()

    def rates(self, input_tokens: int) -> Rates:
        """The rates of a prompt of so many tokens: all of its tokens have the same."""
        fitting = [one for one in self.longer if input_tokens > one.above]
        return fitting[-1] if fitting else Rates(self.input, self.output, self.cached)


def price_of(settings: ModelSettings | EmbeddingSettings) -> Price | None:
    """The price of a model's tokens today; None where it is not known, 0 where nothing leaves the machine (provider local).

    Azure's deployments are looked up by the name they have: one that is named after another model than it serves needs a price in the config.
    What a provider charges for writing its cache is not in it.
    """
    if isinstance(settings, ModelSettings):
        if settings.price is not None:
            return Price(settings.price.input, settings.price.output)
    elif settings.price is not None:
        return Price(settings.price.input, 0.0)
    elif settings.provider == "local":
        return Price(0.0, 0.0, source="local")
    provider = _provider(settings.address())
    if provider is None:
        return None
    return _looked_up(provider, settings.model, needs_output=isinstance(settings, ModelSettings))


def cost(price: Price, usage: TokenUsage) -> float:
    """USD for the tokens of one call. The cached tokens are part of the input tokens."""
    rates = price.rates(usage.input_tokens)
    cached = min(usage.cached_tokens, usage.input_tokens)
    cached_rate = rates.input if rates.cached is None else rates.cached
    return ((usage.input_tokens - cached) * rates.input + cached * cached_rate + usage.output_tokens * rates.output) / _PER


def _provider(address: str | None) -> str | None:
    parts = urlsplit(address or "")
    host = parts.hostname or ""
    if parts.scheme != "https":
        return None
    return "azure" if host.endswith(_AZURE) else _PROVIDERS.get(host)


def _looked_up(provider_id: str, name: str, *, needs_output: bool) -> Price | None:
    import genai_prices
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    try:
        provider, model = snapshot.find_provider_model(name, None, provider_id, None)
    except LookupError:
        return None
    at_that_price = [one for one in snapshot.providers if one.id in {provider.id, _SAME_PRICES.get(provider.id)}]
    if not any(model is known for one in at_that_price for known in one.models):
        return None  # the tables lend a model's price from whoever made it, whatever this host asks for it
    source = f"genai-prices {genai_prices.__version__}, {provider.id}/{model.id}"
    return _price(_dearest(model), source, needs_output=needs_output)


def _dearest(model: Any) -> Any:
    """The prices in force; of those that depend on the time of day the dearest, so that a plan holds at any hour."""
    now = datetime.now(UTC)
    conditional = model.prices if isinstance(model.prices, list) else []
    by_the_hour = [one.prices for one in conditional if hasattr(one.constraint, "start_time")]
    return max([model.get_prices(now), *by_the_hour], key=lambda prices: _base(prices.input_mtok) or Decimal(0))


def _price(prices: Any, source: str, *, needs_output: bool) -> Price | None:
    if prices.input_mtok is None or (needs_output and prices.output_mtok is None) or any(getattr(prices, key, None) for key in _CHARGED_BESIDES):
        return None
    starts = sorted({tier.start for one in (prices.input_mtok, prices.output_mtok, prices.cache_read_mtok) for tier in getattr(one, "tiers", ())})

    def rates(above: int) -> Rates:
        cached = _at(prices.cache_read_mtok, above)
        return Rates(_at(prices.input_mtok, above) or 0.0, _at(prices.output_mtok, above) or 0.0, cached, above)

    base = rates(0)
    return Price(base.input, base.output, base.cached, source, tuple(rates(start) for start in starts))


def _base(price: Any) -> Decimal | None:
    base: Decimal | None = getattr(price, "base", price)
    return base


def _at(price: Any, above: int) -> float | None:
    """The price of prompts longer than `above` tokens."""
    if price is None:
        return None
    fitting = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= above]
    return float(fitting[-1] if fitting else price.base if hasattr(price, "base") else price)
