"""Laws of spans (ON and OFF times, silences), fitted by maximum likelihood and compared by AIC.

Exponential, gamma, Weibull, log-normal and hyper-exponential of two phases. AIC with the correction for small
samples (Hurvich and Tsai 1989).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Fewer spans say nothing of a law.
LEAST = 8
_STEPS = 300


@dataclass(frozen=True, slots=True)
class Law:
    """A law with its parameters.

    Attributes:
        name: `exponential`, `gamma`, `weibull`, `log-normal` or `hyper-exponential`.
        parameters: By name; times in s, rates in 1/s.
        likelihood: Logarithm of the likelihood of the data.
        aic: Akaike's criterion, corrected; less is better.
        mean: Mean, s.
    """

    name: str
    parameters: dict[str, float]
    likelihood: float
    aic: float
    mean: float

    def describe(self) -> str:
        """Return the law as people read it."""
        inside = ", ".join(f"{name} {value:.4g}" for name, value in self.parameters.items())
        return f"{self.name} ({inside}; mean {self.mean:.4g} s)"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"law": self.name, "parameters": self.parameters, "aic": self.aic, "mean_s": self.mean}


def fit_laws(spans: Sequence[float]) -> list[Law]:
    """Return all laws fitted to spans above zero, the best by AIC first; none with fewer than `LEAST`."""
    values = [span for span in spans if span > 0]
    if len(values) < LEAST:
        return []
    found = [fit(values) for fit in (_exponential, _gamma, _weibull, _log_normal, _hyper)]
    return sorted((law for law in found if law is not None), key=lambda law: law.aic)


def _law(name: str, values: Sequence[float], parameters: dict[str, float], mean: float, log: float) -> Law:
    k, n = len(parameters), len(values)
    correction = 2 * k * (k + 1) / (n - k - 1) if n > k + 1 else math.inf
    return Law(name, parameters, log, 2 * k - 2 * log + correction, mean)


def _exponential(values: Sequence[float]) -> Law:
    mean = math.fsum(values) / len(values)
    return _law("exponential", values, {"rate": 1 / mean}, mean, -len(values) * (math.log(mean) + 1))


def _digamma(x: float) -> float:
    """Return the derivative of log gamma (Abramowitz and Stegun 6.3.5 and 6.3.18)."""
    result = 0.0
    while x < 6:
        result -= 1 / x
        x += 1
    inverse = 1 / (x * x)
    return result + math.log(x) - 0.5 / x - inverse * (1 / 12 - inverse * (1 / 120 - inverse / 252))


def _root(of: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes sign between two positive values, by bisection of the logarithm."""
    sign = of(low) > 0
    for _ in range(100):
        middle = math.sqrt(low * high)
        if (of(middle) > 0) == sign:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def _gamma(values: Sequence[float]) -> Law | None:
    n = len(values)
    mean = math.fsum(values) / n
    logs = math.fsum(map(math.log, values)) / n
    gap = math.log(mean) - logs
    if gap < 1e-9:
        return None  # all equal
    shape = _root(lambda k: math.log(k) - _digamma(k) - gap, 1e-3, 1e6)
    scale = mean / shape
    log = (
        (shape - 1) * n * logs
        - math.fsum(values) / scale
        - n * (shape * math.log(scale) + math.lgamma(shape))
    )
    return _law("gamma", values, {"shape": shape, "scale": scale}, mean, log)


def _weibull(values: Sequence[float]) -> Law | None:
    n = len(values)
    most = max(values)
    scaled = [value / most for value in values]  # powers stay within range
    logs = math.fsum(map(math.log, scaled)) / n

    def slope(k: float) -> float:
        powers = [value**k for value in scaled]
        weighted = math.fsum(p * math.log(v) for p, v in zip(powers, scaled, strict=True))
        return weighted / math.fsum(powers) - 1 / k - logs

    if min(scaled) > 1 - 1e-9:
        return None
    shape = _root(slope, 0.02, 200.0)
    scale = most * (math.fsum(value**shape for value in scaled) / n) ** (1 / shape)
    log = n * (math.log(shape) - shape * math.log(scale)) + (shape - 1) * math.fsum(map(math.log, values))
    log -= math.fsum((value / scale) ** shape for value in values)
    return _law("weibull", values, {"shape": shape, "scale": scale}, scale * math.gamma(1 + 1 / shape), log)


def _log_normal(values: Sequence[float]) -> Law | None:
    n = len(values)
    logs = [math.log(value) for value in values]
    middle = math.fsum(logs) / n
    variance = math.fsum((value - middle) ** 2 for value in logs) / n
    if variance < 1e-12:
        return None
    log = -n / 2 * (math.log(2 * math.pi * variance) + 1) - math.fsum(logs)
    parameters = {"median": math.exp(middle), "sigma": math.sqrt(variance)}
    return _law("log-normal", values, parameters, math.exp(middle + variance / 2), log)


def _hyper(values: Sequence[float]) -> Law | None:
    """Fit two phases by expectation and maximisation."""
    n = len(values)
    mean = math.fsum(values) / n
    # Started apart on both sides of the mean: equal rates would stay equal for ever.
    share, fast, slow = 0.5, 3 / mean, 0.4 / mean
    for _ in range(_STEPS):
        weights = []
        for value in values:
            one, two = share * fast * math.exp(-fast * value), (1 - share) * slow * math.exp(-slow * value)
            weights.append(one / (one + two) if one + two > 0 else 0.0)
        total = math.fsum(weights)
        if not 1e-6 < total < n - 1e-6:
            return None  # one phase is enough
        share = total / n
        fast = total / math.fsum(w * v for w, v in zip(weights, values, strict=True))
        slow = (n - total) / math.fsum((1 - w) * v for w, v in zip(weights, values, strict=True))
    log = math.fsum(
        # So that a span far out of both phases has no logarithm of zero.
        math.log(share * fast * math.exp(-fast * v) + (1 - share) * slow * math.exp(-slow * v) + 1e-300)
        for v in values
    )
    parameters = {"share": share, "rate_1": fast, "rate_2": slow}
    return _law("hyper-exponential", values, parameters, share / fast + (1 - share) / slow, log)
