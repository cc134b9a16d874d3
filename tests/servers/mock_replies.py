"""The mock server's chat replies and embeddings: pure functions of the request, the settings and the fault."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import re
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.servers.mock_schema import Filler
from tests.servers.mock_settings import Answer, Settings
from tests.servers.mock_text import asks_for_numbers, count_tokens, labels, message_text, numbered_items, pieces, schema_in, schema_told, wrapped

Json = dict[str, Any]
PROSE: Final = "I think the answer is broadly fine, although some parts could be better."
LOOSE: Final = "Sure! I would give it a 7."
MOST_TOP: Final = 20


@dataclass(frozen=True)
class Counted:
    """A reply's JSON with the tokens it is charged."""

    reply: Json
    prompt_tokens: int
    completion_tokens: int
    schema_tokens: int = 0


def unit(key: str, seed: int = 0) -> float:
    """A number in [0, 1) that depends on the key alone."""
    digest = hashlib.blake2b(f"{seed}:{key}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56


def prompt_tokens(body: Json) -> tuple[int, int]:
    """Tokens of the messages (4 more for each, 3 for the reply's start) and of the schema."""
    messages = body.get("messages", [])
    text = sum(count_tokens(message_text(one)) for one in messages)
    form = body.get("response_format") or {}
    schema = count_tokens(json.dumps(form["json_schema"])) if form.get("type") == "json_schema" else 0
    return text + 4 * len(messages) + 3, schema


class ChatReply:
    """The reply to one chat request."""

    def __init__(self, settings: Settings, body: Json, fault: str | None, answer: Answer | None) -> None:
        self._settings = settings
        self._body = body
        self._fault = fault
        self._answer = answer
        self._prompt = "\n".join(message_text(one) for one in body.get("messages", []))
        self._items = numbered_items(self._prompt)
        self._offered = labels(self._prompt)

    def counted(self) -> Counted:
        content = self._content()
        messages, schema = prompt_tokens(self._body)
        many = int(self._body.get("n") or 1)
        completion = count_tokens(content) * many
        reply: Json = {
            "id": f"chatcmpl-{int(unit(self._prompt) * 2**32):08x}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self._settings.model or self._body.get("model", "mock"),
            "choices": [self._choice(index, content) for index in range(many)],
            "system_fingerprint": self._settings.fingerprint,
        }
        cached = int((messages + schema) * self._settings.cached_share)
        reply |= usage_part(self._settings.usage, messages + schema, completion, cached)
        return Counted(reply, messages + schema, completion, schema)

    def _choice(self, index: int, content: str) -> Json:
        message: Json = {"role": "assistant", "content": content, "refusal": None}
        if self._fault == "refuse":
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        choice: Json = {"index": index, "message": message, "finish_reason": self._finish(), "logprobs": None}
        if self._body.get("logprobs"):
            most = min(int(self._body.get("top_logprobs") or 0), MOST_TOP)
            choice["logprobs"] = {"content": [self._token(*one, most) for one in self._distributions(content)], "refusal": None}
        return choice

    def _finish(self) -> str:
        if self._fault == "truncate":
            return "length"
        return self._answer.finish if self._answer else "stop"

    # ------------------------------------------------------------ text

    def _content(self) -> str:
        return spoiled(wrapped(self._plain(), self._settings.wrap), self._fault)

    def _plain(self) -> str:
        if self._answer is not None:
            return self._answer.reply if isinstance(self._answer.reply, str) else json.dumps(self._answer.reply)
        form = self._body.get("response_format") or {}
        schema = form["json_schema"].get("schema", {}) if form.get("type") == "json_schema" else form.get("schema") or self._schema_in_words()
        if self._settings.ignore_schema and (schema or form):
            return LOOSE
        if schema:
            return json.dumps(Filler(self._settings, self._prompt, self._says).filled(schema), ensure_ascii=False)
        if form.get("type") == "json_object":
            return json.dumps({"score": 1, "reason": "ok"})
        if asks_for_numbers(self._prompt):
            return "\n".join(f"{number}. {self._label(item)}" for number, item in enumerate(self._items, 1))
        return self._label("")

    def _schema_in_words(self) -> Mapping[str, Any] | None:
        return schema_in(self._prompt) or schema_told(self._prompt)

    def _label(self, item: str) -> str:
        if self._offered == ["yes", "no"]:
            return "yes" if self._says(item) else "no"
        if self._settings.score is not None:
            return f"{self._settings.score:g}"
        return self._offered[max(0, len(self._offered) - 2)]

    def _says(self, item: str) -> bool:
        return self._p_yes(item) >= 0.5

    def _p_yes(self, item: str) -> float:
        """The probability of yes for an item; "" is the whole question."""
        if self._settings.p_yes is not None:
            return self._settings.p_yes
        chance = unit(self._prompt + item, self._settings.seed)
        return {"yes": 0.8 + 0.18 * chance, "no": 0.2 - 0.18 * chance, "mixed": chance}[self._settings.verdict]

    # ------------------------------------------------------------ log-probabilities

    def _distributions(self, content: str) -> list[tuple[str, dict[str, float]]]:
        """Each piece of the reply with the probabilities of what could have stood there."""
        found: list[tuple[str, dict[str, float]]] = []
        items = iter(self._items if asks_for_numbers(self._prompt) else [""])
        for piece in pieces(content) or [""]:
            scripted = self._answer.top if self._answer is not None and not found else None
            found.append((piece, scripted or self._alternatives(piece, items, alone=piece == content, after=found[-1][0] if found else "")))
        return found

    def _alternatives(self, piece: str, items: Iterator[str], *, alone: bool, after: str) -> dict[str, float]:
        if piece.strip().lower() in {"yes", "no"}:
            return self._yes_no(piece, self._p_yes(next(items, "")))
        if piece.strip() in self._offered and (alone or after in {" ", ".", ". "}):
            return self._levels(piece)
        return {piece: 0.99, "The": 0.006, "It": 0.002}

    def _yes_no(self, piece: str, p: float) -> dict[str, float]:
        """Mass on both answers, each spread over two ways to write it, and a rest on other words."""
        space = " " if piece.startswith(" ") else ""
        mass, rest = self._settings.answer_mass, 1 - self._settings.answer_mass
        return {
            f"{space}yes": 0.9 * mass * p,
            f"{space}no": 0.9 * mass * (1 - p),
            f"{space}Yes": 0.1 * mass * p,
            f"{space}NO": 0.1 * mass * (1 - p),
            "The": 0.6 * rest,
            "It": 0.4 * rest,
        }

    def _levels(self, piece: str) -> dict[str, float]:
        space = " " if piece.startswith(" ") else ""
        weights = {one: 3.0 if one == piece.strip() else 0.3 * unit(self._prompt + one, self._settings.seed) for one in self._offered}
        total = sum(weights.values())
        return {f"{space}{one}": self._settings.answer_mass * weight / total for one, weight in weights.items()} | {"The": 1 - self._settings.answer_mass}

    @staticmethod
    def _token(piece: str, top: Mapping[str, float], most: int) -> Json:
        def entry(text: str, probability: float) -> Json:
            return {"token": text, "logprob": math.log(max(probability, 1e-40)), "bytes": list(text.encode())}

        likeliest = sorted(top.items(), key=lambda one: -one[1])[:most]
        return {**entry(piece, top.get(piece, 1e-9)), "top_logprobs": [entry(text, probability) for text, probability in likeliest]}


def spoiled(content: str, fault: str | None) -> str:
    """The reply's text with a fault in it."""
    how = _SPOILING.get(fault or "")
    return content if how is None else how(content)


def _one_fewer(content: str) -> str:
    try:
        value = json.loads(content)
    except ValueError:
        return content.rpartition("\n")[0]
    for part in value.values() if isinstance(value, dict) else ():
        if isinstance(part, list) and part:
            part.pop()
            break
    return json.dumps(value, ensure_ascii=False)


_ANSWER: Final = re.compile(
    r'(?<=[\[:.] )("?)(?:yes|no|true|false|[A-Z]|\d+(?:\.\d+)?)\1(?=\s*(?:[,\]}]|$))|(?<=\[)("?)(?:yes|no|true|false|\d+)\2(?=[,\]])|^(?:yes|no|[A-Z]|\d+)$',
    re.IGNORECASE | re.MULTILINE,
)
_SPOILING: Final[dict[str, Callable[[str], str]]] = {
    "truncate": lambda content: content[: max(1, len(content) // 2)],
    "malformed": lambda _: '{"unexpected": {"shape": [1, 2, 3]}}',
    "prose": lambda _: PROSE,
    "badjson": lambda content: content.replace('":', '" ', 1).replace("}", "", 1) if "{" in content else "{" + content,
    "nan": lambda content: _ANSWER.sub("NaN", content, count=1),
    "count": _one_fewer,
    "range": lambda content: _ANSWER.sub(lambda found: f"{found[1] or found[2] or ''}99{found[1] or found[2] or ''}", content, count=1),
    "empty": lambda _: "",
}


def usage_part(kind: str, prompt: int, completion: int, cached: int) -> Json:
    """The reply's `usage`, as whole as the settings want it."""
    if kind == "absent":
        return {}
    if kind == "null":
        return {"usage": None}
    if kind == "partial":
        return {"usage": {"prompt_tokens": prompt, "completion_tokens": None}}
    usage: Json = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    usage["prompt_tokens_details"] = {"cached_tokens": cached}
    if kind == "details":
        usage["completion_tokens_details"] = {"reasoning_tokens": min(1, completion)}
    return {"usage": usage}


# ---------------------------------------------------------------- embeddings


def embeddings(settings: Settings, body: Json) -> Counted:
    """A vector for each input, near to all others and different from them; a text always has the same one."""
    given = body.get("input", [])
    texts = [given] if isinstance(given, str) else [str(one) for one in given]
    coded = body.get("encoding_format") == "base64" and not settings.no_base64
    data: list[Json] = []
    for index, text in enumerate(texts):
        bad = next((how for pattern, how in settings.bad_embeddings.items() if re.search(pattern, text)), None)
        if bad != "missing":
            data.append(_entry(0 if bad == "duplicate" else index, _spoiled_vector(vector(text, settings.dim), bad), coded=coded))
    if settings.reversed_embeddings:
        data.reverse()
    tokens = sum(count_tokens(text) for text in texts)
    reply: Json = {"object": "list", "data": data, "model": settings.model or body.get("model", "mock-embed")}
    if settings.usage != "absent":
        reply["usage"] = None if settings.usage == "null" else {"prompt_tokens": tokens, "total_tokens": tokens}
    return Counted(reply, tokens, 0)


def vector(text: str, dim: int) -> list[float]:
    """The unit vector of a text: a common direction and half as much of its own."""
    own, common = random.Random(text), random.Random(7)
    values = [common.gauss(0, 1) + 0.5 * own.gauss(0, 1) for _ in range(dim)]
    norm = math.sqrt(sum(one * one for one in values))
    return [one / norm for one in values]


def _spoiled_vector(values: list[float], how: str | None) -> list[float]:
    if how == "zero":
        return [0.0] * len(values)
    if how == "nan":
        return [math.nan, *values[1:]]
    return values[:-1] if how == "short" else values


def _entry(index: int, values: list[float], *, coded: bool) -> Json:
    value: Any = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode() if coded else values
    return {"object": "embedding", "index": index, "embedding": value}
