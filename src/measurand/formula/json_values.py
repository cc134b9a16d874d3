"""Equality and likeness of JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from measurand.core.effort import still_time
from measurand.formula.edit import levenshtein_ratio


def json_equal(a: Any, b: Any) -> bool:
    """Equality of JSON values: numbers by value (1 equals 1.0), `true` is not 1, "1" is not 1, the order of keys does not matter, that of lists does."""
    return bool(a == b) and _same_kinds(a, b)


def _same_kinds(a: Any, b: Any) -> bool:
    """For values that Python calls equal: whether no true or false equals a number."""
    if isinstance(a, dict):
        return all(_same_kinds(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)):
        return all(map(_same_kinds, a, b))
    return (a is True or a is False) == (b is True or b is False)


def json_similarity(a: Any, b: Any) -> float:
    """How alike two JSON values are, in [0, 1]; symmetric.

    Objects: mean over the union of keys; lists: mean over positions, up to the longer one; a key or position that only one has: 0. Two empty ones: 1.
    Leaves: numbers max(0, 1 − |a−b| / max(|a|, |b|)), texts their Levenshtein ratio, others 1 if equal. Different kinds: 0.
    """
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        keys = {**a, **b}
        return sum(json_similarity(a[key], b[key]) for key in keys if key in a and key in b) / len(keys) if keys else 1.0
    if isinstance(a, str) and isinstance(b, str):
        still_time()
        return levenshtein_ratio(a, b)
    if _is_list(a) and _is_list(b):
        longer = max(len(a), len(b))
        return sum(map(json_similarity, a, b)) / longer if longer else 1.0
    if _is_number(a) and _is_number(b):
        return number_similarity(a, b)
    return float(type(a) is type(b) and a == b)


def number_similarity(a: float, b: float) -> float:
    """max(0, 1 − |a−b| / max(|a|, |b|)), in [0, 1]; two zeros: 1."""
    if a == b:
        return 1.0
    from fractions import Fraction

    exact_a, exact_b = Fraction(a), Fraction(b)
    return max(0.0, float(1 - abs(exact_a - exact_b) / max(abs(exact_a), abs(exact_b))))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
