"What holds for the book as a whole: its notebooks, its README and its lock."

import ast
import re
import sys
from configparser import ConfigParser
from functools import cache
from pathlib import Path

import nbformat
from packaging.markers import default_environment
from packaging.requirements import Requirement

from cube_nb.config import EXTRAS

ROOT = Path(__file__).parents[2]
NBS = ROOT / 'nbs'
CHAPTERS = sorted(NBS.glob('*/[0-9][0-9]_*.ipynb'))
TUTORIALS = sorted(NBS.glob('tutorials/*.ipynb'))
NOTEBOOKS = CHAPTERS + TUTORIALS + sorted(NBS.glob('experiments/*.ipynb'))
LINK = re.compile(r'\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)')
CHAPTER = re.compile(r'(\w+)/[0-9]{2}_(\w+)\.ipynb')
FENCED = re.compile(r'```.*?```', re.DOTALL)
PIECE = re.compile(r'(?<!`)`[^`]+`(?!`)|(?<![$\\])\$[^$]+\$(?!\$)')  # code or a formula within a line
SHOWING = {'print', 'plt.show'}
ALT_TEXT = re.compile(r'\A(?:#\|.*\n)*?#\| fig-alt: (.*\.)\n')  # above the code of a cell
DRAWN_AS_TEXT = {'11_stickers', '06_terminal'}  # nets of letters are their pictures


@cache
def notebook(path):
    return nbformat.read(path, nbformat.NO_CONVERT)


def texts(path):
    "The Markdown cells of a notebook, without blocks of code."
    return [FENCED.sub('', cell.source) for cell in notebook(path).cells if cell.cell_type == 'markdown']


def code_cells(path):
    return [cell for cell in notebook(path).cells if cell.cell_type == 'code']


def outputs(path, kind):
    "What the cells of a notebook show of one kind."
    shown = [output for cell in code_cells(path) for output in cell.outputs]
    return [output.data[kind] for output in shown if kind in output.get('data', {})]


def is_plain(cell, words):
    "No cell of the shell, and not marked by one of the words."
    return not re.search(rf'^#\| *({words})|^[%!]', cell.source, re.MULTILINE)


def call_of(statement):
    "The name of the function that a statement calls and does nothing else; else nothing."
    called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return ast.unparse(statement.value.func) if called else ''


def test_title_and_quote_stand_alone():
    "The site and the tables of chapters show them where a link leads elsewhere. And no kernel is asked for."
    for path in NOTEBOOKS:
        first = notebook(path).cells[0]
        assert first.cell_type == 'markdown' and '](' not in first.source, path
        assert re.fullmatch(r'# [^\n]+\n\n> [^\n]+', first.source.strip()), path
        assert notebook(path).metadata.get('kernelspec', {}).get('name') == 'python3', path


def test_links_lead_to_what_they_name():
    "To a file that is there; and a chapter that is called by its module is that module's."
    for path in sorted(NBS.rglob('*.ipynb')):
        text = '\n'.join(texts(path) + outputs(path, 'text/markdown'))
        for name, target in LINK.findall(text):
            linked = (path.parent / target).resolve()
            assert linked.exists(), (path, target)
            chapter = CHAPTER.search(linked.as_posix())
            if chapter and re.fullmatch(r'[a-z]+\.[a-z0-9_]+', name):
                assert name == '.'.join(chapter.groups()), (path, target)


def test_imports_have_cells_of_their_own():
    "A reader sees at a glance what a notebook needs; the site folds long cells of imports."
    for path in NOTEBOOKS:
        for cell in code_cells(path):
            if is_plain(cell, 'export|eval: *false'):
                kinds = {isinstance(s, ast.Import | ast.ImportFrom) for s in ast.parse(cell.source).body}
                assert len(kinds) < 2, f'{path}: move the imports into a cell of their own:\n{cell.source}'


def test_code_and_formulas_are_not_broken_into_lines():
    "Whoever reads the source can copy a command whole, and sees a formula whole."
    for path in NOTEBOOKS:
        for paragraph in '\n\n'.join(texts(path)).split('\n\n'):
            broken = [piece for piece in PIECE.findall(paragraph) if '\n' in piece]
            assert not broken, (path, broken)


def test_what_a_chapter_shows_is_kept():
    "The site runs nothing, so an output that is not in the notebook is seen by nobody."
    for path in CHAPTERS + TUTORIALS:
        for cell in code_cells(path):
            if is_plain(cell, 'hide|export'):
                shows = SHOWING & {*map(call_of, ast.parse(cell.source).body)}
                assert cell.outputs or not shows, f'make show-chapters ONLY={path}\n{cell.source}'


def test_every_chapter_has_a_picture():
    for path in CHAPTERS:
        seen = [cell for cell in code_cells(path) if is_plain(cell, 'hide|export')]
        kinds = {kind for cell in seen for output in cell.outputs for kind in output.get('data', {})}
        linked = any('![' in text for text in texts(path))
        assert kinds & {'image/png', 'text/html'} or linked or path.stem in DRAWN_AS_TEXT, path


def test_every_picture_has_a_text_for_those_who_do_not_see_it():
    for path in [*CHAPTERS, *TUTORIALS, *NBS.glob('*.ipynb')]:
        for cell in code_cells(path):
            drawn = any('image/png' in output.get('data', {}) for output in cell.outputs)
            text = ALT_TEXT.match(cell.source)
            assert drawn == ('fig-alt' in cell.source) == (text is not None), (path, cell.source)
            assert not text or len(text[1]) <= 200, (path, cell.source)


def test_contents_list_every_notebook_with_its_line():
    shown = '\n'.join(outputs(NBS / 'contents.ipynb', 'text/markdown'))
    shown = shown.replace('\\|', '|')  # in a cell of a table
    for path in NOTEBOOKS:
        line = notebook(path).cells[0].source.split('\n> ')[1].split('\n')[0]
        address = f'({path.relative_to(NBS).as_posix()})'
        assert address in shown and line in shown, 'run nbs/contents.ipynb again'


# ---- tutorials: what a reader sees is what a run printed and drew, and not the short one of test_tutorials.py ----
def test_tutorials_check_something_and_were_run_in_full():
    for path, after in zip(TUTORIALS, [*TUTORIALS[1:], None]):
        code = '\n'.join(cell.source for cell in code_cells(path))
        assert len(re.findall(r'^\s*assert ', code, re.MULTILINE)) >= 5, path
        assert '#| export' not in code and 'default_exp' not in code, path
        (given,) = [cell for cell in code_cells(path) if 'parameters' in cell.metadata.get('tags', [])]
        assert 'smoke: bool = False' in given.source and outputs(path, 'image/png'), path
        shown = [output.output_type for cell in code_cells(path) for output in cell.outputs]
        assert 'error' not in shown, path
        assert after is None or f']({after.name})' in '\n'.join(texts(path)), f'{path} leads to no other'


# ---- words, README and lock ----
def test_the_glossary_is_in_order():
    terms = re.findall(r'^- \*\*(.+?)[.,]', texts(NBS / 'glossary.ipynb')[1], re.MULTILINE)
    keys = [re.sub(r'[^a-z ]', '', term.replace('*', ' ').lower()) for term in terms]
    assert keys == sorted(keys) and len(keys) == len(set(keys)) > 60


def test_every_paper_that_is_linked_is_in_the_bibliography():
    listed = re.findall(r'(?<= link: ).*', (NBS / 'references.yml').read_text(encoding='utf-8'))
    for path in NOTEBOOKS:
        text = '\n'.join(cell.source for cell in notebook(path).cells)
        for link in re.findall(r'https?://(?:doi\.org|arxiv\.org|aaai\.org)/[^\s"\'>\]]+', text):
            assert any(address.strip() in link for address in listed), (path, link)


def test_readme_fits_a_screen_or_two():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert readme.count('\n') <= 75
    for page in ('contents', 'install', 'glossary', 'bibliography', 'tutorials/1_solve_your_cube'):
        assert f'/nbs/{page}.ipynb)' in readme


PARSER = ConfigParser(delimiters=['='])
PARSER.read(ROOT / 'settings.ini', encoding='utf-8')
SETTINGS = PARSER['DEFAULT']


def test_the_lock_fits_the_requirements():
    "Every range in settings.ini admits what the lock pins, and nothing in it drags in one build of torch."
    lines = (ROOT / 'requirements-dev.txt').read_text().splitlines()
    lock = [Requirement(line) for line in lines if re.match(r'[a-z]', line)]
    here = [r for r in lock if r.marker is None or r.marker.evaluate(default_environment())]
    pins = {r.name: next(iter(r.specifier)).version for r in here}
    required = ' '.join(value for key, value in SETTINGS.items() if key.endswith('requirements')).split()
    for requirement in map(Requirement, required):
        assert pins[requirement.name] in requirement.specifier
    assert pins['torch'] == '2.13.0' and not [name for name in pins if re.match('nvidia|cuda|triton', name)]


def test_the_library_requires_what_it_imports():
    "Papermill, with nbformat and execnb, runs experiments: in the development environment."
    code = '\n'.join(p.read_text(encoding='utf-8') for p in (ROOT / 'cube_nb').rglob('*.py'))
    imported = set(re.findall(r'^ *(?:import|from) ([a-z]\w*)', code, re.MULTILINE))
    imported -= {*sys.stdlib_module_names, 'cube_nb', 'execnb', 'papermill', 'nbformat'}
    for name in imported & set(EXTRAS):
        assert name.replace('_', '-') in SETTINGS[f'{EXTRAS[name]}_requirements']
    required = set(re.findall(r'[\w-]+(?=[>=<~])', SETTINGS['requirements']))
    assert not required & set(EXTRAS)
    other_names = {'yaml': 'pyyaml', 'pydantic_core': 'pydantic'}
    assert {other_names.get(name, name) for name in imported - set(EXTRAS)} <= required
