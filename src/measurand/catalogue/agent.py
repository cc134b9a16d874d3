"""Agents, judged: did it reach the goal, how far did it get."""

from __future__ import annotations

from typing import Final

from measurand.core.judged import judged
from measurand.core.metric import same
from measurand.core.taxonomy import MetricCategory

_REFUND: Final = {
    "input": "Refund order 4471 and notify the customer.",
    "output": "Notified customer; refund pending approval.",
    "expected": "Refund issued and customer notified.",
}

llm_agent_goal = judged(
    "llm_agent_goal",
    MetricCategory.Agentic,
    ask=(
        "Judging by `output` (and `messages?`), did the agent achieve the goal in `input`? `expected?` describes success. "
        "Only the whole goal counts: pending, promised or partly done is not achieved."
    ),
    source="defined here after ragas, agent goal accuracy: p(yes) of one closed question",
    example=_REFUND,
    aka={
        "agent_goal": same,
        "ragas.AgentGoalAccuracyWithReference": "a verdict of 0 or 1: end state and reference compared, both inferred by the judge first",
        "ragas.AgentGoalAccuracyWithoutReference": "a verdict of 0 or 1: the goal is inferred from the conversation, here it is `input`",
        "ragas.agent_goal_accuracy": "a verdict of 0 or 1, on a goal and end state that the judge infers first; here p(yes) of one question",
        "deepeval.TaskCompletionMetric": "how far the task was done, 0 to 1, as the judge writes it (see `llm_task_completion`)",
        "azure.TaskCompletionEvaluator": "true or false, for the whole task, from the conversation and its tool definitions",
    },
    doc="""Probability that the agent achieved the user's goal.

    p(yes) of one closed question over the goal (`input`), the final output, the trajectory (`messages`) and the definition of success (`expected`)
    where they are there. The threshold is 0.5 and yours to move.
    Use it for end-to-end success rates, when the path does not matter.
    Not when partial progress counts (see `llm_task_completion`), when refusing is right (a goal that is rightly refused is not achieved), or when the
    environment itself says how it ended (see `code_terminal_success`).
    Empty: a blank output is judged as it is, for the trajectory may show success; an empty trajectory is shown as empty; `input` and `expected` empty
    count as missing. An agent that claims success without evidence can fool any judge: give `messages` with the tools' results.
    """,
)

llm_task_completion = judged(
    "llm_task_completion",
    MetricCategory.Agentic,
    ask=(
        "Judging by `output` (and `messages?`), how much of the task in `input` did the agent complete? `expected?` describes completion. "
        "Pending or promised is not done."
    ),
    levels=(
        "nothing is done",
        "less than half is done",
        "half or more is done, but not all",
        "all is done",
    ),
    source="defined here: expected level of a scale with four described levels / 3",
    example=_REFUND,
    aka={
        "task_completion": same,
        "deepeval.TaskCompletionMetric": "a number from 0 to 1 as the judge writes it, for a task and outcome that it infers first",
        "azure.TaskCompletionEvaluator": "true or false (see `llm_agent_goal`)",
    },
    doc="""How much of the task the agent completed, on a scale of four levels.

    Expected level / 3: Σ level · p(level) / 3, the levels described from 0 (nothing is done) to 3 (everything is done). `probabilities` has the
    distribution, `label` the likeliest level.
    Use it when partial progress should count.
    Not for a success rate (see `llm_agent_goal`), or for how well the path was chosen (see `code_trajectory_in_order`).
    Empty: a blank output is judged as it is, for the trajectory may show progress; an empty trajectory is shown as empty; `input` and `expected` empty
    count as missing.
    """,
)
