"""Letters, subscripts, powers and roots of a statement as MathML, each a small element, so that lines still break between them.

Statements are written in plain Unicode with TeX's scripts: ``‖w^{t+1} − w‖² ≤ √(2 log(1/δ)/n)``. Everything that has no script and is no
single letter stays text. A `√` covers what stands in the brackets after it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
MARKS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot"}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᵀ", "0123456789+-niT", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₙₘₖₜ", "0123456789+-ijnmkt", strict=True))
FUNCTIONS = frozenset("log exp max min sup inf lim arg sgn sign mean med var cov co aff tr rank diag dom KL Pr err rev est".split())
ARTICLES = "aAI"
SYMBOLS = {
    "−": "-", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∈": r"\in ", "∉": r"\notin ", "·": r"\cdot ", "×": r"\times ",
    "∞": r"\infty ", "‖": r"\| ", "→": r"\to ", "⊂": r"\subset ", "⊆": r"\subseteq ", "∪": r"\cup ", "∩": r"\cap ", "∘": r"\circ ",
    "±": r"\pm ", "…": r"\dots ", "⟨": r"\langle ", "⟩": r"\rangle ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⌊": r"\lfloor ",
    "⌋": r"\rfloor ", "½": r"\frac{1}{2}", "ℓ": r"\ell ", "∂": r"\partial ", "∇": r"\nabla ", "∖": r"\setminus ", "%": r"\% ",
    "#": r"\# ", "&": r"\& ", "$": r"\$ ", "~": r"\sim ", "{": r"\{ ", "}": r"\} ", "\\": r"\backslash ", "'": "'", "’": "'",
    "_": r"\_ ", "^": r"\wedge ", "∅": r"\emptyset ", "<": "<", ">": ">",
}  # fmt: skip
CLOSERS = ")]|‖}⟩⌉⌋≤<"
LONE_SCRIPTS = "*∞±∘⊥†∅=≠≤≥<>"
LONGEST_PIECE = 26  # characters of a formula without spaces that are held together
LONGEST_ROOT = 32  # characters under one root that are not broken over lines
LONGEST_SCRIPT = 120  # characters of one raised or lowered group: no statement has more, and brackets that never close cost no time
MOST_ROOTS = 4  # one in another without brackets
GROUPS = {"(": ")", "⌈": "⌉", "⌊": "⌋"}  # brackets that are part of the script which they hold together
LONGEST_LATEX = 4000  # characters of one formula
# commands that make commands: two lines of them grow without end
DEFINES = re.compile(r"\\(?:re)?newcommand|\\newenvironment|\\DeclareMathOperator|\\[egx]?def(?![a-z])")
REFERENCE = re.compile(r"(&#x[0-9A-Fa-f]{1,6};)")
VALUE = re.compile(r"[\w#.%+ -]{0,60}", re.ASCII)  # a number, a length, a colour or a word
ELEMENTS = frozenset(
    "mrow mi mn mo ms mtext mspace mstyle mpadded mphantom menclose mfrac msqrt mroot msub msup msubsup munder mover munderover "
    "mmultiscripts mprescripts none mtable mtr mtd mlabeledtr".split()
)
ATTRIBUTES = frozenset(
    "accent accentunder align columnalign columnlines columnspacing depth displaystyle fence form height largeop linethickness lspace "
    "mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace scriptlevel separator "
    "stretchy symmetric voffset width".split()
)
VARIABLE = re.compile(r"[A-Za-zα-ωΑ-Ω]")  # letters that mathematics sets in italics


class NoMath(ValueError):
    """The text is no formula that this module typesets."""


@lru_cache(maxsize=50_000)
def mathml(latex: str, display: bool = False) -> Markup:
    """A LaTeX formula as a MathML element, in a line of text or (`display`) on one of its own.

    The converter's tree is written out here, not its text: of elements and attributes those that typeset and nothing else, every word
    escaped. So a formula cannot bring markup, addresses, classes or styles of its own into a page, whatever the converter lets through.

    Raises
    ------
    NoMath
        if it cannot be converted, is longer than `LONGEST_LATEX`, defines commands, or becomes something that is not on the lists.
    """
    from latex2mathml.converter import convert_to_element

    if len(latex) > LONGEST_LATEX or DEFINES.search(latex):
        raise NoMath(f"{latex[:LONGEST_PIECE]!r}…: longer than {LONGEST_LATEX} characters, or it defines commands")
    try:
        made = convert_to_element(latex, display="block" if display else "inline")
        body = Markup("").join(_written(part) for part in made)
    except NoMath as error:
        raise NoMath(f"{latex!r}: {error}") from error
    except Exception as error:  # the converter's own errors share no base class, and a bad formula must not cost the report
        raise NoMath(f"{latex!r}: {type(error).__name__}: {error}") from error
    if "\\" in body:
        raise NoMath(f"{latex!r}: not converted as a whole")
    return Markup('<math display="block">{}</math>' if display else "<math>{}</math>").format(body)


def _written(node: Element) -> Markup:
    """An element of MathML with all that it holds; numeric references, which the converter uses for characters, stay as they are."""
    if node.tag not in ELEMENTS:
        raise NoMath(f"an element {node.tag!r}")
    opening = Markup("<") + node.tag
    for name, value in node.attrib.items():
        if name not in ATTRIBUTES or not VALUE.fullmatch(value):
            raise NoMath(f"an attribute {name}={value!r}")
        opening += Markup(' {}="{}"').format(name, value)
    inside = _text(node.text) + Markup("").join(_written(part) + _text(part.tail) for part in node)
    return opening + Markup(">") + inside + Markup("</{}>").format(node.tag) if inside else opening + Markup(" />")


def _text(source: str | None) -> Markup:
    return Markup("").join(Markup(part) if REFERENCE.fullmatch(part) else escape(part) for part in REFERENCE.split(source or ""))


def typeset(text: str) -> Markup:
    """Plain text as HTML, its letters, scripts and roots as MathML; a short formula without spaces is not broken over lines."""
    parts: list[Markup] = []
    group: list[Markup] = []
    begin = plain = i = 0

    def close(end: int) -> None:
        """The word that ends here, held together if there is mathematics in it."""
        group.append(escape(text[plain:end]))
        word = Markup("").join(group)
        together = len(group) > 1 and 1 < end - begin <= LONGEST_PIECE
        parts.append(Markup('<span class="nb">{}</span>').format(word) if together else word)
        group.clear()

    while i < len(text):
        if text[i].isspace():
            close(i)
            parts.append(Markup(text[i]))
            begin = plain = i = i + 1
            continue
        end, latex = _formula(text, i)
        end = max(end, i + 1)
        if latex:
            group += [escape(text[plain:i]), _element(text[i:end], latex)]
            plain = end
        i = end
    close(len(text))
    return Markup("").join(parts)


def _element(text: str, latex: str) -> Markup:
    """One formula; a letter without marks or scripts is an element of HTML: two in three are, and a page prints faster so."""
    if VARIABLE.fullmatch(text):
        return Markup("<var>{}</var>").format(text)
    try:
        return mathml(latex)
    except NoMath:
        return escape(text)


def _formula(text: str, i: int) -> tuple[int, str]:
    """End and LaTeX of the formula that begins at i; an empty formula for text that stays as it is up to the end."""
    letter = text[i]
    if letter == "√":
        return _root(text, i)
    word = LATIN.match(text, i)
    if word is not None:
        return _product(text, i, word.end())
    number = NUMBER.match(text, i)
    if number is not None:
        end, scripts = _scripts(text, number.end())
        return end, number.group().replace(",", "{,}") + scripts if scripts else ""
    if letter in CLOSERS or _is_symbol(letter):
        end, scripts = _scripts(text, _marks_end(text, i + 1))
        if scripts or _is_symbol(letter):
            return end, _marked(text[i : _marks_end(text, i + 1)]) + scripts
    return i + 1, ""


def _product(text: str, start: int, end: int) -> tuple[int, str]:
    """A run of Latin letters: a variable, a product of variables with a script at its end, a named function with a script, or a word."""
    length = end - start
    if length > 1 and text[end : end + 1] in MARKS and not text[end : end + 1].isspace() and end < len(text):
        return end - 1, ""  # the mark belongs to the last letter alone
    finish, scripts = _scripts(text, _marks_end(text, end))
    base = text[start : _marks_end(text, end)]
    if length == 1:
        if start and (LATIN.match(text[start - 1]) or text[start - 1] in "'’"):
            return end, ""
        return (finish, _marked(base) + scripts) if scripts or not _is_article(text, start, end) else (end, "")
    if not scripts or scripts.strip("'") == "":
        product = length == 2 and start > 0 and _is_symbol(text[start - 1])
        return (finish, " ".join(base) + scripts) if product else (end, "")
    if length <= 3 and base not in FUNCTIONS:
        return finish, " ".join(base) + scripts
    return finish, rf"\mathrm{{{base}}}" + scripts if base in FUNCTIONS else rf"\text{{{base}}}" + scripts


def _is_article(text: str, start: int, end: int) -> bool:
    """Whether a lone `a`, `A` or `I` is a word: nothing beside it looks like a formula."""
    if text[start] not in ARTICLES:
        return False
    before, after = text[:start].rstrip()[-1:], text[end:].lstrip()[:1]
    return not ((after and after in "=≤≥<>≠+−·/),(|∈→∞‖⟩") or (before and before in "=≤≥<>≠+−·/(|∈,‖⟨"))


def _is_symbol(letter: str) -> bool:
    return letter.isalpha() and not LATIN.match(letter) and letter not in RAISED and letter not in LOWERED


def _marks_end(text: str, i: int) -> int:
    while i < len(text) and text[i] in MARKS:
        i += 1
    return i


def _marked(base: str) -> str:
    made = SYMBOLS.get(base[0], base[0])
    for mark in base[1:]:
        made = rf"\{MARKS[mark]}{{{made}}}"
    return made


def _root(text: str, i: int) -> tuple[int, str]:
    if text[i + 1 : i + 2] == "(":
        close = _closing(text, i + 1, "(", ")", LONGEST_ROOT)
        if close is None:
            return i + 1, ""
        return close + 1, rf"\sqrt{{{latex_of(text[i + 2 : close])}}}"
    number = NUMBER.match(text, i + 1)
    if number is not None:
        return number.end(), rf"\sqrt{{{number.group()}}}"
    deep = text.startswith("√" * (MOST_ROOTS + 1), i)
    end, inner = _formula(text, i + 1) if i + 1 < len(text) and not deep else (i + 1, "")
    return (end, rf"\sqrt{{{inner}}}") if inner else (i + 1, "")


def _scripts(text: str, i: int) -> tuple[int, str]:
    """End and LaTeX of all that is raised or lowered at i, each side once."""
    raised = lowered = primes = ""
    while i < len(text):
        letter, rest = text[i], text[i + 1 : i + 2]
        if letter in RAISED or letter in LOWERED:
            if (letter in RAISED and raised) or (letter in LOWERED and lowered):
                break
            table = RAISED if letter in RAISED else LOWERED
            begin = i
            while i < len(text) and text[i] in table:
                i += 1
            made = "".join(table[each] for each in text[begin:i])
            raised, lowered = (made, lowered) if table is RAISED else (raised, made)
        elif letter in "'′" and not (rest.isalpha() and LATIN.match(rest)) and not raised:
            primes, i = primes + "'", i + 1
        elif letter == "*" and not raised and ((lowered and rest != "*") or (rest == "_" and not primes)):
            raised, i = "*", i + 1
        elif (letter == "_" and not lowered) or (letter == "^" and not raised):
            end, made = _script(text, i + 1)
            if not made:
                break
            i = end
            raised, lowered = (made, lowered) if letter == "^" else (raised, made)
        else:
            break
    if primes and raised:
        raised, primes = r"\prime " * len(primes) + raised, ""
    return i, primes + (f"_{{{lowered}}}" if lowered else "") + (f"^{{{raised}}}" if raised else "")


def _script(text: str, i: int) -> tuple[int, str]:
    """One script without its `_` or `^`: a group in braces, a number, a run of Latin letters, one symbol."""
    if text[i : i + 1] == "{":
        close = _closing(text, i, "{", "}", LONGEST_SCRIPT)
        return (i, "") if close is None else (close + 1, latex_of(text[i + 1 : close]))
    sign = text[i : i + 1] if text[i : i + 1] in ("-", "−", "+") else ""
    i += len(sign)
    for kind in (NUMBER, LATIN):
        found = kind.match(text, i)
        if found is not None and not (kind is NUMBER and "," in found.group()):
            made = found.group() if kind is NUMBER or len(found.group()) <= 2 else rf"\text{{{found.group()}}}"
            return found.end(), SYMBOLS.get(sign, sign) + made
    if i < len(text) and (_is_symbol(text[i]) or text[i] in LONE_SCRIPTS):
        return i + 1, SYMBOLS.get(sign, sign) + SYMBOLS.get(text[i], text[i])
    if not sign and text[i : i + 1] in GROUPS:
        close = _closing(text, i, text[i], GROUPS[text[i]], LONGEST_SCRIPT)
        return (i, "") if close is None else (close + 1, latex_of(text[i : close + 1]))
    return i, SYMBOLS.get(sign, sign)


def latex_of(text: str) -> str:
    """A whole formula in plain Unicode as LaTeX: what stands in a script or under a root."""
    parts: list[str] = []
    i = 0
    while i < len(text):
        end, latex = _formula(text, i)
        if not latex:
            end = max(end, i + 1)
            word = LATIN.match(text, i)
            if word is not None:
                end = word.end()
                latex = rf"\{word.group()} " if word.group() in ("log", "exp", "max", "min", "sup", "inf") else _letters(word.group())
            else:
                number = NUMBER.match(text, i)
                latex = number.group() if number else SYMBOLS.get(text[i], text[i])
                end = number.end() if number else i + 1
        parts.append(latex)
        i = end
    return " ".join(parts)


def _letters(run: str) -> str:
    return run if len(run) <= 2 else rf"\text{{{run}}}"


def _closing(text: str, i: int, opens: str, closes: str, longest: int) -> int | None:
    """Index of the bracket that closes the one at i, if it is within the `longest` characters that follow."""
    depth = 0
    for j in range(i, min(len(text), i + longest)):
        depth += (text[j] == opens) - (text[j] == closes)
        if depth == 0:
            return j
    return None
