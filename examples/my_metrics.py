"""Metrics of one's own, in a file. Try them:

metrics list --load examples/my_metrics.py --search my.
metrics run --load examples/my_metrics.py --metric my.handed_over --metric my.longest_silence
"""

from __future__ import annotations

from measurand import MetricCategory, metric
from measurand.core.record import Message, ToolCall


@metric("my.handed_over", categories=MetricCategory.Agentic, direction="none")
def handed_over(tool_calls: list[ToolCall], *, tool: str = "transfer_to_human_agents") -> bool:
    """The agent handed the customer over to a person."""
    return any(call.name == tool for call in tool_calls)


@metric("my.longest_silence", categories=MetricCategory.Agentic, direction="lower")
def longest_silence(messages: list[Message]) -> int:
    """The most tool calls in a row without a word to the customer."""
    longest = running = 0
    for message in messages:
        if message.role == "assistant":
            running = (0 if message.content else running) + len(message.tool_calls)
            longest = max(longest, running)
    return longest
