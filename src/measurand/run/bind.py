"""The instruments of a plan: which [models.X] and [embeddings.Y] serve which metric, what of them is part of a signature, and what keeps them from being asked.

Nothing is opened and nothing is sent. Only metrics that ask need instruments: for a selection of code metrics all of this is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, field, frozen

from measurand.config import EmbeddingSettings, ModelSettings, Settings
from measurand.config.runtimes import WITHOUT_LOGPROBS
from measurand.core.errors import Problem
from measurand.core.instance import Instance
from measurand.run.reachable import reachable
from measurand.runtime.prices import Price, price_of

_SAMPLING: Final = frozenset(
    {
        "top_p", "top_k", "min_p", "typical_p", "seed", "frequency_penalty", "presence_penalty", "repeat_penalty", "repetition_penalty", "mirostat",
        "reasoning", "reasoning_effort", "thinking", "enable_thinking", "chat_template_kwargs", "verbosity",
    }
)  # fmt: skip
"""Keys of `extra_body` that say how a model samples, and therefore stand in a signature."""


_TEXTS: Final = frozenset({"Split", "Write"})
"""Requests that are answered by writing texts."""


@frozen(eq=False)
class BoundModel:
    """A judge or an embedding model that some metric of the plan asks."""

    name: str
    """As the config names it: [models.NAME] or [embeddings.NAME]."""
    settings: ModelSettings | EmbeddingSettings
    price: Price | None
    """USD per million tokens, None where it is not known."""
    alone: bool = True
    """Whether some metric asks it by itself, not only together with others, which is always the sampled way."""

    @property
    def is_judge(self) -> bool:
        """Whether it is a [models.NAME]."""
        return isinstance(self.settings, ModelSettings)

    @property
    def key(self) -> tuple[str, str]:
        """Where the config has it."""
        return ("models" if self.is_judge else "embeddings"), self.name

    @property
    def needs_probe(self) -> bool:
        """Whether a run has to find out where its probabilities come from."""
        settings = self.settings
        return self.alone and isinstance(settings, ModelSettings) and settings.p != "sampled" and settings.provider not in WITHOUT_LOGPROBS


@frozen(eq=False)
class Bound:
    """The instances of a plan with the instruments' part of their signatures, the models that serve them, and every problem."""

    instances: tuple[Instance, ...]
    judges: Mapping[str, BoundModel] = field(factory=dict)
    embeddings: Mapping[str, BoundModel] = field(factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def models(self) -> tuple[BoundModel, ...]:
        """Judges, then embedding models."""
        return (*self.judges.values(), *self.embeddings.values())


def asks(one: Instance) -> bool:
    """Whether the instance needs an instrument."""
    return one.metric.judge or one.metric.embedder


def bind(instances: Sequence[Instance], settings: Settings, environ: Mapping[str, str]) -> Bound:
    """The instruments of the instances. All problems are collected; instances without an instrument keep an empty signature part."""
    if not any(map(asks, instances)):
        return Bound(tuple(instances))
    alone = {name for one in instances if one.ask != "together" for name in one.judge}
    judges = {
        name: _bound(name, settings.models[name], alone=name in alone)
        for name in _names(name for one in instances for name in one.judge)
        if name in settings.models
    }
    embeddings = {
        name: _bound(name, settings.embeddings[name]) for name in _names(one.embedding for one in instances if one.embedding) if name in settings.embeddings
    }
    signed = _signed(instances, judges, embeddings)
    problems = [*_unbound(instances, settings)]
    for model in (*judges.values(), *embeddings.values()):
        if settings.run.mode != "replay":
            problems += reachable(settings, model.key, model.settings, environ)
            problems += _unpriced(settings, model)
    for judge in judges.values():
        problems += [*_incapable(judge, instances, settings), *_of_one_family(judge, settings)]
    return Bound(signed, judges, embeddings, tuple(dict.fromkeys(problems)))


def _bound(name: str, settings: ModelSettings | EmbeddingSettings, *, alone: bool = True) -> BoundModel:
    return BoundModel(name, settings, price_of(settings), alone)


def _names(names: Iterator[Any]) -> list[str]:
    return list(dict.fromkeys(names))


# ---------------------------------------------------------------- signatures


def _signed(instances: Sequence[Instance], judges: Mapping[str, BoundModel], embeddings: Mapping[str, BoundModel]) -> tuple[Instance, ...]:
    from measurand.run.asking.waves import class_hashes, class_of

    hashes = class_hashes(dict(enumerate(instances)))

    def parts(one: Instance) -> Iterator[str]:
        if one.judge:
            found = [judges[name].settings for name in one.judge if name in judges]
            yield "judge:" + "+".join(each.model for each in found)
            sampled = list(dict.fromkeys(_sampling(each) for each in found))
            if any(sampled):
                yield "t:" + "+".join(each or "-" for each in sampled)
        if one.embedding in embeddings:
            yield f"embed:{embeddings[one.embedding or ''].settings.model}"
        if one.judge:
            yield f"draws:{one.draws}"
            yield f"ask:together:{hashes[class_of(one)]}" if one.ask == "together" else "ask:separately"
            yield f"prompt:{_prompt(one)}"

    return tuple(evolve(one, signed=_in_order(list(parts(one)))) if asks(one) else one for one in instances)


def _in_order(parts: list[str]) -> tuple[str, ...]:
    """The parts in the order of the contract: judge, embed, t, then the rest as it stands."""
    rank = {"judge": 0, "embed": 1, "t": 2}
    return tuple(sorted(parts, key=lambda part: rank.get(part.partition(":")[0], len(rank))))


def _sampling(settings: ModelSettings | EmbeddingSettings) -> str:
    """Every sampling parameter that was set: the temperature, then those of `extra_body` by name."""
    import json

    temperature = getattr(settings, "temperature", None)
    further = {key: value for key, value in settings.extra_body.items() if key in _SAMPLING}
    said = [f"{key}={json.dumps(value, sort_keys=True, ensure_ascii=False)}" for key, value in sorted(further.items())]
    return ",".join(([] if temperature is None else [f"{temperature:g}"]) + said)


def _prompt(one: Instance) -> str:
    from measurand.judge import prompt_hash

    return prompt_hash(one.metric.judged) if one.metric.judged is not None else prompt_hash()


# ---------------------------------------------------------------- problems


def _unbound(instances: Sequence[Instance], settings: Settings) -> Iterator[Problem]:
    """The metrics that ask somebody nobody was named for. Nothing is ever chosen implicitly."""
    for key, section, what, without, missing in (
        ("judge", "models", "a judge", "llm-based", [one for one in instances if one.metric.judge and not one.judge]),
        ("embedding", "embeddings", "an embedding model", "embedding-based", [one for one in instances if one.metric.embedder and not one.embedding]),
    ):
        if not missing:
            continue
        known = list(getattr(settings, section))
        names = ", ".join(one.name for one in missing[:4]) + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        say = f'write {key} = "{known[0] if len(known) == 1 else "NAME"}" under [run]'
        there = f"there are: {', '.join(known[:20])}" if known else f'and a table [{section}.NAME] with provider = "…" and model = "…"'
        hint = f"{say}; {there}"
        if any(not one.named for one in missing):
            hint += f'; without them: "category:… & !{without}"'
        message = f"{names} {'asks' if len(missing) == 1 else 'ask'} {what}, and none is named"
        yield Problem(f"no_{key}", settings.where(("run", key)), message, hint)


def _unpriced(settings: Settings, model: BoundModel) -> Iterator[Problem]:
    if settings.run.budget_usd is None or model.price is not None:
        return
    price = "{ input = …, output = … }" if model.is_judge else "{ input = … }"
    message = f"the price of {model.settings.model} is not known, so budget_usd cannot be kept"
    yield Problem("unpriced_model", settings.where(model.key), message, f"write price = {price} (USD per million tokens), or use budget_calls or budget_tokens")


def _incapable(judge: BoundModel, instances: Sequence[Instance], settings: Settings) -> Iterator[Problem]:
    """What the metrics, or the config, ask of a judge that it cannot do."""
    if judge.settings.provider in WITHOUT_LOGPROBS and getattr(judge.settings, "p", "auto") == "logprobs":
        message = f"{judge.settings.provider} has no log-probabilities"
        yield Problem("cannot_ask", settings.where((*judge.key, "p")), message, 'write p = "sampled", or leave it out')
    if judge.settings.provider != "systemone":
        return
    where = settings.where((*judge.key, "provider"))
    using = [one for one in instances if judge.name in one.judge]
    texts = [one.name for one in using if one.metric.judged is not None and one.metric.judged.claims]
    if texts:
        message = f"systemone answers typed questions and writes no texts; {', '.join(texts)} needs claims to be extracted"
        yield Problem("cannot_ask", where, message, "name another judge for it: [metrics.NAME] judge")
    together = [one.name for one in using if one.ask == "together"]
    if together:
        message = f"systemone answers typed questions; {', '.join(together)} cannot be asked together"
        yield Problem("cannot_ask", where, message, 'write ask = "separately"')
    explained = [one.name for one in using if one.explain != "off" and one.judge[0] == judge.name]
    if explained:
        message = f"systemone answers typed questions and writes no texts; {', '.join(explained)} would be without reasons"
        yield Problem("cannot_ask", where, message, 'write explain = "off"')


def wants_texts(bound: Bound, kinds: Mapping[int, frozenset[str]], settings: Settings) -> list[Problem]:
    """The same of metrics that are generators: `kinds` are the requests that each was seen to make."""
    found = []
    for judge in bound.judges.values():
        writing = [bound.instances[index] for index, made in kinds.items() if made & _TEXTS]
        names = [one.name for one in writing if judge.name in one.judge and one.metric.judged is None]
        if judge.settings.provider == "systemone" and names:
            message = f"systemone answers typed questions and writes no texts; {', '.join(names)} needs some"
            found.append(Problem("cannot_ask", settings.where((*judge.key, "provider")), message, "name another judge for it: [metrics.NAME] judge"))
    return found


def _of_one_family(judge: BoundModel, settings: Settings) -> Iterator[Problem]:
    run, model = settings.run, judge.settings
    if run.allow_self_judging or not of_one_family(run.subject_family, getattr(model, "family", None), model.model):
        return
    message = f"{model.model} would judge its own family ({run.subject_family}: subject_family under [run])"
    hint = "name a judge of another family, or write allow_self_judging = true: every report then says so"
    yield Problem("self_judging", settings.where(judge.key), message, hint)


def of_one_family(subject: str | None, family: str | None, model: str) -> bool:
    """Whether a judge is of the subject's family; without `family` the first word of its name says it ("openai/gpt-5.4-mini": gpt)."""
    if subject is None:
        return False
    from measurand.runtime.model import family_of

    return subject.casefold() == (family or family_of(model) or "").casefold()
