"""Turns of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurand.core.record import Message


def answered_turns(messages: Sequence[Message]) -> list[bool]:
    """For each turn of the user, whether an assistant message with text follows before the user's next turn.

    User messages in a row are one turn, also with system messages between them; a message of the assistant or a tool ends it.
    """
    answered: list[bool] = []
    is_users_turn = False
    for message in messages:
        if message.role == "user":
            if not is_users_turn:
                answered.append(False)
            is_users_turn = True
        elif message.role in ("assistant", "tool"):
            is_users_turn = False
            if answered and message.role == "assistant" and message.content.strip():
                answered[-1] = True
    return answered
