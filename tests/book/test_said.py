"Numbers in the text of experiments are evaluated on tables, or a source's."

import re
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import nbformat
import pytest

from cube_nb.workshop.profiles import experiments
from cube_nb.workshop.results import load_table, sentences

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / 'docs'))
import results  # noqa: E402

PAGES = sorted(experiments())
MOST, LONGEST = 5, 50  # sentences of a page, words of a sentence

NO_SENTENCE = re.compile(
    r'```[^`]*```|\$\$[^$]*\$\$|`[^`]*`|\$[^$]*\$|\]\([^)]*\)|^(?: *\||    |[#>]).*$|^\d\. ', re.MULTILINE
)
NAMES = re.compile(r'\b\dx\dx\d\b|(?<![,\d])00\d\b|\b(?:19|20)\d\d\b|\bH[12]00\b|\b[aA]100\b')
SOURCE = re.compile(
    r'\b(source|book|paper|published|printed|article|note|DeepCubeA|Lapan|McAleer)', re.IGNORECASE
)
STATISTICS = re.compile(r'\b95 %|\b0\.05\b')  # what an interval and a test are, not what was found


def cells_of(page, kind):
    cells = nbformat.read(ROOT / f'nbs/experiments/{page}.ipynb', nbformat.NO_CONVERT).cells
    return [cell for cell in cells if cell.cell_type == kind]


def found(page, read):
    return sentences(results.found_in(page), read)


def changed(page):
    "Its tables, with other numbers."

    def read(name):
        table = load_table('cpu', name)
        numbers = table.select_dtypes('number').columns
        return table.assign(**{column: table[column] * 3 for column in numbers})

    return read


def typed_numbers(page):
    "Sentences with a number that nobody evaluates and no source has."
    text = '\n\n'.join(NAMES.sub('', NO_SENTENCE.sub('', cell.source)) for cell in cells_of(page, 'markdown'))
    parts = re.split(r'(?<=[.:;?!])\s+', ' '.join(text.split()))
    return [part for part in parts if re.search(r'\d', STATISTICS.sub('', part)) and not SOURCE.search(part)]


@pytest.mark.parametrize('page', PAGES)
def test_what_was_found_is_in_few_sentences_that_hold(page):
    said = found(page, partial(load_table, 'cpu'))
    assert 0 < len(said) <= MOST
    for sentence in said:
        assert sentence[0].isupper() and sentence.endswith('.') and not re.search(r'[.?!]\s', sentence), (
            sentence
        )
        assert len(sentence.split()) <= LONGEST, sentence
        assert not re.search(r'\bnan\b|\binf\b', sentence), sentence
    assert any(re.search(r'\d', sentence) for sentence in said)


@pytest.mark.parametrize('page', PAGES)
def test_other_numbers_in_the_tables_are_other_words_or_stop_the_page(page):
    before = found(page, partial(load_table, 'cpu'))
    with suppress(ValueError, LookupError, StopIteration):
        assert found(page, changed(page)) != before


@pytest.mark.parametrize('page', [page for page in PAGES if not page.startswith('report')])
def test_a_page_ends_with_what_was_found(page):
    assert '@run.conclude' in cells_of(page, 'code')[-1].source
    assert cells_of(page, 'markdown')[-1].source == '## What we found'


ONE_CELL = {  # page -> table, column, row by its first column; each stands in a sentence
    'league': ('league_summary', 'median_seconds', 'improve, 600 s, large table'),
    'report_pictures': ('dqn_cube3_seeds', 'solved', 10),
    'mcts_published': ('mcts_published', 'solved', 'zero-goal'),
}


@pytest.mark.parametrize('page', ONE_CELL)
def test_one_number_that_is_changed_in_a_table_is_another_number_in_the_text(page):
    name, column, row = ONE_CELL[page]

    def read(table):
        rows = load_table('cpu', table)
        if table == name:
            rows.loc[rows[rows.columns[0]] == row, column] *= 1.07
        return rows

    before, after = found(page, partial(load_table, 'cpu')), found(page, read)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_a_number_that_is_typed_is_seen():
    assert re.search(r'\d', STATISTICS.sub('', 'It solves 93 of 100 cubes.'))


@pytest.mark.parametrize('page', PAGES)
def test_no_number_is_typed(page):
    assert typed_numbers(page) == []
