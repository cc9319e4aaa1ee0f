"""The pages of the site in a browser without a network.

`make docs-check` builds the site and opens every page, `make test-all` a sample of them.
"""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from browser import browsing, hosted, with_browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / '_docs'
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob('*.html'))
PAGES = [page for page in PAGES if 'solve/' not in page]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PAGES, reason='no site: make docs')]
PLACE = 'cube_nb'  # the site lies in a folder of its host


class Links(HTMLParser):
    "What a page links to and loads, its anchors, and its pictures without a text."

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors, self.silent = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get('id') or attributes.get('name'))
        self.targets += [attributes[key] for key in ('href', 'src') if attributes.get(key)]
        if tag == 'img' and not attributes.get('alt'):
            self.silent.append(attributes.get('src'))


@pytest.fixture(scope='module')
def pages():
    return {page: Links((SITE / page).read_text(encoding='utf-8')) for page in PAGES}


def test_links_lead_somewhere(pages):
    broken = []
    for page, links in pages.items():
        for target in set(links.targets):
            address = urlsplit(urljoin(page, target))
            path, anchor = unquote(address.path), unquote(address.fragment)
            if address.scheme or path.startswith('..'):
                continue
            if not (SITE / path).is_file() or anchor and path in pages and anchor not in pages[path].anchors:
                broken.append(f'{page}: {target}')
    assert not broken, broken


def test_pictures_have_texts(pages):
    silent = {page: links.silent for page, links in pages.items() if links.silent}
    assert not silent


def test_nothing_is_loaded_from_elsewhere():
    loaded = r'<(?:script|img|iframe|link rel="(?:stylesheet|preload)")[^>]*(?:src|href)="(?:https?:)?//'
    assert not [page for page in PAGES if re.search(loaded, (SITE / page).read_text(encoding='utf-8'))]


# formulas that are not drawn, formulas in plain text (code may have them), how much wider than its window the page is,
# cells of tables whose text is cut off, by the page or by pandas, and words that do not stand out from their ground by
# 4.5 to 1, the contrast that WCAG 2.1 asks for (level AA)
LOOK = """(() => {
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
const linear = part => part <= 10.3 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const ground = part => {
  const layers = [];
  for (; part; part = part.parentElement) {
    const [r, g, b, alpha = 1] = numbers(getComputedStyle(part).backgroundColor);
    layers.unshift([[r, g, b], alpha]);
    if (alpha === 1) break;
  }
  return layers.reduce((below, [colour, alpha]) => below.map((b, i) => b * (1 - alpha) + colour[i] * alpha), [255, 255, 255]);
};
const contrast = part => {
  const pair = [luminance(numbers(getComputedStyle(part).color)), luminance(ground(part))];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
};
const words = [...document.querySelectorAll('article :not(script, style, svg, svg *, .katex-mathml *)')].filter(part =>
  part.offsetWidth && [...part.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
return {
  ready: document.readyState === 'complete',
  formulas: [...document.querySelectorAll('.formula')].filter(f => !f.querySelector('.katex')).length
    + document.querySelectorAll('.katex-error').length,
  raw: [...document.querySelectorAll('article :not(pre, pre *, code, script, style, .katex, .katex *)')].filter(part =>
    [...part.childNodes].some(node => node.nodeType === 3 && /\\$\\$|\\\\(frac|sum|pi|lambda)\\b/.test(node.data))).length,
  wider: document.documentElement.scrollWidth - window.innerWidth,
  cut: [...document.querySelectorAll('article :is(td, th)')].filter(cell => /\\w[^]*\\.\\.\\.$/.test(cell.textContent) ||
    cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).overflowX !== 'visible').length,
  faint: words.filter(part => contrast(part) < 4.5).map(part => `${part.className} ${part.textContent.slice(0, 20)}`).slice(0, 3),
}})()"""


def look(browser, address, *size):
    "What is to be seen on a page."
    browser.show(address, *size)
    browser.wait(lambda: (browser.evaluate(LOOK) or {}).get('ready'))
    return browser.evaluate(LOOK)


# of each kind of page one or two, among them those with the widest tables
SAMPLE = [
    'index.html', 'contents.html', 'glossary.html', 'bibliography.html', 'depth/03_markov.html',
    'learn/05_davi.html', 'workshop/05_compare.html', 'tutorials/1_solve_your_cube.html',
    'experiments/index.html', 'experiments/league.html', 'experiments/report.html', 'api/index.html',
    'api/search.beam.html',
]  # fmt: skip
OPENED = SAMPLE if os.environ.get('SITE_SAMPLE') else PAGES  # `make test-all` has not the time for all


def test_the_sample_is_of_pages_that_there_are():
    assert set(SAMPLE) <= set(PAGES)


@with_browser
@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
@pytest.mark.parametrize('size', [(1280, 900), (390, 844)], ids=['desk', 'telephone'])
def test_pages_in_a_browser(size, dark):
    found = []
    with hosted(SITE, PLACE) as (address, _), browsing(address) as browser:
        for page in OPENED:
            seen = look(browser, address + page, *size, dark)
            if any(seen.get(fault) for fault in ('formulas', 'raw', 'cut', 'faint')) or seen['wider'] > 0:
                found.append((page, seen))
    assert not found, '\n'.join(map(str, found))


@with_browser
def test_the_search_finds():
    with hosted(SITE, PLACE) as (address, _), browsing(address) as browser:
        look(browser, address + 'search.html?q=detailed+balance', 1280, 900, False)
        browser.wait(lambda: browser.evaluate('document.querySelectorAll("#search-results li").length'))
