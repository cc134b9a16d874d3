"""Per task: what c successes in K trials say about the next trials."""

from __future__ import annotations

import numpy as np

from measurand.stats.arrays import Codes, Floats


def pass_at_k(trials: Codes, successes: Codes, k: int) -> Floats:
    """The chance that at least one of k trials, drawn from a task's K without replacement, is a success: 1 − C(K−c, k)/C(K, k), by task.

    Source: Chen et al. 2021, Evaluating large language models trained on code, arXiv:2107.03374.

    Raises:
        ValueError: k is less than 1 or more than a task's number of trials.
    """
    return 1.0 - pass_hat_k(trials, trials - successes, k)


def pass_hat_k(trials: Codes, successes: Codes, k: int) -> Floats:
    """The chance that all of k trials, drawn from a task's K without replacement, are a success (pass^k): C(c, k)/C(K, k), by task.

    Source: Yao et al. 2024, τ-bench: a benchmark for tool-agent-user interaction in real-world domains, arXiv:2406.12045.

    Raises:
        ValueError: k is less than 1 or more than a task's number of trials.
    """
    fewest = int(trials.min()) if trials.size else k
    if not 1 <= k <= fewest:
        raise ValueError(f"k = {k}: 1 to {fewest}, the fewest trials of a task, are allowed")
    chance = np.ones(trials.size)
    for drawn in range(k):
        chance *= np.maximum(successes - drawn, 0) / (trials - drawn)
    return chance


def flip_probability(trials: Codes, successes: Codes) -> Floats:
    """The chance that two of a task's trials differ: 2c(K−c)/(K(K−1)), by task; every task has 2 trials or more."""
    return np.asarray(2.0 * successes * (trials - successes) / (trials * (trials - 1)), dtype=np.float64)


def flaky(trials: Codes, successes: Codes) -> Floats:
    """1 for each task that both succeeded and failed, else 0."""
    return ((successes > 0) & (successes < trials)).astype(np.float64)
