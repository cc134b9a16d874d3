"""Providers from installed packages: found by their entry point, asked within our limits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.asking import QUICK, asks

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import CellTimeoutError, ConfigError, ModelStoppedError, ProviderError, RateLimitedError, RefusedError
from measurand.core.exchange import Completion
from measurand.runtime.model import Model, open_model

MODULE = """
import asyncio
from measurand.core.errors import ModelStoppedError, ProviderError, RateLimitedError, RefusedError
from measurand.core.exchange import Completion, TokenUsage

made = []

class Fake:
    def __init__(self, settings):
        self.settings, self.asked, self.closed = settings, 0, False
        made.append(self)
    async def complete(self, request):
        self.asked += 1
        what = request.messages[-1].content
        if what == "limited once" and self.asked == 1: raise RateLimitedError("slow", details={"retry_after": 0.01})
        if what == "limited": raise RateLimitedError("slow")
        if what == "down": raise ConnectionError("host is down")
        if what == "failed": raise ProviderError("nothing came")
        if what == "refused": raise RefusedError("will not say secret-planted-key")
        if what == "stopped": raise ModelStoppedError("no licence")
        if what == "bug": raise KeyError("secret-planted-key")
        if what == "hangs": await asyncio.sleep(60)
        if what == "odd": return "yes"
        return Completion("yes", usage=TokenUsage(1, 1))
    async def close(self):
        self.closed = True

def broken(settings): raise RuntimeError("secret-planted-key")
def useless(settings): return object()
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with providers, on the path."""
    (tmp_path / "fake_providers.py").write_text(MODULE)
    info = tmp_path / "fake_providers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-providers\nVersion: 1.0\n")
    names = {"acme": "Fake", "acme-broken": "broken", "acme-useless": "useless", "acme-absent": "nothing"}
    (info / "entry_points.txt").write_text("[measurand.providers]\n" + "".join(f"{name} = fake_providers:{made}\n" for name, made in names.items()))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "fake_providers", raising=False)


def opened(provider: str = "acme", environ: dict[str, str] | None = None, **more: Any) -> Model:
    settings = ModelSettings(provider=provider, model="m", **{"max_retries": 2, **more})
    return open_model("judge", settings, environ=environ or {}, resolve=Path, patience=QUICK)


def asked(text: str, **more: Any) -> tuple[Completion | Exception, Model, Any]:
    import asyncio

    model = opened(**more)

    async def run() -> Completion | Exception:
        try:
            return await model.complete(asks(text))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is the outcome
            return error
        finally:
            await model.close()

    return asyncio.run(run()), model, sys.modules["fake_providers"].made[-1]


def test_a_plugin_answers_with_the_settings_it_was_given_and_is_closed() -> None:
    result, model, fake = asked("hello", extra_body={"tier": 1})
    assert isinstance(result, Completion)
    assert (result.text, result.usage.input_tokens) == ("yes", 1)
    assert result.latency_s > 0
    assert fake.settings.extra_body == {"tier": 1}
    assert fake.closed
    assert model.identity == {"provider": "acme", "model": "m", "extra_body": {"tier": 1}}


@pytest.mark.parametrize(
    ("text", "kind", "times"),
    [
        ("limited", RateLimitedError, 3),
        ("down", ProviderError, 3),
        ("failed", ProviderError, 3),
        ("refused", RefusedError, 1),
        ("bug", ProviderError, 1),
        ("stopped", ModelStoppedError, 1),
        ("odd", ModelStoppedError, 1),
        ("hangs", CellTimeoutError, 2),
    ],
)
def test_retries_are_ours(text: str, kind: type[Exception], times: int) -> None:
    environ = {"K": "secret-planted-key"}
    result, _, fake = asked(text, environ=environ, api_key_env="K", timeout_seconds=0.05 if text == "hangs" else 5.0)
    assert type(result) is kind
    assert fake.asked == times
    assert "planted" not in str(result)


def test_a_wait_that_a_plugin_asks_for_is_waited() -> None:
    result, model, fake = asked("limited once")
    assert isinstance(result, Completion)
    assert fake.asked == 2
    assert model.counters.waited_s >= 0.01


@pytest.mark.parametrize(
    ("open_it", "sentence"),
    [
        (lambda: opened("acmee"), r"\[models.judge\] provider: there is no provider 'acmee'; did you mean acme"),
        (lambda: opened("acme", {"METRICS_NO_PLUGINS": "1"}), "METRICS_NO_PLUGINS is set; built in: openai, azure, anthropic, systemone"),
        (lambda: opened("acme-broken"), "the plugin fake_providers:broken fails: RuntimeError"),
        (lambda: opened("acme-useless"), "what the plugin fake_providers:useless makes has no method complete"),
        (lambda: opened("acme-absent"), "the plugin fake_providers:nothing fails: AttributeError"),
    ],
)
def test_what_cannot_be_opened_is_a_problem_of_the_config(open_it: Callable[[], Model], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as error:
        open_it()
    assert "planted" not in str(error.value)
