from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.folds import AveragePrecision, ExpectedValue, Share, Worst, average_precision, expected_value, f_beta, share, worst
from measurand.formula.overlap import weighted_f

PROBABILITIES = st.lists(st.floats(0.0, 1.0), max_size=20)
VERDICTS = st.lists(st.sampled_from([0.0, 1.0]), max_size=20)
OneList = Share | ExpectedValue | AveragePrecision | Worst
ONE_LIST: list[OneList] = [share("yes"), share("no"), expected_value, average_precision, worst("yes"), worst("no")]


@pytest.mark.parametrize("fold", ONE_LIST, ids=lambda fold: fold.name)
def test_no_verdicts_fold_to_nothing(fold: OneList) -> None:
    assert fold([]) is None


def test_names_are_told_apart() -> None:
    names = [*(fold.name for fold in ONE_LIST), f_beta(1).name, f_beta(0.5).name]
    assert names == ["share", "share(no)", "expected_value", "average_precision", "worst", "worst(no)", "f_beta(1)", "f_beta(0.5)"]


def test_folds_are_values() -> None:
    assert share("yes") == share()
    assert share("no") != share("yes")
    assert repr(f_beta(2)) == "FBeta(beta=2)"


@pytest.mark.parametrize(
    ("verdicts", "yes", "no"),
    [([1, 0, 0, 1], 0.5, 0.5), ([1, 1, 1], 1.0, 0.0), ([0.9, 0.3], 0.6, 0.4)],
)
def test_share_is_linear(verdicts: list[float], yes: float, no: float) -> None:
    assert share("yes")(verdicts) == pytest.approx(yes)
    assert share("no")(verdicts) == pytest.approx(no)


def test_expected_value_is_the_mean_not_the_first_or_last() -> None:
    assert expected_value([0.6, 0.2]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [
        ([0, 1], 1 / 2),
        ([1, 0], 1.0),
        ([0, 0], 0.0),
        ([1, 0, 1], (1 + 2 / 3) / 2),
        ([0, 0, 1], 1 / 3),
        ([0.9, 0.49, 0.5], (1 + 2 / 3) / 2),
    ],
)
def test_average_precision_over_what_was_retrieved(verdicts: list[float], value: float) -> None:
    assert average_precision(verdicts) == pytest.approx(value)


@pytest.mark.parametrize(("verdicts", "value"), [([1, 1], 1.0), ([1, 0], 0.0), ([0.5, 0.9], 1.0), ([0.49, 0.9], 0.0)])
def test_worst_is_good_only_when_all_are(verdicts: list[float], value: float) -> None:
    assert worst("yes")(verdicts) == value


def test_worst_of_no_is_good_when_none_is_yes() -> None:
    assert worst("no")([0.1, 0.2]) == 1.0
    assert worst("no")([0.1, 0.5]) == 0.0


def test_f_beta_of_two_lists() -> None:
    # P = 1/2, R = 1: F1 = 2/3, F2 = 5·0.5/(4·0.5 + 1) = 5/6, F0.5 = 1.25·0.5/(0.25·0.5 + 1) = 5/9
    assert f_beta(1)([1, 0], [1, 1]) == pytest.approx(2 / 3)
    assert f_beta(2)([1, 0], [1, 1]) == pytest.approx(5 / 6)
    assert f_beta(0.5)([1, 0], [1, 1]) == pytest.approx(5 / 9)
    assert f_beta(1)([0], [0]) == 0.0
    assert f_beta(1)([], [1]) == 0.0
    assert f_beta(1)([1], []) == 0.0
    assert f_beta(1)([], []) is None


@pytest.mark.parametrize("beta", [0.0, -1.0, float("nan")])
def test_beta_is_positive(beta: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        f_beta(beta)


@given(PROBABILITIES.filter(bool))
def test_folds_stay_within_0_and_1(verdicts: list[float]) -> None:
    for fold in ONE_LIST:
        value = fold(verdicts)
        assert value is not None
        assert -1e-12 <= value <= 1 + 1e-12


@given(VERDICTS.filter(bool))
def test_linear_and_branching_agree_on_certain_verdicts(verdicts: list[float]) -> None:
    assert share("yes")(verdicts) == expected_value(verdicts) == sum(verdicts) / len(verdicts)
    assert worst("yes")(verdicts) == min(verdicts)
    assert worst("no")(verdicts) == 1 - max(verdicts)


@given(st.floats(0.001, 1), st.floats(0.001, 1), st.floats(0.1, 10))
def test_f_lies_between_precision_and_recall(precision: float, recall: float, beta: float) -> None:
    value = weighted_f(precision, recall, beta)
    assert min(precision, recall) - 1e-12 <= value <= max(precision, recall) + 1e-12
