"""Quantiles of the distributions that confidence intervals are based on.

They are computed here because reading a result must not need SciPy. They agree
with those of distbench/stats/distributions.h to the accuracy of a double.
"""

import math
from statistics import NormalDist

# Above this, Stirling's series is accurate to a double.
_STIRLING_FROM = 15

_MAX_STEPS = 100_000


def student_t_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Returns the value below which Student's t lies with this probability.

    Requires 0.5 <= probability < 1 and degrees_of_freedom > 0.
    """
    low, high = 0.0, 2.0
    while _student_t_cdf(high, degrees_of_freedom) < probability:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if _student_t_cdf(middle, degrees_of_freedom) < probability:
            low = middle
        else:
            high = middle


def binomial_quantile(
    trials: int, success_probability: float, probability: float
) -> int:
    """Returns the smallest k with P(X <= k) >= probability, for the number X of
    successes among `trials` that each succeed with success_probability.

    Requires trials >= 0 and both probabilities in (0, 1). Takes time
    proportional to the standard deviation of X.
    """
    mean = trials * success_probability
    deviation = math.sqrt(mean * (1 - success_probability))
    guess = round(mean + deviation * NormalDist().inv_cdf(probability))
    k = min(max(guess, 0), trials)
    at_most_k = _binomial_cdf(k, trials, success_probability)
    while k > 0:
        below = at_most_k - _binomial_pmf(k, trials, success_probability)
        if below < probability:
            break
        k -= 1
        at_most_k = below
    while at_most_k < probability and k < trials:
        k += 1
        at_most_k += _binomial_pmf(k, trials, success_probability)
    return k


def _binomial_cdf(k: int, trials: int, success: float) -> float:
    """Adds up P(X = i) from i = k downwards, until it changes nothing."""
    total = 0.0
    term = _binomial_pmf(k, trials, success)
    for i in range(k, -1, -1):
        total += term
        term *= i * (1 - success) / ((trials - i + 1) * success)
        if i <= trials * success and term < total * 1e-18:
            break
    return total


def _binomial_pmf(k: int, trials: int, success: float) -> float:
    """P(X = k), by C. Loader, Fast and Accurate Computation of Binomial
    Probabilities (2000): without the cancellation that log-gamma functions of
    large arguments bring."""
    if k == 0:
        return math.exp(trials * math.log1p(-success))
    if k == trials:
        return math.exp(trials * math.log(success))
    failures = trials - k
    exponent = (
        _stirling_error(trials)
        - _stirling_error(k)
        - _stirling_error(failures)
        - _deviance(k, trials * success)
        - _deviance(failures, trials * (1 - success))
    )
    return math.exp(exponent) * math.sqrt(
        trials / (2 * math.pi * k * failures)
    )


def _stirling_error(n: int) -> float:
    """log(n!) minus Stirling's approximation of it."""
    if n <= _STIRLING_FROM:
        stirling = (n + 0.5) * math.log(n) - n + 0.5 * math.log(2 * math.pi)
        return math.lgamma(n + 1) - stirling
    square = float(n) * n
    series = 1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square
    return (1 / 12 - (1 / 360 - series / square) / square) / n


def _deviance(k: int, mean: float) -> float:
    """k log(k / mean) + mean - k, accurate where k is close to the mean."""
    difference = k - mean
    if abs(difference) >= 0.1 * (k + mean):
        return k * math.log(k / mean) - difference
    v = difference / (k + mean)
    total = difference * v
    term = 2 * k * v
    for i in range(3, _MAX_STEPS, 2):
        term *= v * v
        updated = total + term / i
        if updated == total:
            break
        total = updated
    return total


def _student_t_cdf(t: float, degrees_of_freedom: float) -> float:
    """P(T <= t) for t >= 0."""
    x = degrees_of_freedom / (degrees_of_freedom + t * t)
    return 1 - 0.5 * _incomplete_beta(degrees_of_freedom / 2, 0.5, x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, for x in [0, 1]."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / a
    return front * _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (NIST Handbook of
    Mathematical Functions, 8.17.22), by Lentz's method."""
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _MAX_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for numerator in (even, odd):
            d = 1 / (1 + numerator * d)
            c = 1 + numerator / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return fraction
