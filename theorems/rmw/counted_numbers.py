"""Numbers that count the operations made with them, and Algorithm 1 written as one would for speed, so that its cost can be counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simopt.core.arrays import Array


@dataclass(eq=False)
class Counter:
    """Counts of additions, multiplications, divisions and comparisons; `start` is what came before the first iteration."""

    operations: int = 0
    start: int = 0
    picks: list[int] = field(default_factory=list)

    def herding(self, gram: Array, steps: int, *, updated: bool = True) -> list[int]:
        """Operations of each of `steps` iterations of Algorithm 1 towards the mean; with `updated`, K α is updated, not formed anew."""
        K = [[CountedFloat(float(k), self) for k in row] for row in np.asarray(gram)]
        n = len(K)
        size = CountedFloat(float(n), self)
        mean = [summed(row) / size for row in K]
        pick = largest(mean)
        alpha = {pick: CountedFloat(1.0, self)}
        fitted, inner, length = list(K[pick]), mean[pick], K[pick][pick]  # K α, ⟨ω_P, ω⟩, ‖ω‖²
        self.start, self.picks, counts = self.operations, [pick], []
        for _ in range(steps):
            before = self.operations
            if not updated:
                fitted = [summed([a * K[i][j] for i, a in alpha.items()]) for j in range(n)]
            pick = largest([b - f for b, f in zip(mean, fitted, strict=True)])
            promise = (mean[pick] - inner) - (fitted[pick] - length)
            way = K[pick][pick] - fitted[pick] - fitted[pick] + length
            if promise.value <= 0 or way.value <= 0:
                break
            step = promise / way
            rest = CountedFloat(1.0, self) - step
            inner = rest * inner + step * mean[pick]
            length = rest * rest * length + (step + step) * rest * fitted[pick] + step * step * K[pick][pick]
            fitted = [rest * f + step * k for f, k in zip(fitted, K[pick], strict=True)]
            alpha = {i: rest * a for i, a in alpha.items()}
            alpha[pick] = alpha.get(pick, CountedFloat(0.0, self)) + step
            self.picks.append(pick)
            counts.append(self.operations - before)
        return counts


@dataclass(frozen=True, eq=False)
class CountedFloat:
    """A float whose operations are entered in a counter."""

    value: float
    counter: Counter

    def __add__(self, other: CountedFloat) -> CountedFloat:
        return self._made(self.value + other.value)

    def __sub__(self, other: CountedFloat) -> CountedFloat:
        return self._made(self.value - other.value)

    def __mul__(self, other: CountedFloat) -> CountedFloat:
        return self._made(self.value * other.value)

    def __truediv__(self, other: CountedFloat) -> CountedFloat:
        return self._made(self.value / other.value)

    def __gt__(self, other: CountedFloat) -> bool:
        self.counter.operations += 1
        return self.value > other.value

    def _made(self, value: float) -> CountedFloat:
        self.counter.operations += 1
        return CountedFloat(value, self.counter)


def summed(numbers: list[CountedFloat]) -> CountedFloat:
    """Σ, in n − 1 additions."""
    result = numbers[0]
    for number in numbers[1:]:
        result = result + number
    return result


def largest(numbers: list[CountedFloat]) -> int:
    """Index of the largest, the first of equals, in n − 1 comparisons."""
    found = 0
    for i in range(1, len(numbers)):
        if numbers[i] > numbers[found]:
            found = i
    return found
