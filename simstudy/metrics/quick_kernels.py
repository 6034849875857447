"""Compiled gains in single precision, many times as fast as `Metric.score`, with a bound of their errors.

Two systems swap some units. Then the first has total_i + m, where m are the second's statistics of these units less
the first's, and the second has total_j - m. Each kernel fills gains (P, T), the score of the one less that of the
other, for P pairs and T <= WIDTH shuffles. It is given picked (K, S * WIDTH), the systems' statistics of the units that
are swapped, totals (K, S), and the pairs as positions of systems. All are whole numbers below 2^24, which single
precision holds exactly.

The bound of a score's error counts the roundings of its formula, each of the best score. Loops have few arrays, so that
they run on all lanes.
"""

from __future__ import annotations

import numpy as np

from simstudy.compiled import compiled

#: The most shuffles that a kernel looks at together: the statistics of two systems stay in the first-level cache.
WIDTH = 256

#: The largest part of a number that its rounding to single precision takes or adds.
ROUNDING = 2.0**-24

_ZERO, _ONE, _HUNDRED = np.float32(0), np.float32(1), np.float32(100)
_HALF, _EIGHTH, _SIXTY_FOURTH = np.float32(1 / 2), np.float32(1 / 8), np.float32(1 / 64)

# exp(x) = 2^n exp(r): ln 2 in two parts, the first with few digits, so that n times it is exact.
_LOG2_E, _LN2_HIGH, _LN2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
_C3, _C4, _C5, _C6, _C7 = (np.float32(1 / k) for k in (6, 24, 120, 720, 5040))
_LEAST_EXPONENT = np.float32(-80)

# 1 less 4/3: of a text with 3/4 of the wanted length.
_SHORT = np.float32(-1 / 3)

# Divides instead of 0: less than any denominator.
_LEAST = np.float32(1e-30)

# Divisions by 0 are no error, as in numpy: a test of each would keep loops from running on all lanes.
_compiled = compiled(error_model="numpy")


@compiled(inline=True)
def _exp(x):
    """exp(x) for x <= 0, with a relative error of less than 3 roundings."""
    x = max(x, _LEAST_EXPONENT)
    n = np.floor(x * _LOG2_E + _HALF)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return _series(r) * power


@compiled(inline=True)
def _series(r):
    """exp(r) for abs(r) <= 0.35, with a relative error of less than 2 roundings."""
    return _ONE + r * (_ONE + r * (_HALF + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * _C7))))))


@compiled(inline=True)
def _ten(counts):
    return (
        counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6], counts[7], counts[8], counts[9],
    )  # fmt: skip


@compiled(inline=True)
def _plus(x, y):
    return (
        x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4],
        x[5] + y[5], x[6] + y[6], x[7] + y[7], x[8] + y[8], x[9] + y[9],
    )  # fmt: skip


@compiled(inline=True)
def _minus(x, y):
    return (
        x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3], x[4] - y[4],
        x[5] - y[5], x[6] - y[6], x[7] - y[7], x[8] - y[8], x[9] - y[9],
    )  # fmt: skip


@compiled(inline=True)
def _at(rows, t):
    """All ten statistics in shuffle t."""
    return (
        rows[t], rows[WIDTH + t], rows[2 * WIDTH + t], rows[3 * WIDTH + t], rows[4 * WIDTH + t],
        rows[5 * WIDTH + t], rows[6 * WIDTH + t], rows[7 * WIDTH + t], rows[8 * WIDTH + t], rows[9 * WIDTH + t],
    )  # fmt: skip


@compiled(inline=True, error_model="numpy")
def _bleu(counts):
    """The hundredth of a BLEU score, of 4 correct and 4 total counts, the text's and the reference's length."""
    c1, c2, c3, c4, t1, t2, t3, t4, length, wanted = counts
    found = (max(c1, _ONE) * max(c2, _ONE)) * (max(c3, _ONE) * max(c4, _ONE))
    # Orders that have a match; the others as in `simstudy.metrics.bleu`.
    n = (min(c1, _ONE) + min(c2, _ONE)) + (min(c3, _ONE) + min(c4, _ONE))
    smoothed = _ONE if n > 3 else (_HALF if n > 2 else (_EIGHTH if n > 1 else (_SIXTY_FOURTH if n > 0 else _ZERO)))
    possible = (t1 * t2) * (t3 * t4)
    precision = found * smoothed / possible if possible > 0 else _ZERO
    return np.sqrt(np.sqrt(precision)) * _exp(min(_ONE - wanted / max(length, _ONE), _ZERO))


@compiled(inline=True, error_model="numpy")
def _usual_bleu(counts):
    """The same, and whether it is a usual one: each order has a match, the text 3/4 of the wanted length or more."""
    c1, c2, c3, c4, t1, t2, t3, t4, length, wanted = counts
    x = min(_ONE - wanted / length, _ZERO)
    score = np.sqrt(np.sqrt(((c1 * c2) * (c3 * c4)) / ((t1 * t2) * (t3 * t4)))) * _series(x)
    return score, (min(min(c1, c2), min(c3, c4)) >= _ONE) & (x >= _SHORT)


@_compiled
def bleu(picked, totals, pairs, gains):
    """BLEU. A score's error is less than 8 roundings of 100.

    Usual scores need half as long. If all of a pair's are, they are the gains.
    """
    better, worse = pairs
    for p in range(len(better)):
        a, b, gain = picked[better[p]], picked[worse[p]], gains[p]
        i, j = _ten(totals[better[p]]), _ten(totals[worse[p]])
        n_usual = np.int32(0)
        for t in range(gains.shape[1]):
            moved = _minus(_at(b, t), _at(a, t))
            one, is_usual = _usual_bleu(_plus(i, moved))
            other, of_other = _usual_bleu(_minus(j, moved))
            n_usual = np.int32(n_usual + np.int32(is_usual & of_other))
            gain[t] = _HUNDRED * (one - other)
        if n_usual < gains.shape[1]:
            for t in range(gains.shape[1]):
                moved = _minus(_at(b, t), _at(a, t))
                gain[t] = _HUNDRED * (_bleu(_plus(i, moved)) - _bleu(_minus(j, moved)))


@_compiled
def chrf(picked, totals, pairs, gains):
    """F with beta 2 of means over orders: matches, n-grams of the text and of the reference for each order.

    A score's error is at most 3 n + 13 roundings of 100, with n orders.
    """
    better, worse = pairs
    n_orders = totals.shape[1] // 3
    # Of both systems: the sums of precisions and of recalls, and the number of orders that count.
    parts = np.empty(6 * WIDTH, np.float32)
    for p in range(len(better)):
        i, j = totals[better[p]], totals[worse[p]]
        parts[:] = 0
        for order in range(n_orders):
            text, wanted = n_orders + order, 2 * n_orders + order
            match_a, match_b = _rows(picked, pairs, p, order)
            text_a, text_b = _rows(picked, pairs, p, text)
            wanted_a, wanted_b = _rows(picked, pairs, p, wanted)
            match_i, text_i, wanted_i = i[order], i[text], i[wanted]
            match_j, text_j, wanted_j = j[order], j[text], j[wanted]
            for t in range(gains.shape[1]):
                matches, longer = match_b[t] - match_a[t], text_b[t] - text_a[t]
                more = wanted_b[t] - wanted_a[t]
                one, other = match_i + matches, match_j - matches
                length, of_length = text_i + longer, text_j - longer
                whole, of_whole = wanted_i + more, wanted_j - more
                parts[4 * WIDTH + t] += min(min(length, whole), _ONE)
                parts[5 * WIDTH + t] += min(min(of_length, of_whole), _ONE)
                length, of_length = max(length, _ONE), max(of_length, _ONE)
                whole, of_whole = max(whole, _ONE), max(of_whole, _ONE)
                # One division for two ratios.
                of_texts, of_references = _ONE / (length * of_length), _ONE / (whole * of_whole)
                parts[t] += one * of_length * of_texts
                parts[WIDTH + t] += other * length * of_texts
                parts[2 * WIDTH + t] += one * of_whole * of_references
                parts[3 * WIDTH + t] += other * whole * of_references
        gain = gains[p]
        for t in range(gains.shape[1]):
            one = _f(parts[t], parts[2 * WIDTH + t], parts[4 * WIDTH + t])
            other = _f(parts[WIDTH + t], parts[3 * WIDTH + t], parts[5 * WIDTH + t])
            gain[t] = np.float32(500) * (one - other)


@compiled(inline=True)
def _f(precision, recall, common):
    return precision * recall / max((np.float32(4) * precision + recall) * common, _LEAST)


@compiled(inline=True)
def _rows(picked, pairs, p, s):
    """Statistic s of the units that are swapped, of both systems of pair p."""
    better, worse = pairs
    return picked[better[p], s * WIDTH : (s + 1) * WIDTH], picked[worse[p], s * WIDTH : (s + 1) * WIDTH]


@_compiled
def macro_f1(picked, totals, pairs, gains):
    """The mean F1 of classes, given how often each is right, predicted and gold.

    A score's error is less than 8 roundings of 100.
    """
    _mean_ratios(picked, totals, pairs, (np.float32(2), totals.shape[1] // 3), gains)


@_compiled
def balanced_accuracy(picked, totals, pairs, gains):
    """The mean recall of classes, given how often each is right, predicted and gold.

    A score's error is less than 8 roundings of 100.
    """
    _mean_ratios(picked, totals, pairs, (_ONE, 0), gains)


@_compiled
def _mean_ratios(picked, totals, pairs, ratio, gains):
    """100 times the mean of times * right / (gold + predicted), or / gold, over the classes that have a gold label."""
    better, worse = pairs
    times, predicted = ratio
    n_classes = totals.shape[1] // 3
    gold = 2 * n_classes
    # Of both systems: sums of ratios, and the number of classes that count.
    parts, below = np.empty(4 * WIDTH, np.float64), np.empty(2 * WIDTH, np.float32)
    for p in range(len(better)):
        i, j = totals[better[p]], totals[worse[p]]
        parts[:] = 0
        for c in range(n_classes):
            a, b = _rows(picked, pairs, p, gold + c)
            total_i, total_j = i[gold + c], j[gold + c]
            for t in range(gains.shape[1]):
                below[t] = total_i + (b[t] - a[t])
                below[WIDTH + t] = total_j - (b[t] - a[t])
                parts[2 * WIDTH + t] += min(below[t], _ONE)
                parts[3 * WIDTH + t] += min(below[WIDTH + t], _ONE)
            if predicted:
                a, b = _rows(picked, pairs, p, predicted + c)
                total_i, total_j = i[predicted + c], j[predicted + c]
                for t in range(gains.shape[1]):
                    below[t] += total_i + (b[t] - a[t])
                    below[WIDTH + t] += total_j - (b[t] - a[t])
            a, b = _rows(picked, pairs, p, c)
            total_i, total_j = i[c], j[c]
            for t in range(gains.shape[1]):
                one, other = max(below[t], _ONE), max(below[WIDTH + t], _ONE)
                # One division for two ratios.
                inverse = times / (one * other)
                parts[t] += (total_i + (b[t] - a[t])) * other * inverse
                parts[WIDTH + t] += (total_j - (b[t] - a[t])) * one * inverse
        gain = gains[p]
        for t in range(gains.shape[1]):
            one = parts[t] / max(parts[2 * WIDTH + t], 1.0)
            gain[t] = np.float32(100.0 * (one - parts[WIDTH + t] / max(parts[3 * WIDTH + t], 1.0)))


@_compiled
def mcc(picked, totals, pairs, gains):
    """Matthews correlation, given how often each class is right, predicted and gold; in double precision."""
    better, worse = pairs
    n_classes = totals.shape[1] // 3
    # Of both systems: items, right ones, agreement by chance, sums of squares of predicted and of gold counts.
    parts = np.empty(10 * WIDTH, np.float64)
    for p in range(len(better)):
        i, j = totals[better[p]], totals[worse[p]]
        parts[:] = 0
        for c in range(n_classes):
            right_a, right_b = _rows(picked, pairs, p, c)
            said_a, said_b = _rows(picked, pairs, p, n_classes + c)
            gold_a, gold_b = _rows(picked, pairs, p, 2 * n_classes + c)
            right_i, said_i, gold_i = i[c], i[n_classes + c], i[2 * n_classes + c]
            right_j, said_j, gold_j = j[c], j[n_classes + c], j[2 * n_classes + c]
            for t in range(gains.shape[1]):
                moved = right_b[t] - right_a[t]
                parts[2 * WIDTH + t] += right_i + moved
                parts[3 * WIDTH + t] += right_j - moved
                moved = gold_b[t] - gold_a[t]
                gold, of_gold = np.float64(gold_i + moved), np.float64(gold_j - moved)
                moved = said_b[t] - said_a[t]
                said, of_said = np.float64(said_i + moved), np.float64(said_j - moved)
                parts[t] += gold
                parts[WIDTH + t] += of_gold
                parts[4 * WIDTH + t] += said * gold
                parts[5 * WIDTH + t] += of_said * of_gold
                parts[6 * WIDTH + t] += said * said
                parts[7 * WIDTH + t] += of_said * of_said
                parts[8 * WIDTH + t] += gold * gold
                parts[9 * WIDTH + t] += of_gold * of_gold
        gain = gains[p]
        for t in range(gains.shape[1]):
            n, of_n = parts[t] * parts[t], parts[WIDTH + t] * parts[WIDTH + t]
            below = (n - parts[6 * WIDTH + t]) * (n - parts[8 * WIDTH + t])
            of_below = (of_n - parts[7 * WIDTH + t]) * (of_n - parts[9 * WIDTH + t])
            one = parts[2 * WIDTH + t] * parts[t] - parts[4 * WIDTH + t]
            other = parts[3 * WIDTH + t] * parts[WIDTH + t] - parts[5 * WIDTH + t]
            # 0 / 0 is 0: then all are of one class.
            one = one / np.sqrt(below) if below > 0 else 0.0
            gain[t] = np.float32(one - (other / np.sqrt(of_below) if of_below > 0 else 0.0))
