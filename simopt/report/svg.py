"""The little SVG that the plots are made of: axes, marks and labels, coloured by the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH = 420.0  # of every drawing, in its own units; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 12.0, 12.0, 10.0, 40.0

SHAPES = {
    "square": (("M", -3, -3), ("L", 3, -3), ("L", 3, 3), ("L", -3, 3)),
    "diamond": (("M", 0, -4.2), ("L", 4.2, 0), ("L", 0, 4.2), ("L", -4.2, 0)),
    "triangle": (("M", 0, -4), ("L", 4, 3), ("L", -4, 3)),
    "down": (("M", 0, 4), ("L", 4, -3), ("L", -4, -3)),
    "hourglass": (("M", -3.4, -3.4), ("L", 3.4, -3.4), ("L", -3.4, 3.4), ("L", 3.4, 3.4)),
    "bar": (("M", -1.4, -4.4), ("L", 1.4, -4.4), ("L", 1.4, 4.4), ("L", -1.4, 4.4)),
    "cross": (("M", -3.4, -3.4), ("L", 3.4, 3.4), ("M", -3.4, 3.4), ("L", 3.4, -3.4)),
}  # letters of a path with their places about the centre


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` as positions: on a linear scale, a logarithmic one, or one that is logarithmic beyond ±`linear`."""

    low: float
    high: float
    start: float
    end: float
    scale: str = "linear"
    linear: float = 1.0

    def __call__(self, value: float) -> float:
        a, b, x = (self._warp(each) for each in (self.low, self.high, min(max(value, self.low), self.high)))
        return self.start + (self.end - self.start) * ((x - a) / (b - a) if b > a else 0.5)

    def _warp(self, value: float) -> float:
        if self.scale == "log":
            return math.log10(value)
        if self.scale == "symlog":
            size = abs(value) / self.linear
            return math.copysign(size if size <= 1 else 1 + math.log10(size), value)
        return value

    def ticks(self) -> list[float]:
        """At most seven round values."""
        if self.scale == "log":
            return _decades(self.low, self.high)
        if self.scale == "symlog":
            up = [v for v in _decades(self.linear, self.high) if v <= self.high][-3:] if self.high > self.linear else []
            down = [-v for v in _decades(self.linear, -self.low) if v <= -self.low][-3:] if -self.low > self.linear else []
            return [*reversed(down), 0.0, *up]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 4)) if self.high > self.low else 1.0
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (factor * step) <= 5)
        first = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last <= first:
        round_ones = [m * 10.0**k for k in range(first - 1, last + 2) for m in (1, 2, 5)]
        inside = [value for value in round_ones if low <= value <= high]
        return inside if inside else [float(f"{math.sqrt(low * high):.3g}")]
    every = 1 + (last - first) // 5
    return [10.0**k for k in range(first, last + 1, every)]


def label(value: float) -> str:
    """A number short enough for an axis: powers of ten as such."""
    if value == 0:
        return "0"
    exponent = math.log10(abs(value))
    if abs(exponent) >= 4 and abs(exponent - round(exponent)) < 1e-9:
        return f"{'−' if value < 0 else ''}10{superscript(round(exponent))}"
    return f"{value:.4g}".replace("-", "−")


def superscript(number: int) -> str:
    """An integer in raised digits."""
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


class Drawing:
    """An SVG element under construction."""

    def __init__(self, height: float, description: str) -> None:
        self.height = height
        self.description = description
        self.parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A filled rectangle."""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" class="{kind}"/>')

    def mark(self, x: float, y: float, good: bool, radius: float = 3.4) -> None:
        """A disc for what agrees with the claim, a cross for what does not: told apart without colours."""
        if good:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="ok"/>')
        else:
            r = radius
            path = f"M{x - r:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}M{x - r:.1f} {y + r:.1f}L{x + r:.1f} {y - r:.1f}"
            self.parts.append(f'<path d="{path}" class="bad stroke"/>')

    def sign(self, x: float, y: float, shape: str, kind: str) -> None:
        """A small sign of one of `SHAPES`: what is told apart by colours is told apart without them too."""
        path = "".join(f"{letter}{x + dx:.1f} {y + dy:.1f}" for letter, dx, dy in SHAPES[shape]) + ("" if shape == "cross" else "Z")
        self.parts.append(f'<path d="{path}" class="{kind}"/>')

    def polyline(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """An open polygon."""
        if points:
            self.parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>')

    def text(self, x: float, y: float, content: str, kind: str = "", anchor: str = "middle") -> None:
        """One line of text."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(content)}</text>')

    def below(self, axis: Axis, y: float, content: str) -> None:
        """A horizontal axis at height y with its ticks and what it shows."""
        self.line(axis.start, y, axis.end, y, "axis")
        for value in axis.ticks():
            x = axis(value)
            self.line(x, y, x, y + 4, "axis")
            anchor = "start" if x < axis.start + 12 else "end" if x > axis.end - 12 else "middle"
            self.text(x, y + 16, label(value), "tick", anchor)
        self.text((axis.start + axis.end) / 2, y + 33, content, "name")

    def beside(self, axis: Axis, x: float, content: str = "") -> None:
        """A vertical axis at x with its ticks, and, from below to above, what it shows."""
        self.line(x, axis.start, x, axis.end, "axis")
        for value in axis.ticks():
            self.line(x - 4, axis(value), x, axis(value), "axis")
            self.text(x - 7, axis(value) + 4, label(value), "tick", "end")
        if content:
            y = (axis.start + axis.end) / 2
            at = f'text-anchor="middle" class="name" transform="rotate(-90 {LEFT:g} {y:.1f})"'
            self.parts.append(f'<text x="{LEFT:g}" y="{y:.1f}" {at}>{escape(content)}</text>')

    def render(self) -> Markup:
        """The SVG element."""
        return Markup(  # every word has been escaped, the rest are numbers and names of classes
            f'<svg class="plot" viewBox="0 0 {WIDTH:g} {self.height:g}" role="img" aria-label="{escape(self.description)}">'
            + "".join(self.parts)
            + "</svg>"
        )
