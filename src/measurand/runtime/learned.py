"""What a model refuses, learned once from its own words: renamed, degraded or left out from then on; what the config set is never dropped silently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ModelStoppedError
from measurand.runtime.faults import DeclinedError
from measurand.runtime.openai import DROPPED, FORMATS

_NEVER: Final = frozenset({"model", "messages", "system", "state", "questions"})
_OTHER_WORDS: Final = {
    "response_format": re.compile(r"json[_ ]?schema|json[_ ]?object|response[_ ]format|structured output|output_config", re.IGNORECASE),
    "logprobs": re.compile(r"log[ _]?prob", re.IGNORECASE),
}
_AT_MOST: Final = re.compile(r"(?:at most|less than or equal to|<=|maximum(?: value)?(?: of| is)?|up to|between 0 and|max(?:_logprobs)?\D{0,10})\s*(\d{1,2})\b")
_KEYS: Final = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens", "logprobs": "p", "top_logprobs": "p"}


class Learned:
    """The refusals of one model. `facts`: parameter → what is sent instead ("max_completion_tokens", "json_object", "5"), or "dropped", or "none"."""

    def __init__(self, settings: ModelSettings, section: str) -> None:
        self.facts: dict[str, str] = {}
        self._settings = settings
        self._section = section

    def learn(self, facts: Mapping[str, str]) -> None:
        """Takes over what an earlier run has learned."""
        self.facts.update({str(name): str(value) for name, value in facts.items()})

    def refused(self, error: DeclinedError, sent: Mapping[str, Any]) -> bool:
        """Learns from a refusal of the body `sent`; False when it is about no parameter that can be left out.

        Raises `ModelStoppedError`, naming parameter and key, when the refused parameter is one that the config set.
        """
        if error.per_row or 300 <= error.status < 400:
            return False
        parameter = _parameter(error, sent)
        if parameter is None:
            return False
        name, value = self._instead(parameter, error)
        if value in {DROPPED, "none"} and self._set_by_config(parameter):
            raise ModelStoppedError(f"{self._key(parameter)} is refused: {error.message}; remove the key, or name another model")
        if self.facts.get(name) == value:
            return False
        self.facts[name] = value
        return True

    def note(self, name: str) -> str:
        """A sentence on a fact."""
        value = self.facts[name]
        done = "not sent" if value in {DROPPED, "none"} else f"sent as {value}" if name != "top_logprobs" else f"cut to {value}"
        return f"{self._settings.model} refuses {name}: {done} from now on"

    def _instead(self, parameter: str, error: DeclinedError) -> tuple[str, str]:
        if parameter == "max_tokens":
            renamed = "max_completion_tokens" in error.words or error.error_code == "unsupported_parameter"
            return "max_tokens", "max_completion_tokens" if renamed else DROPPED
        if parameter == "max_completion_tokens":
            return "max_tokens", DROPPED
        if parameter == "response_format":
            return parameter, _worse(self.facts.get(parameter, FORMATS[0]), error)
        if parameter == "top_logprobs":
            most = _AT_MOST.search(error.words)
            if most is not None and 0 < int(most[1]) < int(self.facts.get(parameter, "20")):
                return parameter, most[1]
            return "logprobs", DROPPED
        return parameter, DROPPED

    def _set_by_config(self, parameter: str) -> bool:
        if parameter in self._settings.extra_body:
            return True
        if parameter in {"logprobs", "top_logprobs"}:
            return self._settings.p == "logprobs"
        return getattr(self._settings, _KEYS.get(parameter, parameter), None) is not None if parameter != "response_format" else False

    def _key(self, parameter: str) -> str:
        if parameter in self._settings.extra_body:
            return f"[{self._section}] extra_body.{parameter}"
        key = _KEYS.get(parameter, parameter)
        return f"[{self._section}] {key} = {getattr(self._settings, key)!r}" + (f" (sent as {parameter})" if key != parameter else "")


def _parameter(error: DeclinedError, sent: Mapping[str, Any]) -> str | None:
    """Which of the parameters that were sent a refusal is about: the one it names as such, else the one its words mention."""
    ours = [name for name in sent if name not in _NEVER]
    if error.parameter is not None:
        named = re.split(r"[.\[]", error.parameter)[0]
        if named in ours:
            return named
        if named in _NEVER:
            return None
    for name in sorted(ours, key=len, reverse=True):
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", error.words):
            return name
    return next((name for name in ours if name in _OTHER_WORDS and _OTHER_WORDS[name].search(error.words)), None)


def _worse(form: str, error: DeclinedError) -> str:
    """The next way to ask for a schema."""
    if error.status == 500 and form.startswith("json_schema"):
        return "json_object_schema"  # llama-cpp-python, which fails on json_schema and takes a schema here
    if form == "json_schema" and re.search(r"strict|is not permitted|invalid schema", error.words, re.IGNORECASE):
        return "json_schema_lax"
    return "none" if form == "json_object" else "json_object"
