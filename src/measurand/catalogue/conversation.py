"""Conversation and memory: is every user answered, and what was to be said said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurand.core.errors import UndefinedError
from measurand.core.metric import Score, metric
from measurand.core.taxonomy import MetricCategory
from measurand.formula.facts import missing_facts
from measurand.formula.turns import answered_turns

if TYPE_CHECKING:
    from measurand.core.record import Message


@metric(
    MetricCategory.Memory | MetricCategory.Conversation | MetricCategory.Correctness,
    source="facts found / facts, by whole-word containment",
    aka={
        "tau_bench.outputs": "is all or nothing, and finds 10 in 10:30",
        "ragas.StringPresence": "takes one text, minds case, and matches inside words and numbers too",
    },
    example={"output": "You are allergic to peanuts, and the budget is $1,000.", "facts": ["peanuts", "1000", "Tuesday"]},
)
def code_fact_recall(output: str, facts: list[str]) -> Score[float]:
    """Share of the facts that the output states, in their own words.

    Facts found / facts. A fact is found where it occurs as whole words and whole numbers, without case, spacing and punctuation around words:
    "10" is not in "10:30", "cat" not in "category". Numbers are equal by value: 1,000 is 1000, 2.50 is 2.5 (and version 3.10 is 3.1); signs, per cent and
    currency signs stay. Articles count, and so does the order of words. In scripts written without spaces any place counts.
    A fact listed twice counts twice. The details name the facts that are missing.
    Use it for memory probes and checklists of names, numbers and short phrases.
    Not when a fact may be said in other words, nor to see that one is denied: "not peanuts" holds "peanuts".
    Empty: an empty output: 0; no facts: not defined. A fact of nothing but punctuation or white space is an invalid field.
    """
    if not facts:
        raise UndefinedError("there are no facts to look for: 0/0", "facts")
    missing = missing_facts(facts, output)
    return Score((len(facts) - len(missing)) / len(facts), {"missing": missing} if missing else {})


@metric(
    MetricCategory.Conversation,
    source="user turns answered / user turns",
    example={
        "messages": [
            {"role": "user", "content": "Where is my parcel?"},
            {"role": "assistant", "content": "In Lund."},
            {"role": "user", "content": "When will it be here?"},
            {"role": "assistant", "content": ""},
        ]
    },
)
def code_response_rate(messages: list[Message]) -> Score[float]:
    """Share of the user's turns that the assistant answered with text.

    User turns answered / user turns. User messages that follow each other are one turn; system messages between them do not part them, any message of the
    assistant or a tool does. A turn is answered when an assistant message before the next one has text that is not blank, beside tool calls too; tool calls
    without text and tool results are no answer. A user message without text (a picture) is a turn like any other, and so is the last word of a user who ends
    the conversation ("###STOP###" of simulated users): cut it off where it wants no answer.
    The details hold the number of turns, and which went unanswered, counted from 0.
    Use it to find dropped turns: time-outs, empty generations, agents that act and say nothing.
    Not when it matters what the answer says.
    Empty: no message, or none of a user: not defined.
    """
    answered = answered_turns(messages)
    if not answered:
        raise UndefinedError("no message is a user's: there is nothing to answer", "messages")
    unanswered = [turn for turn, is_answered in enumerate(answered) if not is_answered]
    return Score(sum(answered) / len(answered), {"user_turns": len(answered), "unanswered": unanswered})
