"""Unicode mathematics as MathML, and the text around it as it stood."""

import re

import pytest

from simopt.report.formulas import NoMath, latex_of, mathml, typeset
from simopt.report.prose import Prose

prose = Prose(["AK-T1", "AK-T1+", "KK-17/19/20-23"], lambda name: f"#{name}")


def inside(html: str) -> str:
    """MathML without its wrappers."""
    return re.sub(r"</?(?:math|mrow)>|<span class=\"nb\">|</span>", "", html)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("ε_0", "<msub><mi>ε</mi><mn>0</mn></msub>"),
        ("w^{t+1}", "<msup><mi>w</mi><mi>t</mi><mo>&#x0002B;</mo><mn>1</mn></msup>"),
        ("C_y^2", "<msubsup><mi>C</mi><mi>y</mi><mn>2</mn></msubsup>"),
        ("f_λ²", "<msubsup><mi>f</mi><mi>λ</mi><mn>2</mn></msubsup>"),
        ("x₁", "<msub><mi>x</mi><mn>1</mn></msub>"),
        ("10^{-3}", "<msup><mn>10</mn><mo>&#x02212;</mo><mn>3</mn></msup>"),
        ("√λ", "<msqrt><mi>λ</mi></msqrt>"),
        ("2^⌈d/ε⌉", "<msup><mn>2</mn><mi>&#x02308;</mi><mi>d</mi><mo>&#x0002F;</mo><mi>ε</mi><mi>&#x02309;</mi></msup>"),
        ("f*_S", "<msubsup><mi>f</mi><mi>S</mi><mo>&#x0002A;</mo></msubsup>"),
        ("ε_1γ²", "<msub><mi>ε</mi><mn>1</mn></msub><msup><mi>γ</mi><mn>2</mn></msup>"),
    ],
)
def test_scripts_and_roots(text: str, made: str) -> None:
    assert inside(typeset(text)) == made


def test_a_root_covers_what_stands_in_its_brackets() -> None:
    made = inside(typeset("≤ √(2 log(1/δ)/n) for"))
    root = made.partition("<msqrt>")[2].partition("</msqrt>")[0]
    assert "log" in root and "δ" in root and "n" in root and made.startswith("≤ ") and made.endswith(" for")


@pytest.mark.parametrize(
    "text",
    ["a kernel is good", "A good kernel", "I said so", "it's the user's", "two words, 3 numbers: 1,000.5", "f(unclosed", "x > 1 & y < 2"],
)
def test_words_stay_words_and_nothing_is_lost(text: str) -> None:
    plain = re.sub(r"<[^>]*>", "", str(typeset(text)))
    assert plain.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&").replace("&#39;", "'") == text


def test_articles_are_words_and_variables_are_not() -> None:
    assert typeset("a kernel") == "a kernel" and typeset("A kernel") == "A kernel"
    assert typeset("a = b") == "<var>a</var> = <var>b</var>" and "<var>A</var>" in typeset("A(x)") and "<mi>ℝ</mi>" in typeset("in ℝ")


@pytest.mark.parametrize(
    "text", ["x_", "x^", "√", "√(", "_{", "^{a", "x_{", "}{", "\\", "%", "\\frac{", "$x", "\u0302", "x_\u0302", "'", ""]
)
def test_ragged_mathematics_is_no_error(text: str) -> None:
    assert isinstance(str(prose(text)), str)


@pytest.mark.parametrize(
    "text", ["x_{" * 3000 + "1" + "}" * 3000, "√" * 3000 + "x", "√(" * 500 + "x" + ")" * 500, "x_{" * 2000, "a \ud800 x_\ud800"]
)
def test_hostile_nesting_costs_neither_the_report_nor_minutes(text: str) -> None:
    assert re.sub(r"<[^>]*>", "", str(prose(text))).count("x") == text.count("x")


def test_half_converted_latex_is_refused() -> None:
    with pytest.raises(NoMath, match="not converted as a whole"):
        mathml(r"\bigl\|w\bigr\|")
    assert "munder>" in mathml(r"\sum_i w_i", True) and "munder>" not in mathml(r"\sum_i w_i")


def test_latex_between_dollars_and_brackets() -> None:
    assert "<mfrac>" in prose(r"so $\frac{1}{n}$ and") and "<msqrt>" in prose(r"\(\sqrt{2}\)")
    assert "$" not in prose("$x$") and "notacommand" in prose(r"$\notacommand{$")


def test_names_are_links_even_with_a_plus_and_slashes() -> None:
    made = prose("See AK-T1, AK-T1+ and KK-17/19/20-23; not AK-T12 or XAK-T1.")
    assert re.findall(r'href="([^"]*)"', made) == ["#AK-T1", "#AK-T1+", "#KK-17/19/20-23"]


def test_bold_and_code() -> None:
    assert prose("a **b_1 c** d").count("<strong>") == 1 and "<code>run_this</code>" in prose("`run_this`")
    assert "<code>docs/some_file.md</code>" in prose("in docs/some_file.md.") and "<strong>" not in prose("2 ** 3 ** 4")


def test_everything_is_escaped() -> None:
    for text in ("<script>", "**<b>**", "`<i>`", "$<x>$", "x_{<u>}", "√(<s>)"):
        assert not re.search(r"<(script|b|i|x|u|s)>", prose(text)), text


def test_formulas_of_one_text_come_out_alike() -> None:
    assert mathml(latex_of("x_i")) == mathml(latex_of("x_i")) and latex_of("a ≤ b") != latex_of("a ≥ b")
