"The step that turns the notebooks into the source of the site."

import ast
import json
import re
from itertools import chain
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from execnb.shell import CaptureShell
from nbdev.clean import clean_nb
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
import api
import book
import reference
import results
import tables

from cube_nb.workshop.profiles import code_cells

ROOT = Path(__file__).parents[2]
SOURCE = """
# %% ../../nbs/part/90_module.ipynb #0a1b2c3d
@patch
def turn(
    self: Thing,
    states,  # uint8[B, S], as they
    # lie
    times: int = 1,  # how often
    *,
    how: Annotated[str, Option(help='which way')] = 'left',
) -> list:  # of B states
    "Turn it. Raises `ValueError` for a thing that is stuck."
    if times < 0:
        raise ValueError(f'cannot turn {times} times')
    return states
class Pair(NamedTuple):
    "Two of them."
    first: int  # the one
    second: int = 2
def _private(x): pass
@overload
def seen(x): ...
"""
SETTINGS = """
from ..config import Settings, Whole
Share = Annotated[float, Field(ge=0, le=1, description='of all states')]
class WalkOptions(Settings):
    "What a walk can be told."
    width: Whole = Field(1 << 14, gt=0, description='states in a layer')  # see `beam`
    needed: int = Field(description='which')
    share: Annotated[float, Field(lt=1)] = 0.5
"""


def read(source):
    return api.Reader('cube_nb.part.module', source).read()


def rows_of(entry):
    "Name, type, default and meaning of its parameters."
    return [' | '.join((p.name, p.type, p.default, p.about)) for p in entry.parameters]


def test_the_index_reads_signatures_comments_and_errors():
    turn, pair = read(SOURCE)
    assert (turn.name, turn.kind, turn.cell) == ('Thing.turn', 'method', 'cell-part-90_module-0a1b2c3d')
    assert turn.signature == "(states, times: int=1, *, how: str='left') -> list"
    about = [f'{p.name}: {p.about}' for p in turn.parameters]
    assert about[:2] == ['states: uint8[B, S], as they', 'times: how often']
    assert about[2:] == ['how: which way', 'returns: of B states']
    assert turn.errors == ['ValueError: cannot turn {times} times']
    assert pair.name == 'Pair' and rows_of(pair) == ['first | int |  | the one', 'second | int | 2 | ']
    text = reference.description(turn)
    assert '{py:method} Thing.turn(states, ' in text and ':module: cube_nb.part.module' in text
    assert '| `times` | `int` | `1` | how often |' in text
    assert '- `ValueError`: `cannot turn {times} times`' in text


def test_the_index_shows_what_settings_may_be():
    "What pydantic knows of a field: its default, its meaning and its range; a comment says more."
    share, options = read(SETTINGS)
    assert options.bases == ['cube_nb.config.Settings']
    assert 'has from {py:obj}`Settings <cube_nb.config.Settings>`.' in reference.description(options)
    assert share.about == 'of all states, at least 0, at most 1'
    width, *others = rows_of(options)
    assert width == 'width | Whole | 1 << 14 | states in a layer, above 0; see `beam`'
    assert others == ['needed | int |  | which', 'share | float | 0.5 | below 1']


def test_types_of_other_modules_have_their_full_names():
    function = 'def best(rounds: list[Round], at: int = 0) -> Round: ...'
    (entry,) = read(f'from ..exact.dual import Round\n{function}\n')
    full = 'cube_nb.exact.dual.Round'
    assert entry.signature == f'(rounds: list[{full}], at: int=0) -> {full}'
    assert [p.type for p in entry.parameters] == ['list[Round]', 'int', 'Round']


@pytest.fixture(scope='module')
def library():
    return api.read_library()


def test_the_index_has_every_public_name(library):
    "What `__all__` of a module names, and what nbdev lists."
    for module in library:
        names = {entry.name.split('.')[0] for entry in module.entries}
        path = ROOT / (module.name.replace('.', '/') + '.py')
        listed = re.search(r'__all__ = (\[.*?\])', path.read_text(encoding='utf-8'), re.DOTALL)
        assert set(ast.literal_eval(listed[1])) <= names, module.name
    full_names = [entry.full_name for module in library for entry in module.entries]
    assert len(full_names) == len(set(full_names))


def test_the_index_says_what_everything_is(library):
    "A docstring for each function and class, a type or a comment for each parameter."
    told = [module for module in library if module.name != 'cube_nb.solving']  # worked on elsewhere
    for entry in (entry for module in told for entry in module.entries):
        assert entry.about or entry.kind == 'data', entry.full_name
        unsaid = [p.name for p in entry.parameters if entry.kind != 'class' and not p.type + p.about]
        assert not unsaid, (entry.full_name, unsaid)


@pytest.fixture(scope='module')
def whole_book(library):
    return book.Book(book.find_pages(), library)


def test_every_notebook_is_in_the_contents(whole_book):
    entries = book.contents(whole_book) + book.experiments_page(whole_book)
    for page in whole_book.pages:
        assert page.stem == 'index' or page.stem in entries


def test_words_are_linked(whole_book):
    page = Path('experiments/league.ipynb')
    words = book.Words(whole_book, page, '', {'summarise': 'cube_nb.measure.evaluate.summarise'})
    assert words.link('See `get_puzzle`.') == 'See {py:obj}`get_puzzle <cube_nb.cube.puzzle.get_puzzle>`.'
    kept = '# Of `get_puzzle`\n\n```python\nget_puzzle("cube3")\n```\n\n[`get_puzzle`](https://a.b/), $get_puzzle$'
    assert words.link(kept) == kept
    assert words.link('`optimal` and `league`') == '`optimal` and `league`'  # a column, and the page itself
    readme = 'data/published/README.md'
    assert words.link(f'[what](../../{readme})') == f'[what]({results.in_repository(readme)})'


def test_works_are_linked_where_a_page_first_names_them(whole_book):
    address = 'https://arxiv.org/abs/1512.03385'

    def linked(*texts):
        words = book.Words(whole_book, Path('nets/01_networks.ipynb'), '', {})
        return [words.link(text) for text in texts]

    once = linked('Blocks (He et\nal. 2016) add.', 'Again He et al. 2016.')
    assert once == [f'Blocks ([He et\nal. 2016]({address})) add.', 'Again He et al. 2016.']
    for kept in (
        f'# He et al. 2016\n\n[He et al. 2016]({address}), and He et al. 2016 once more',
        f'Blocks (He et al. 2016, [*Deep residual learning*]({address})) add.',  # one link is enough
        '`He et al. 2016`, $He et al. 2016$ and, as no work of the bibliography, He et al. 2015',
    ):
        assert linked(kept) == [kept]
    links, pattern = book.cited_works()
    assert links['Pohl 1970'].startswith('https://doi.org/') and links['Eduardo Testé']
    assert all(map(pattern.fullmatch, links))


def test_chapters_name_each_other_by_name_and_link(whole_book):
    "So that a reader finds them, on the site and in the notebook; a number says nothing."
    vague = r'(next|last|previous|following|earlier|later)\s+(two\s+)?chapter'
    vague += r'|(\(|see\s+)the\s+chapter|chapters?\s+[\d*]'
    for page in whole_book.pages:
        if page.suffix == '.ipynb':
            cells = book.read(book.NOTEBOOKS / page, book.NO_CONVERT).cells
            found = [re.search(vague, cell.source) for cell in cells if cell.cell_type == 'markdown']
            assert not any(found), (page, found)


def test_cells_are_folded():
    cell = new_code_cell('#| export\n' + 'x = 1\n' * 5)
    book.show_code(cell)
    assert cell.source == 'x = 1\n' * 4 + 'x = 1' and cell.metadata['tags'] == []
    cell = new_code_cell('#| export\ndef long():\n' + '    x = 1\n' * 30)
    book.show_code(cell)
    assert cell.metadata['tags'] == ['hide-input']
    assert cell.metadata['mystnb']['code_prompt_show'] == 'long, 31 lines'
    beside = new_code_cell('x = 1\n' * 7)
    book.show_code(beside, book.LONGEST_BESIDE_RESULTS)
    given = new_code_cell(beside.source, metadata=dict(tags=['parameters']))
    book.show_code(given, book.LONGEST_BESIDE_RESULTS)
    assert 'hide-input' in beside.metadata['tags'] and given.metadata['tags'] == ['parameters']
    assert book.is_hidden(new_code_cell('#| hide\nx = 1')) and not book.is_hidden(cell)


DRAWN = {  # code -> what it says of its picture
    'plot()': 'The mean of d.', '#| fig-alt: A rising line: d.\nplot()': 'A rising line: d.',
    "run.table(rows, 'toy')\nrun.figure(fig, 'toy', 'A line.')": 'A line.',
}  # fmt: skip


@pytest.mark.parametrize('code', DRAWN)
def test_pictures_are_described(code):
    "By what is written above the code, else in the call that writes the figure, else in the words above the cell."
    picture = dict(output_type='display_data', metadata={}, data={'image/png': ''})
    above = new_markdown_cell('## Depth\n\nThe *mean* of $d$. It grows.')
    cell = new_code_cell(code, outputs=[picture])
    book.describe_pictures(new_notebook(cells=[above, cell]))
    assert cell.metadata['mystnb']['image']['alt'] == DRAWN[code]
    book.show_code(cell)
    assert 'fig-alt' not in cell.source


@pytest.fixture
def finished(tmp_path):
    "A root with the committed run of an experiment."
    for folder in ('data/cpu', 'figures/cpu'):
        (tmp_path / folder).mkdir(parents=True)
    squares = ''.join(f'{d},{d * d}\n' for d in range(50))
    (tmp_path / 'data/cpu/toy.csv').write_text(f'depth,states\n{squares}')
    (tmp_path / 'figures/cpu/toy.png').write_bytes(b'picture')
    record = dict(profile='cpu', commit='a' * 40, device='cpu', cpu='a processor', cores=2, seconds=100)
    record |= dict(seed=0, started='2026-11-22T10:00:00', parameters=dict(seed=0, seeds=3), dirty=False)
    record |= dict(results={'data/cpu/toy.csv': '', 'figures/cpu/toy.png': ''})
    (tmp_path / 'data/cpu/toy.json').write_text(json.dumps(record))
    return tmp_path


def test_results_stand_below_the_cells_that_made_them(finished):
    codes = ["rows = run.table(rows, 'toy')\nrun.figure(fig, 'toy')", "run.table(more, 'later')"]
    cells = [new_code_cell('seed: int = 0', metadata=dict(tags=['parameters']))]
    cells += map(new_code_cell, [*codes, '%matplotlib inline'])
    notebook = new_notebook(cells=cells)
    record = results.committed_record('toy', finished)
    said = [{'text/plain': '12 of 13 solved\n'}, {'text/html': '<b>all</b>'}]
    record['said'] = {cells[1].id: said, 'gone': [{}]}
    results.show_results(notebook, record, finished)
    parameters, (printed, shown, table, figure), (later,), none = [cell.outputs for cell in cells]
    assert printed.text == '12 of 13 solved\n' and shown.data == {'text/html': '<b>all</b>'}
    assert 'seeds = 3' in parameters[0].text
    assert 'commit aaaaaaaaaa' in parameters[0].text and 'seeds 0 to 2 · 2 minutes' in parameters[0].text
    assert '8 of 50 rows' in table.data['text/html'] and '<td>7</td>' in table.data['text/html']
    first, whole = table.data['text/html'].split('<summary>All 50 rows</summary>')
    assert '<td>2401</td>' in whole and '<td>2401</td>' not in first
    assert figure.data['image/png'] == 'cGljdHVyZQ=='
    assert 'the next one will have it' in later.data['text/html'] and none == []
    said = results.statement('toy', record)
    assert 'aaaaaaaaaa' in said and 'seeds 0 to 2' in said and '2 minutes' in said and '2026-11-22' in said
    results.show_results(notebook, None, finished)
    assert not any(cell.outputs for cell in cells) and results.committed_record('other', finished) is None
    assert 'No committed run yet' in results.statement('other', None)


VIEWS = {  # cell -> the numbers of the view, or none if the whole table or its first rows are shown
    "run.table(rows, 'toy').tail(2)": [48, 2304, 49, 2401],
    "rows = run.table(made(3), 'toy')\nprint(rows)\nrows[rows.depth == most][['states']]": [2401],
    "run.table(rows.drop(columns='other'), 'toy')\nrows.set_index('depth').loc[[2]].T": [4],
    "rows = run.table(made(3), 'toy').set_index('depth')\nfar = rows.tail(1)\nfar.states.rename('a')": [2401],
    "rows = run.table(made(3), 'toy')\nrows.states.sum()": None,  # a number, which the run has said
    "run.table(rows, 'toy').round(3)": None,
    "rows = run.table(made(3), 'toy')\nrows['more'] = other\nrows.tail(1)": None,
    "rows = run.table(made(3), 'toy')\nrows.sort_values('states', inplace=True)\nrows.tail(1)": None,
    "rows = run.table(made(3), 'toy')\nrows.join(other)": None,  # only the run had the other
    "run.table(rows, 'toy')\nother": None,
    "pd.concat([run.table(rows, 'toy')] * 2)[['depth']]": None,  # too long
    "run.table(rows, 'later').tail(2)": None,  # not written by this run
}


@pytest.mark.parametrize('code', VIEWS)
def test_what_a_cell_shows_of_a_table_is_made_again_from_its_file(finished, code):
    cell = new_code_cell(code)
    before, after = map(new_code_cell, ['most = 49\nother = made_elsewhere()', 'most = 3'])
    record = results.committed_record('toy', finished)
    results.show_results(new_notebook(cells=[before, cell, after]), record, finished)
    (shown,) = cell.outputs
    html = shown.data['text/html']
    assert ('a view of 50 rows of' in html) == (VIEWS[code] is not None)
    if VIEWS[code] is not None:
        numbers = re.findall(r'<td>(\d+)</td>', html.split('</table>')[0])
        assert [*map(int, numbers)] == VIEWS[code] and 'All 50 rows' in html


def test_shown_results_leave_the_meaning_of_a_notebook_alone(tmp_path):
    "A record keeps the digest of the code; outputs are no part of it, and nbdev's cleaning keeps them."
    source = ROOT / 'nbs/experiments/depth_populations.ipynb'
    notebook = results.read(source, results.NO_CONVERT)
    results.show_results(notebook, results.committed_record('depth_populations'))
    shown = tmp_path / source.name
    results.write(notebook, shown)
    assert code_cells(shown) == code_cells(source)
    before = sum(len(cell.get('outputs', [])) for cell in notebook.cells)
    clean_nb(notebook)
    assert before > 2 and sum(len(cell.get('outputs', [])) for cell in notebook.cells) == before


def test_a_chapter_shows_what_it_exports(whole_book):
    cells = book.convert(whole_book, Path('ground/03_clock.ipynb')).cells
    code = '\n'.join(cell.source for cell in cells if cell.cell_type == 'code')
    assert 'class Clock' in code and '#|' not in code and 'default_exp' not in code
    words = '\n'.join(cell.source for cell in cells if cell.cell_type == 'markdown')
    assert 'The workshop · {py:obj}`cube_nb.clock` · [source](' in words
    assert '(cell-ground-03_clock-' in words and '{py:obj}`Clock <cube_nb.clock.Clock>`' in words


EXPERIMENTS = list(yaml.safe_load((ROOT / 'workflow/experiments.yaml').read_text(encoding='utf-8')))


def outputs_of(notebook):
    "The outputs of its code cells, one after another."
    return [output for cell in notebook.cells for output in cell.get('outputs', [])]


@pytest.mark.parametrize('experiment', EXPERIMENTS)
def test_every_experiment_shows_all_of_a_committed_run(whole_book, experiment):
    "Expected failures are seen as a list: no cpu run is committed, or one that is older than what is asked of it now."
    page = Path('experiments', f'{experiment}.ipynb')
    box = book.line_under_title(whole_book, page)
    shown = results.committed_record(experiment) is not None
    assert ('No committed run yet' in box) != shown and ('The committed run' in box) == shown
    if not (ROOT / 'data/cpu' / f'{experiment}.json').exists():
        pytest.xfail(f'there is no data/cpu/{experiment}.json')
    assert shown
    notebook = book.convert(whole_book, page)
    texts = [output.get('data', {}).get('text/html', '') for output in outputs_of(notebook)]
    missing = [text for text in texts if 'class="result missing"' in text]
    later = 'the committed run was made before this result was asked for'
    if missing and all(later in text for text in missing):
        pytest.xfail(f'the committed run lacks {len(missing)} results that are asked for now')
    assert not missing, missing
    assert any('image/png' in output.get('data', {}) for output in outputs_of(notebook)) or any(texts)


def test_rows_of_sources_are_those_of_today():
    for path in book.NOTEBOOKS.glob('*/*.ipynb'):
        for cell in book.read(path, book.NO_CONVERT).cells:
            rows = results.rows_of_source(cell.source) if cell.cell_type == 'code' else []
            for kept, today in zip(cell.outputs if rows else [], rows, strict=True):
                assert kept.data['text/html'] == today.data['text/html'], f'make show-results: {path.name}'


@pytest.mark.parametrize('experiment', EXPERIMENTS)
def test_outputs_that_a_notebook_keeps_are_those_of_its_committed_run(experiment):
    kept = book.read(book.NOTEBOOKS / f'experiments/{experiment}.ipynb', book.NO_CONVERT)
    if not outputs_of(kept):
        pytest.skip('the notebook keeps no outputs: make show-results')
    shown = book.read(book.NOTEBOOKS / f'experiments/{experiment}.ipynb', book.NO_CONVERT)
    results.show_results(shown, results.committed_record(experiment))
    for notebook in (kept, shown):
        clean_nb(notebook)
    assert outputs_of(kept) == outputs_of(shown), f'make show-results ONLY={experiment}'


def test_an_experiment_opens_with_a_figure_and_results_say_what_made_them(whole_book):
    page = Path('experiments/league.ipynb')
    cells = book.convert(whole_book, page).cells
    pictures = [n for n, cell in enumerate(cells) if 'image/png' in str(cell.get('outputs', ''))]
    assert pictures[0] < 4 and 'remove-input' in cells[pictures[0]].metadata.tags
    texts = [cell.source for cell in cells if cell.cell_type == 'markdown']
    made = [text for text in texts if text.startswith('{.made}')]
    labels = re.findall(r'\(#(cell-experiments-league-\w+)\)', ' '.join(made))
    assert len(labels) == len(made) > 4 and all(f'({label})=' in texts for label in labels)
    assert '#reached-league}' in texts[-2] and 'cube_nb.search.beam.beam' in texts[-2]


def test_a_chapter_says_what_to_read_before(whole_book):
    "Of its own part and of those before it: the science needs no chapter of the workshop."
    line = book.line_under_title(whole_book, Path('exact/06_prover.ipynb'))
    assert 'Read before: [One search whose gap closes](../search/07_improve.ipynb), [' in line
    parts = [*map(book.read_before(whole_book.modules).get, ('cube/03_puzzle', 'depth/02_bfs'))]
    assert parts == [[], ['cube/04_keys']]


def test_the_parts_have_each_chapter_once_and_the_science_is_read_in_a_weekend(whole_book):
    chapters = [
        chapter for part in book.PARTS for group in book.groups_of(part).values() for chapter in group
    ]
    assert sorted(chapters) == sorted(
        book.name_of(page) for page in whole_book.pages if book.is_chapter(page)
    )
    assert sum(map(len, book.groups_of('The science').values())) <= 30


def test_experiments_are_listed_in_the_order_of_the_pipeline(whole_book):
    "Previous and next lead along the methods; a bar in a title is no border of a cell."
    assert [page.stem for page in book.experiment_pages(whole_book)] == EXPERIMENTS
    page = book.experiments_page(whole_book)
    assert page.splitlines()[-len(EXPERIMENTS) - 1 : -1] == EXPERIMENTS
    rows = [line for line in page.splitlines() if line.startswith('| [')]
    assert [row.replace(r'\|', '').count('|') for row in rows] == [4] * len(EXPERIMENTS)
    assert any(r'\|' in row for row in rows)


def test_the_table_of_the_readme_is_what_its_code_makes_of_the_data(monkeypatch):
    "Its numbers come from files, and the files may have changed since `make readme`."
    monkeypatch.chdir(book.NOTEBOOKS)
    cells = book.read(book.NOTEBOOKS / 'index.ipynb', book.NO_CONVERT).cells
    begin = next(number for number, cell in enumerate(cells) if '## How short' in cell.source)
    shell = CaptureShell()
    shown = chain.from_iterable(shell.run(c.source) for c in cells[begin:] if c.cell_type == 'code')
    table = ''.join(next(filter(None, (output['data'].get('text/markdown') for output in shown))))
    assert table.count('\n| ') > 10
    assert table in (ROOT / 'README.md').read_text(encoding='utf-8'), 'make readme'


TOY_TABLE = """<p>Before</p><table class="dataframe"><thead>
<tr><th>name</th><th>mean</th><th>why</th></tr></thead><tbody>
<tr><th rowspan="2">both</th><td>0.5 (0.4 to 0.6)</td><td>because that is so, and not otherwise</td></tr>
<tr><td>1e-05</td><td></td></tr></tbody></table>"""


def test_columns_of_words_are_marked():
    "So that they wrap, at the left, while numbers stay on a line."
    cell = new_code_cell('x', outputs=[new_output('display_data', {'text/html': TOY_TABLE})])
    tables.mark_words(new_notebook(cells=[cell]))
    html = cell.outputs[0].data['text/html']
    assert html.startswith('<p>Before</p><table class="dataframe">')
    kinds = [part.get('class', []) for part in BeautifulSoup(html, 'html.parser').find_all(['th', 'td'])]
    words, long = ['words'], ['words', 'long']
    assert kinds == [words, [], long, words, [], long, [], long]


def test_tables_of_runs_have_whole_texts():
    long = 'a sentence that is much longer than the fifty characters that pandas shows'
    assert long in results.as_html(results.pd.DataFrame(dict(text=[long])))
