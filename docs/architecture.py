"""The architecture: docs/pictures/architecture.svg and the list of packages in CONTRIBUTING.md, drawn from the tree.

    python docs/architecture.py

The sentence of a package is the first one of its docstring. An arrow says that a file of one package imports from the other. The large
boxes are the folders at the top of the repository, each above those that it builds on. Arrows that follow from others are not drawn;
packages that import each other in a circle are joined in red.
"""

from __future__ import annotations

import ast
import math
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- packages begin -->", "<!-- packages end -->"
Arrows = set[tuple[str, str]]


@dataclass(frozen=True)
class Tree:
    """Packages by dotted name: folder, and what each is for; and which package imports from which."""

    folders: dict[str, str]
    sentences: dict[str, str]
    arrows: Arrows

    def titled(self, package: str) -> tuple[str, str]:
        """Its folder below the top one, or the top one itself, and its sentence."""
        folder = self.folders[package]
        return f"{folder.partition('/')[2] or folder}/", self.sentences[package]

    def top(self, package: str) -> str:
        """The package of the folder at the top of the repository."""
        return self.above(package, 1)

    def outer(self, package: str) -> str:
        """The package right below the top one in which it lies; of the top one, itself."""
        return self.above(package, 2)

    def inside(self, top: str) -> set[str]:
        """The packages right below the top one."""
        return {self.outer(name) for name in self.folders if self.top(name) == top} - {top}

    def above(self, package: str, depth: int) -> str:
        """The package so many folders deep in which it lies."""
        folder = "/".join(self.folders[package].split("/")[:depth])
        return next(name for name, path in self.folders.items() if path == folder)


def read(root: Path = ROOT) -> Tree:
    """The tree as it is: packages below the folders that pyproject.toml maps, and their imports, also those inside functions."""
    mapped = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]
    modules: dict[str, Path] = {}
    for package, folder in sorted(mapped.items(), key=lambda item: item[1]):
        for path in sorted((root / folder).rglob("*.py")):
            modules[".".join([package, *path.relative_to(root / folder).with_suffix("").parts]).removesuffix(".__init__")] = path
    packages = {name: path for name, path in modules.items() if path.name == "__init__.py"}

    def home(name: str) -> str:
        while name and name not in packages:
            name = name.rpartition(".")[0]
        return name

    arrows = {(home(name), home(used)) for name, path in modules.items() for used in imported(path) if home(used)}
    folders = {name: path.parent.relative_to(root).as_posix() for name, path in packages.items()}
    return Tree(folders, {name: sentence(path) for name, path in packages.items()}, {(a, b) for a, b in arrows if a != b})


def imported(path: Path) -> Iterator[str]:
    """What a file imports, by dotted names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sentence(path: Path) -> str:
    """The first sentence of a file's docstring."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0].replace("`", "").removesuffix(".")


def reach(arrows: Arrows) -> Arrows:
    """Who depends on whom over any number of arrows."""
    found = set(arrows)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


def layers(names: Iterable[str], arrows: Arrows) -> list[list[str]]:
    """Rows from the bottom: what a package uses lies below it; packages of a circle share a row."""
    far = reach(arrows)
    depth: dict[str, int] = {}
    left = sorted(names)
    while left:
        free = [a for a in left if all(b in depth or (b, a) in far for b in left if (a, b) in far)]
        for a in free:
            depth[a] = 1 + max((depth[b] for b in depth if (a, b) in far and b not in free), default=-1)
        left = [a for a in left if a not in free]
    return [[a for a in depth if depth[a] == row] for row in range(1 + max(depth.values(), default=-1))]


def needed(arrows: Arrows) -> Arrows:
    """Arrows that do not follow from others."""
    far = reach(arrows)
    between = {(a, b) for a, c in far for d, b in far if c == d and (c, a) not in far and (b, c) not in far}
    return arrows - between


def listing(tree: Tree) -> str:
    """The packages and what each is for, as text."""
    names = sorted(tree.folders, key=lambda name: tree.folders[name].split("/"))
    lines = []
    for name in names:
        *above, last = tree.folders[name].split("/")
        head = f"{'    ' * len(above)}{last}/"
        lines.append(textwrap.fill(f"{head:<24}{tree.sentences[name]}", 136, subsequent_indent=" " * 24))
    return "\n".join(["```", *lines, "```"])


WIDTH, GAP, PAD, LINE = 1060, 18, 12, 15
BETWEEN = 30  # rows, for their arrows
ABREAST = 4  # packages of a row
STYLE = """text { font: 11.5px sans-serif; fill: #222 } .title { font-weight: bold; font-size: 12.5px }
rect { stroke: #8a97a8; fill: #fff } .top { fill: #eef2f7 } path { fill: none; stroke: #48608a } .circle { stroke: #c22 }
.paper { stroke: none }"""
POINT = '<marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">{}</marker>'


@dataclass
class Rectangle:
    """A rectangle, and what is written in it: titles with their sentences."""

    x: float
    y: float
    width: float
    height: float
    lines: list[tuple[str, str]]  # text and class

    @classmethod
    def of(cls, titles: Iterable[tuple[str, str]], x: float, y: float, width: float) -> Rectangle:
        """As high as the text needs."""
        letters = int((width - 2 * PAD) / 6.1)
        lines = []
        for title, sentence in titles:
            lines += [(title, "title"), *((part, "sentence") for part in textwrap.wrap(sentence, letters))]
        return cls(x, y, width, 2 * PAD + LINE * len(lines) - 4, lines)

    def svg(self, kind: str) -> str:
        """Drawn."""
        drawn = [f'<rect x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="{self.height:g}" rx="5" class="{kind}"/>']
        for i, (text, kind_of_line) in enumerate(self.lines):
            drawn.append(f'<text x="{self.x + PAD:g}" y="{self.y + PAD + 9 + LINE * i:g}" class="{kind_of_line}">{escape(text)}</text>')
        return "\n".join(drawn)


def joined(boxes: dict[str, Rectangle], arrows: Arrows) -> list[str]:
    """Arrows from the foot of who imports down to the head of what is imported, as straight as may be; in a row from head to head."""
    far, drawn = reach(arrows), []
    for a, b in sorted(needed(arrows)):
        down = boxes[b].y > boxes[a].y
        x, y = boxes[a].x + boxes[a].width / 2, boxes[a].y + (boxes[a].height if down else 0)
        margin = boxes[b].width / 16
        u, v = min(max(x, boxes[b].x + margin), boxes[b].x + boxes[b].width - margin), boxes[b].y
        path = f"M{x:g} {y:g}C{x:g} {y + (BETWEEN if down else -BETWEEN):g} {u:g} {v - BETWEEN:g} {u:g} {v:g}"
        drawn.append(f'<path d="{path}" class="{"circle" if (b, a) in far else "arrow"}" marker-end="url(#end)"/>')
    return drawn


def ordered(rows: list[list[str]], arrows: Arrows) -> list[list[str]]:
    """Each row by the centre of what is joined to it, up, down and up again, so that few arrows cross."""
    position = {name: (i + 0.5) / len(row) for row in rows for i, name in enumerate(row)}
    for row in [*rows, *rows[::-1], *rows]:
        ends = {name: [position[b] for a, b in arrows if a == name] + [position[a] for a, b in arrows if b == name] for name in row}
        row.sort(key=lambda name: (math.fsum(ends[name]) / len(ends[name]) if ends[name] else position[name], name))
        position |= {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    return rows


def block(tree: Tree, top: str, x: float, y: float, width: float) -> tuple[Rectangle, list[str]]:
    """A top package from its upper left corner, and what is drawn in it."""
    inside = tree.inside(top)
    arrows = {(tree.outer(a), tree.outer(b)) for a, b in tree.arrows}
    arrows = {(a, b) for a, b in arrows if a != b and a in inside and b in inside}
    whole = Rectangle.of([tree.titled(top)], x, y, width)
    boxes: dict[str, Rectangle] = {}
    wide = (width - 2 * PAD - (ABREAST - 1) * GAP) / ABREAST
    bottom = y + whole.height
    for row in reversed(ordered(layers(inside, arrows), arrows)):
        for part in (row[i : i + ABREAST] for i in range(0, len(row), ABREAST)):
            left = x + (width - len(part) * (wide + GAP) + GAP) / 2
            for i, name in enumerate(part):
                within = sorted(each for each in tree.folders if tree.outer(each) == name)
                boxes[name] = Rectangle.of(map(tree.titled, within), left + i * (wide + GAP), bottom, wide)
            bottom += max(boxes[name].height for name in part) + BETWEEN
    if inside:
        whole.height = bottom - BETWEEN + PAD - y
    return whole, [*joined(boxes, arrows), *(box.svg("package") for box in boxes.values())]


def drawing(tree: Tree) -> str:
    """The picture."""
    arrows = {(tree.top(a), tree.top(b)) for a, b in tree.arrows if tree.top(a) != tree.top(b)}
    tops: dict[str, Rectangle] = {}
    inside: list[str] = []
    y = float(GAP)
    for row in reversed(layers({tree.top(name) for name in tree.folders}, arrows)):
        parts = {name: 1 + min(len(tree.inside(name)), ABREAST) for name in row}
        x = float(GAP)
        for name in row:
            width = (WIDTH - GAP * (1 + len(row))) * parts[name] / sum(parts.values())
            tops[name], drawn = block(tree, name, x, y, width)
            inside += drawn
            x += width + GAP
        tallest = max(tops[name].height for name in row)
        for name in row:
            tops[name].height = tallest
        y += tallest + BETWEEN
    y += GAP - BETWEEN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:g}" role="img">',
            "<title>The packages, and which imports from which</title>",
            f"<style>{STYLE}</style>",
            POINT.format('<path d="M0 0L8 4L0 8"/>'),
            f'<rect width="{WIDTH}" height="{y:g}" class="paper"/>',
            *(box.svg("top") for box in tops.values()),
            *inside,
            *joined(tops, arrows),
            "</svg>\n",
        ]
    )


def with_packages(text: str, tree: Tree) -> str:
    """CONTRIBUTING.md with the packages that there are."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{listing(tree)}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write both."""
    tree = read()
    PICTURE.write_text(drawing(tree), encoding="utf-8")
    CONTRIBUTING.write_text(with_packages(CONTRIBUTING.read_text(encoding="utf-8"), tree), encoding="utf-8")


if __name__ == "__main__":
    main()
