"""Calls in short, and strategies for them."""

from __future__ import annotations

from hypothesis import strategies as st

from measurand.core.record import ExpectedToolCall, ToolCall

NAMES = st.sampled_from("abc")
ARGUMENTS = st.none() | st.dictionaries(st.sampled_from("xy"), st.sampled_from([1, 2]), max_size=2)


def called(names: str) -> list[ToolCall]:
    """`called("ab")`: a call of a, then one of b."""
    return [ToolCall(name) for name in names]


def wanted(names: str) -> list[ExpectedToolCall]:
    """`wanted("a[bc]d?")`: a, then b and c in any order, then perhaps d."""
    found: list[ExpectedToolCall] = []
    group: str | None = None
    for place, character in enumerate(names):
        if character == "[":
            group = f"group {place}"
        elif character == "]":
            group = None
        elif character != "?":
            found.append(ExpectedToolCall(character, group=group, optional=names[place + 1 : place + 2] == "?"))
    return found


CALLS = st.lists(st.builds(ToolCall, NAMES, ARGUMENTS), max_size=6)
ALTERNATIVES = st.just(()) | st.tuples(st.builds(ExpectedToolCall, NAMES, ARGUMENTS))
EXPECTED = st.lists(
    st.builds(
        ExpectedToolCall,
        NAMES,
        ARGUMENTS,
        alternatives=ALTERNATIVES,
        optional=st.booleans(),
        group=st.sampled_from([None, None, "g", "h"]),
    ),
    max_size=5,
)
STRANGER = ToolCall("nobody expects this one")
