"""How alike the trials of one task are, beside the tasks' differences."""

from __future__ import annotations

import numpy as np

from measurand.stats.arrays import Codes, Floats, dense, same_length
from measurand.stats.means import deviations, group_means, mean, unit_exponent


def icc1(scores: Floats, groups: Codes) -> float | None:
    """The intraclass correlation ICC(1) of one-way analysis of variance; groups may differ in size.

    (MSB − MSW) / (MSB + (k0−1)·MSW), k0 = (N − ΣK_i²/N)/(n−1), of n groups with K_i of N rows. At most 1; it is negative where rows of one group
    differ more than rows of different ones (read that as 0 in a design effect). None: nothing varies, one group, or no group has two rows.
    Source: Shrout & Fleiss 1979, Intraclass correlations: uses in assessing rater reliability, Psychological Bulletin 86(2), 420-428; k0 as
    in Donner & Koval 1980, The estimation of intraclass correlation in the analysis of family data, Biometrics 36(1), 19-25.

    Raises:
        ValueError: arrays of different length.
    """
    same_length(scores, groups=groups)
    codes = dense(groups)
    sizes = np.bincount(codes).astype(np.float64)
    total, several = scores.size, int(np.count_nonzero(sizes))
    if several < 2 or several == total or scores.min() == scores.max():
        return None
    exponent = unit_exponent(scores)
    values = np.ldexp(scores, -exponent) if exponent else scores
    means = group_means(values, codes, sizes)
    between = float(np.dot(sizes, (means - mean(values)) ** 2)) / (several - 1)
    residuals = deviations(values, means, codes)
    within = float(np.dot(residuals, residuals)) / (total - several)
    k0 = (total - float(np.dot(sizes, sizes)) / total) / (several - 1)
    return (between - within) / (between + (k0 - 1.0) * within)
