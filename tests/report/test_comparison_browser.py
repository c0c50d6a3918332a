"""The page of a comparison in headless Chromium: it loads quietly, sorts, filters, follows links, fits a phone, can be read and prints."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from headless import Browser, executable
from test_browser import assert_it_fits, choose, contrast, luminance, requested, seek
from test_comparison_page import compared
from toy_paper import HOSTILE

from simopt.compare.comparison import Comparison
from simopt.compare.record import Record
from simopt.core.writing import write_text

pytestmark = pytest.mark.thorough
TITLES = ".map(c => c.querySelector('.title').textContent)"
SHOWN = f"[...document.querySelectorAll('details.claim:not([hidden])')].filter(c => c.checkVisibility()){TITLES}"
ROWS = "[...document.querySelectorAll('table.matrix tbody tr:not([hidden]) th')].filter(c => c.checkVisibility()).map(c => c.textContent)"
NAMES = [f"p, d, n = {n}" for n in (20, 300, 400, 500)]


def hostile() -> list[Record]:
    """The same with texts that attack, and with very long ones."""
    long, made = "a-name-without-any-space" * 40, []
    for each in compared():
        claimed = HOSTILE if each.claim_verdict == "FALSE" else each.claimed
        cell = replace(each.cell, problem=HOSTILE if (each.cell.size or 0) < 350 else long)
        made.append(replace(each, cell=cell, machine=HOSTILE, message=HOSTILE, claimed=claimed))
        for solver in (each.cell.solver + long, "宽" * 30, "W" * 30):
            made.append(replace(each, machine="Ω" * 300, cell=replace(each.cell, solver=solver)))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compared")
    for name, records in {"plain": compared(), "hostile": hostile(), "two": [*compared(), *compared("other")]}.items():
        write_text(made / f"{name}.html", Comparison(records, 99, False, [(HOSTILE, HOSTILE, HOSTILE)]).page())
    return made


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium on this machine: the pages are not tried in a browser")
    with Browser(program, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, folder: Path) -> Browser:
    browser.open(folder / "plain.html")
    return browser


@pytest.mark.parametrize("name", ["plain.html", "hostile.html", "two.html"])
def test_loads_without_a_word_on_the_console_or_a_request(browser: Browser, folder: Path, name: str) -> None:
    browser.open(folder / name)
    assert browser.complaints() == []
    assert [url for url, _ in requested(browser) if not url.startswith("data:")] == [(folder / name).as_uri()]
    assert browser.evaluate("window.hacked") is None
    assert browser.evaluate("document.querySelectorAll('main img, main i, iframe').length") == 0


def test_filters_and_search_work_on_entries_and_rows(page: Browser) -> None:
    assert page.evaluate(SHOWN) == page.evaluate(ROWS) == NAMES
    choose(page, "class", "QP")
    assert page.evaluate(SHOWN) == page.evaluate(ROWS) == NAMES[1:3]
    choose(page, "claims", "FALSE")
    assert page.evaluate(SHOWN) == NAMES[1:2]
    assert page.evaluate("document.getElementById('shown').textContent") == "1 of 4 instances"
    page.evaluate("document.getElementById('reset').click()")
    choose(page, "solved", "by some")
    assert page.evaluate(SHOWN) == NAMES[2:]
    page.evaluate("document.getElementById('reset').click()")
    seek(page, "5000 NONZEROS")
    assert page.evaluate(SHOWN) == page.evaluate(ROWS) == NAMES[2:3]
    seek(page, "nowhere")
    assert page.evaluate("document.getElementById('none').checkVisibility()") is True


def click(browser: Browser, table: str, column: int) -> list[str]:
    """Click the head of a column, and return the first cells of the rows."""
    browser.evaluate(f"document.querySelector('{table}').tHead.rows[0].cells[{column}].querySelector('button').click()")
    return list(browser.evaluate(f"[...document.querySelector('{table}').tBodies[0].rows].map(r => r.cells[0].textContent)"))


def test_tables_sort_by_number_and_what_has_none_comes_last(page: Browser) -> None:
    assert click(page, "table.matrix", 4) == [NAMES[1], NAMES[0], NAMES[2], NAMES[3]], "scs: 1, 3, 9 and a failure"
    assert page.evaluate(SHOWN) == [NAMES[1], NAMES[0], NAMES[2], NAMES[3]], "the entries follow the rows"
    assert click(page, "table.matrix", 4) == [NAMES[3], NAMES[2], NAMES[0], NAMES[1]], "falling: never is the longest time"
    assert page.evaluate("document.querySelector('table.matrix [aria-sort]').textContent") == "scs"
    assert click(page, "table.matrix", 2) == NAMES and click(page, "table.matrix", 2) == [*NAMES[2::-1], NAMES[3]], "no size: last"
    assert click(page, "table.sortable", 8)[-1] == "osqp" and click(page, "table.sortable", 8)[0] == "osqp", "false claims"


def test_heads_are_buttons_for_a_keyboard(page: Browser) -> None:
    page.evaluate("document.querySelector('table.matrix thead button').focus()")
    page.press("Enter")
    assert page.evaluate("document.querySelector('table.matrix th').getAttribute('aria-sort')") == "ascending"
    page.press("/")
    assert page.evaluate("document.activeElement.id") == "search"


def test_a_link_opens_the_runs_of_a_solver_on_an_instance(page: Browser, folder: Path) -> None:
    target = page.evaluate("document.querySelectorAll('table.matrix tbody tr')[1].querySelectorAll('td a')[2].getAttribute('href')")
    for way in ("address", "click"):
        page.open(folder / "plain.html", target if way == "address" else "")
        if way == "click":
            choose(page, "class", "LP")
            page.evaluate(f"new Promise(done => {{ addEventListener('hashchange', () => setTimeout(done)); location.hash = '{target}'; }})")
        assert (
            page.evaluate("[...document.querySelectorAll('details.claim[open]')].map(c => c.querySelector('.title').textContent)")
            == NAMES[1:2]
        )
        assert page.evaluate("document.querySelector('tr:target th').textContent") == "osqp"
        page.evaluate("new Promise(done => setTimeout(done, 300))")
        top, bottom, height = page.evaluate(
            "(r => [r.top, r.bottom, innerHeight])(document.querySelector('tr:target').getBoundingClientRect())"
        )
        assert 0 <= top < bottom <= height, way


def test_every_drawing_is_inside_of_its_frame(page: Browser, folder: Path) -> None:
    for name in ("plain.html", "hostile.html"):
        page.open(folder / name)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        plots = page.evaluate(
            "[...document.querySelectorAll('figure')].map(f => { const s = f.querySelector('svg'), b = s.getBBox(), v = s.viewBox.baseVal, "
            "r = s.getBoundingClientRect(); return [f.dataset.plot, b.x, b.y, b.x + b.width - v.width, b.y + b.height - v.height, r.width, "
            "r.height, s.getAttribute('aria-label')]; })"
        )
        assert {plot[0] for plot in plots} == {"gap", "profile", "data-profile"} and len(plots) >= 6
        for kind, left, top, right, bottom, width, height, says in plots:
            assert width > 100 and height > 30 and says, kind
            assert left >= -1 and top >= -1 and right <= 1 and bottom <= 1, (name, kind, left, top, right, bottom)


@pytest.mark.parametrize("name", ["plain.html", "hostile.html", "two.html"])
@pytest.mark.parametrize("width", [390, 320, 1280])
def test_fits_a_phone_with_everything_open(browser: Browser, folder: Path, name: str, width: int) -> None:
    assert_it_fits(browser, folder / name, width)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_lines_can_be_read_in_the_light_and_in_the_dark(browser: Browser, folder: Path, dark: bool) -> None:
    """Contrast of at least 4.5 for text and 3 for lines of drawings, the least that the accessibility guidelines of the web ask for."""
    with browser.screen(1280, 900, dark=dark):
        browser.open(folder / "plain.html")
        browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        pairs = browser.evaluate(
            "(() => { const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; "
            "if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; }; "
            "return [...document.querySelectorAll('p, dd, dt, li, summary span, summary, th, td, a, button, h1, h2, h3')]"
            ".filter(e => e.textContent.trim()).map(e => [getComputedStyle(e).color, back(e), e.outerHTML.slice(0, 80)]); })()"
        )
        strokes = browser.evaluate("[...document.querySelectorAll('.plot .line')].map(e => getComputedStyle(e).stroke)")
    assert len(pairs) > 100 and len(set(strokes)) == 3
    assert [(ink, paper, what) for ink, paper, what in pairs if contrast(ink, paper) < 4.5] == []
    assert all(contrast(stroke, pairs[0][1]) >= 3 for stroke in strokes)
    assert (luminance(pairs[0][1]) < 0.2) is dark


def test_prints(page: Browser) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.pdf().count(b"/Type /Page\n") >= 2
