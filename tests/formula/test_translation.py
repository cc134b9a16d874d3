from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from measurand.formula.translation import CORPUS_BLEU, CORPUS_CHRF, CORPUS_TER, CorpusScore, State, bleu, chrf, ter

LINES = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "Катя", "京都"]), min_size=1, max_size=8).map(" ".join)
ROWS = st.lists(st.tuples(LINES, LINES), min_size=1, max_size=6)


@pytest.mark.parametrize(("fold", "theirs"), [(CORPUS_BLEU, BLEU()), (CORPUS_CHRF, CHRF()), (CORPUS_TER, TER())], ids=["bleu", "chrf", "ter"])
@given(rows=ROWS, cut=st.integers(0, 6))
def test_the_corpus_value_is_sacrebleu_s_wherever_the_rows_are_cut(fold: CorpusScore, theirs: BLEU | CHRF | TER, rows: list[tuple[str, str]], cut: int) -> None:
    def state(some: list[tuple[str, str]]) -> State:
        total = fold.zero()
        for output, reference in some:
            total = fold.add(total, output, [reference])
        return total

    value = fold.value(fold.merge(state(rows[:cut]), state(rows[cut:])))
    expected = theirs.corpus_score([output for output, _ in rows], [[reference for _, reference in rows]]).score
    assert value is not None
    assert 100 * value == pytest.approx(expected, abs=1e-9)


@given(st.text(max_size=40), st.text(max_size=40))
def test_range_on_any_text(output: str, reference: str) -> None:
    assert 0 <= bleu(output, [reference]).value <= 100 + 1e-9
    assert 0 <= chrf(output, [reference]).value <= 100 + 1e-9
    assert ter(output, [reference]).value >= 0


@given(st.text(max_size=40))
def test_identity_is_the_best(text: str) -> None:
    assert chrf(text, [text]).value == pytest.approx(100)
    assert ter(text, [text]).value == 0


def test_signatures_name_the_settings() -> None:
    assert bleu("a", ["a", "b"]).signature.startswith("nrefs:2|case:mixed|eff:yes|tok:13a|smooth:exp|version:")
    assert chrf("a", ["a"]).signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")
    assert ter("a", ["a"]).signature.startswith("nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:")
