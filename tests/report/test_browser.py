"""The pages in headless Chromium: they load quietly, filter, can be walked by keyboard, print, and fit a phone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_paper
from headless import Browser, executable

from simopt.claims.verification import Record

pytestmark = pytest.mark.thorough
Written = tuple[Record, Path]
WIDTHS = "[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]"
SHOWN = "[...document.querySelectorAll('details.claim:not([hidden])')].filter(c => c.checkVisibility()).map(c => c.dataset.id)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = executable()
    if program is None:
        pytest.skip("no Chromium on this machine: the pages are not tried in a browser")
    with Browser(program, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, written: Written) -> Browser:
    """The browser with the verdicts open."""
    browser.open(written[1] / "index.html")
    return browser


def choose(browser: Browser, name: str, value: str) -> list[str]:
    """Set a filter as a user does, and return the claims that are left."""
    browser.evaluate(
        f"(() => {{ const s = document.querySelector('select[name={name}]'); s.value = '{value}'; "
        "s.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    return list(browser.evaluate(SHOWN))


def seek(browser: Browser, text: str) -> list[str]:
    """Type into the search box, and return the claims that are left."""
    browser.evaluate("(() => { const s = document.getElementById('search'); s.value = ''; s.focus(); })()")
    browser.call("Input.insertText", text=text)
    return list(browser.evaluate(SHOWN))


@pytest.mark.parametrize("name", ["index.html", "errata.html"])
def test_loads_without_a_word_on_the_console_or_a_request(browser: Browser, written: Written, name: str) -> None:
    browser.open(written[1] / name)
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [(written[1] / name).as_uri()]
    assert browser.evaluate("window.hacked") is None
    assert browser.evaluate("document.querySelectorAll('math').length") > 3


@pytest.mark.parametrize("name", ["index.html", "errata.html"])
def test_what_is_planted_in_a_page_does_not_run(browser: Browser, written: Written, tmp_path: Path, name: str) -> None:
    """The policy alone: even where markup got into the page, no script, no handler, no style and no address of its own is obeyed."""
    planted = (
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><svg onload='window.hacked = 3'></svg>"
        "<p id=styled style='color: rgb(1, 2, 3)' onmouseover='window.hacked = 4'>x</p><style>#styled { color: rgb(4, 5, 6) }</style>"
        "<a id=link href='javascript:window.hacked = 5'>x</a><iframe srcdoc='<script>parent.hacked = 6</script>'></iframe>"
        "<script src='http://127.0.0.1:9/x.js'></script><img src='http://127.0.0.1:9/x.png'><base href='http://127.0.0.1:9/'>"
        "<form id=form action='http://127.0.0.1:9/'><input name=x></form>"
    )
    page = (written[1] / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(page.replace('<main id="main"', planted + '<main id="main"'), encoding="utf-8", errors="replace")
    browser.open(tmp_path / name)
    browser.evaluate("document.getElementById('link').click(); document.getElementById('form').submit()")
    browser.evaluate("document.getElementById('styled').dispatchEvent(new Event('mouseover'))")
    end = time.monotonic() + 30
    while not any("form-action" in complaint for complaint in browser.complaints()):
        assert time.monotonic() < end, "the form was not refused"
        browser.evaluate("new Promise(done => setTimeout(done))")
    assert browser.evaluate("window.hacked") is None and browser.evaluate("location.protocol") == "file:"
    assert browser.evaluate("getComputedStyle(document.getElementById('styled')).color") not in ("rgb(1, 2, 3)", "rgb(4, 5, 6)")
    assert browser.evaluate("getComputedStyle(document.querySelector('header.top')).borderBottomStyle") == "solid"
    assert not any("127.0.0.1" in url and not refused for url, refused in requested(browser))
    if name == "index.html":
        assert choose(browser, "kind", "rate") == ["TOY-rate"]


def requested(browser: Browser) -> list[tuple[str, bool]]:
    """Addresses that the page asked for, and whether its policy refused them."""
    refused = {
        e["params"]["requestId"] for e in browser.events if e["method"] == "Network.loadingFailed" and e["params"].get("blockedReason")
    }
    sent = [e["params"] for e in browser.events if e["method"] == "Network.requestWillBeSent"]
    return [(each["request"]["url"], each["requestId"] in refused) for each in sent]


def test_filters_and_search_work_alone_and_together(page: Browser) -> None:
    everything = [claim.id for claim in toy_paper.claims()]
    assert page.evaluate(SHOWN) == everything
    assert choose(page, "verdict", "REFUTED") == ["TOY-false", "TOY-<i>/%\"'&"]
    assert choose(page, "defect", "constant") == ["TOY-false", "TOY-<i>/%\"'&"]
    assert choose(page, "section", "second") == []
    assert page.evaluate("document.getElementById('none').checkVisibility()") is True
    page.evaluate("document.getElementById('reset').click()")
    assert page.evaluate(SHOWN) == everything
    assert choose(page, "kind", "rate") == ["TOY-rate"]
    page.evaluate("document.getElementById('reset').click()")
    assert choose(page, "paper", "other") == ["OTH-void", "OTH-missing", "OTH-breaks"]
    assert page.evaluate("document.getElementById('shown').textContent") == "3 of 16 claims"
    page.evaluate("document.getElementById('reset').click()")
    assert seek(page, "says toy-DRAW") == ["TOY-draw"]
    assert seek(page, "nowhere to be found") == []


def test_the_table_of_papers_filters(page: Browser) -> None:
    page.evaluate("""document.querySelector('button[data-set="paper=toy&verdict=REFUTED"]').click()""")
    assert page.evaluate(SHOWN) == ["TOY-false", "TOY-<i>/%\"'&"]


def test_keyboard_alone_reaches_and_opens_a_claim(page: Browser) -> None:
    page.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.call("Input.insertText", text="toy-rate")
    for _ in range(40):
        page.press("Tab")
        if page.evaluate("document.activeElement.tagName === 'SUMMARY' && document.activeElement.closest('.claim') !== null"):
            break
    page.press("Enter")
    assert page.evaluate("document.querySelector('details.claim[open]').dataset.id") == "TOY-rate"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_link_opens_the_claim_it_names_whatever_is_filtered(page: Browser, written: Written) -> None:
    page.open(written[1] / "index.html", "#TOY-false%2B")
    assert page.evaluate("document.querySelector('details.claim[open]').dataset.id") == "TOY-false+"
    choose(page, "verdict", "VACUOUS")
    page.evaluate("new Promise(done => { addEventListener('hashchange', () => setTimeout(done)); location.hash = '#TOY-two'; })")
    assert page.evaluate("[...document.querySelectorAll('details.claim[open]')].map(c => c.dataset.id)") == ["TOY-false+", "TOY-two"]
    assert "TOY-two" in page.evaluate(SHOWN)


def test_every_plot_is_drawn_inside_its_frame(page: Browser) -> None:
    page.evaluate("document.getElementById('open').click()")
    plots = page.evaluate(
        "[...document.querySelectorAll('figure')].map(f => { const s = f.querySelector('svg'), b = s.getBBox(), v = s.viewBox.baseVal, "
        "r = s.getBoundingClientRect(); return [f.closest('.claim').dataset.id, f.dataset.plot, s.querySelectorAll('*').length, "
        "b.x, b.y, b.x + b.width - v.width, b.y + b.height - v.height, r.width, r.height, s.getAttribute('aria-label')]; })"
    )
    assert {plot[0] for plot in plots} == {claim.id for claim in toy_paper.claims()} - {"OTH-missing", "OTH-breaks"}
    for name, kind, parts, left, top, right, bottom, width, height, says in plots:
        assert parts >= 2 and width > 100 and height > 30 and says, (name, kind)
        assert left >= -1 and top >= -1 and right <= 1 and bottom <= 1, (name, kind, left, top, right, bottom)


def assert_it_fits(browser: Browser, page: Path, width: int) -> None:
    """No sideways scroll with everything open, and no text of less than 12 pixels."""
    with browser.screen(width, 844, mobile=width < 1000):
        browser.open(page)
        browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        document, body, window = browser.evaluate(WIDTHS)
        assert window == width and document <= width and body <= width
        small = browser.evaluate(
            "Math.min(...[...document.querySelectorAll('p, dd, td')].map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        assert small >= 12


@pytest.mark.parametrize("name", ["index.html", "errata.html"])
@pytest.mark.parametrize("width", [390, 320, 1280])
def test_fits_a_phone_with_everything_open(browser: Browser, written: Written, name: str, width: int) -> None:
    assert_it_fits(browser, written[1] / name, width)


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_the_light_and_in_the_dark(browser: Browser, written: Written, dark: bool) -> None:
    """Contrast of at least 4.5 between text and page, the least that the accessibility guidelines of the web ask for."""
    with browser.screen(1280, 900, dark=dark):
        browser.open(written[1] / "index.html")
        browser.evaluate("document.getElementById('open').click()")
        pairs = browser.evaluate(
            "(() => { const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; "
            "if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; }; "
            "return [...document.querySelectorAll('p, dd, dt, summary span, th, td, a, button, h1, h2, h4')]"
            ".filter(e => e.textContent.trim()).map(e => [getComputedStyle(e).color, back(e), e.outerHTML.slice(0, 80)]); })()"
        )
    assert len(pairs) > 100
    poor = [(ink, paper, what) for ink, paper, what in pairs if contrast(ink, paper) < 4.5]
    assert poor == []
    assert (luminance(pairs[0][1]) < 0.2) is dark


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", ["index.html", "errata.html"])
def test_prints(browser: Browser, written: Written, name: str) -> None:
    browser.open(written[1] / name)
    closed = browser.pdf()
    assert closed.startswith(b"%PDF-") and b"%%EOF" in closed[-32:]
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    pages = browser.pdf().count(b"/Type /Page\n")
    assert pages >= closed.count(b"/Type /Page\n") >= 1
