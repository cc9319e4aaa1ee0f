"What holds for the book as a whole: its chapters, its README and its lock."

import ast
import json
import re
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from cube_nb.config import EXTRAS

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / 'nbs').glob('*/[0-9][0-9]_*.ipynb'))
TUTORIALS = sorted((ROOT / 'nbs/tutorials').glob('*.ipynb'))
NOTEBOOKS = CHAPTERS + TUTORIALS + sorted((ROOT / 'nbs/experiments').glob('*.ipynb'))


def read_cells(path):
    return json.loads(path.read_text(encoding='utf-8'))['cells']


def cells(path):
    return [(cell['cell_type'], ''.join(cell['source'])) for cell in read_cells(path)]


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_title_and_quote_stand_alone(path):
    "The site and the tables of chapters take the title and the description from the first cell."
    kind, first = cells(path)[0]
    assert kind == 'markdown' and re.fullmatch(r'# [^\n]+\n\n> [^\n]+', first.strip()), (
        'the first cell holds a title, a one-line quote, and nothing else'
    )
    assert '](' not in first, 'the line is shown on other pages, from where a link leads elsewhere'


LINK = re.compile(r'\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)')
CHAPTER = re.compile(r'(\w+)/[0-9]{2}_(\w+)\.ipynb')


def written_by(path):
    "All Markdown of a notebook, that of its outputs too."
    for cell in read_cells(path):
        if cell['cell_type'] == 'markdown':
            yield FENCED.sub('', ''.join(cell['source']))
        for output in cell.get('outputs', []):
            yield ''.join(output.get('data', {}).get('text/markdown', ''))


@pytest.mark.parametrize('path', sorted((ROOT / 'nbs').rglob('*.ipynb')), ids=lambda p: p.stem)
def test_links_lead_to_what_they_name(path):
    "To a file that is there; and a chapter that is called by its module is that module's."
    for name, target in (link for text in written_by(path) for link in LINK.findall(text)):
        linked = (path.parent / target).resolve()
        assert linked.exists(), target
        chapter = CHAPTER.search(linked.as_posix())
        if chapter and re.fullmatch(r'[a-z]+\.[a-z0-9_]+', name):
            assert name == '.'.join(chapter.groups()), target


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_imports_have_cells_of_their_own(path):
    "A reader sees at a glance what a notebook needs; the site folds long cells of imports."
    for kind, code in cells(path):
        if (
            kind != 'code'
            or re.search(r'^#\| *(export|eval: *false)', code, re.MULTILINE)
            or re.search('^[%!]', code, re.MULTILINE)
        ):
            continue
        statements = ast.parse(code).body
        imports = [isinstance(s, (ast.Import, ast.ImportFrom)) for s in statements]
        assert all(imports) or not any(imports), f'move the imports into a cell of their own:\n{code}'


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_open_without_asking_for_a_kernel(path):
    assert (
        json.loads(path.read_text(encoding='utf-8'))['metadata'].get('kernelspec', {}).get('name')
        == 'python3'
    )


FENCED = re.compile(r'```.*?```', re.DOTALL)
PIECE = re.compile(r'(?<!`)`[^`]+`(?!`)|(?<![$\\])\$[^$]+\$(?!\$)')  # code or a formula within a line


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_code_and_formulas_are_not_broken_into_lines(path):
    "Whoever reads the source can copy a command whole, and sees a formula whole."
    texts = [FENCED.sub('', text) for kind, text in cells(path) if kind == 'markdown']
    paragraphs = [paragraph for text in texts for paragraph in text.split('\n\n')]
    broken = [piece for paragraph in paragraphs for piece in PIECE.findall(paragraph) if '\n' in piece]
    assert broken == []


SHOWING = {'print', 'plt.show'}
WRITTEN_TEXT = re.compile(r'\A(?:#\|.*\n)*?#\| fig-alt: (.*\.)\n')  # above the code of a cell
DRAWN_AS_TEXT = {'11_stickers', '06_terminal'}  # nets of letters are their pictures


def call_of(statement):
    "The name of the function that a statement calls and does nothing else; else nothing."
    called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return ast.unparse(statement.value.func) if called else ''


def outputs_of(path):
    "Code and outputs of the cells that a reader sees and that the library does not get."
    for cell in read_cells(path):
        code = ''.join(cell['source'])
        if cell['cell_type'] == 'code' and not re.search(r'^#\| *(hide|export)', code, re.MULTILINE):
            yield code, cell['outputs']


@pytest.mark.parametrize('path', CHAPTERS + TUTORIALS, ids=lambda p: p.stem)
def test_what_a_chapter_shows_is_kept(path):
    "The site runs nothing, so an output that is not in the notebook is seen by nobody."
    for code, outputs in outputs_of(path):
        if not re.search('^[%!]', code, re.MULTILINE) and SHOWING & {*map(call_of, ast.parse(code).body)}:
            assert outputs, f'make show-chapters ONLY={path.relative_to(ROOT)}\n{code}'


@pytest.mark.parametrize('path', CHAPTERS, ids=lambda p: p.stem)
def test_every_chapter_has_a_picture(path):
    kinds = {kind for _, outputs in outputs_of(path) for each in outputs for kind in each.get('data', {})}
    linked = any('![' in text for kind, text in cells(path) if kind == 'markdown')
    assert kinds & {'image/png', 'text/html'} or linked or path.stem in DRAWN_AS_TEXT


PAGES = [*CHAPTERS, *TUTORIALS, *sorted((ROOT / 'nbs').glob('*.ipynb'))]


@pytest.mark.parametrize('path', PAGES, ids=lambda p: p.stem)
def test_every_picture_has_a_text_for_those_who_do_not_see_it(path):
    for cell in read_cells(path):
        code = ''.join(cell['source'])
        drawn = any('image/png' in output.get('data', {}) for output in cell.get('outputs', []))
        text = WRITTEN_TEXT.match(code)
        assert drawn == ('fig-alt' in code) == (text is not None), code
        assert not text or len(text[1]) <= 200, code


def test_contents_list_every_notebook_with_its_line():
    outputs = [
        ''.join(output['data']['text/markdown'])
        for cell in read_cells(ROOT / 'nbs/contents.ipynb')
        for output in cell.get('outputs', [])
    ]
    shown = '\n'.join(outputs).replace('\\|', '|')  # in a cell of a table
    for path in NOTEBOOKS:
        line = cells(path)[0][1].split('\n> ')[1].split('\n')[0]
        assert f'({path.relative_to(ROOT / "nbs").as_posix()})' in shown and line in shown, (
            'run nbs/contents.ipynb again'
        )


def test_readme_fits_a_screen_or_two():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert readme.count('\n') <= 75
    for page in ('contents', 'install', 'glossary', 'bibliography', 'tutorials/1_solve_your_cube'):
        assert f'/nbs/{page}.ipynb)' in readme


def test_the_lock_fits_the_requirements():
    "Every range in settings.ini admits what the lock pins, and nothing in it drags in one build of torch."
    lock = [
        Requirement(line)
        for line in (ROOT / 'requirements-dev.txt').read_text().splitlines()
        if re.match(r'[a-z]', line)
    ]
    pins = {
        r.name: next(iter(r.specifier)).version
        for r in lock
        if r.marker is None or r.marker.evaluate(default_environment())
    }
    settings = (ROOT / 'settings.ini').read_text()
    required = ' '.join(re.findall(r'^\w*requirements = (.*)$', settings, re.MULTILINE)).split()
    for requirement in map(Requirement, required):
        assert pins[requirement.name] in requirement.specifier
    assert pins['torch'] == '2.13.0' and not [name for name in pins if re.match('nvidia|cuda|triton', name)]


def test_the_library_requires_what_it_imports():
    "Installed into a bare environment it finds everything; papermill, with nbformat and execnb, runs experiments, in the development environment."
    code = '\n'.join(p.read_text(encoding='utf-8') for p in (ROOT / 'cube_nb').rglob('*.py'))
    imported = (
        set(re.findall(r'^ *(?:import|from) ([a-z]\w*)', code, re.MULTILINE))
        - set(sys.stdlib_module_names)
        - {'cube_nb', 'execnb', 'papermill', 'nbformat'}
    )
    settings = ConfigParser(delimiters=['='])
    settings.read(ROOT / 'settings.ini', encoding='utf-8')
    for name, extra in EXTRAS.items():
        if name in imported:
            assert name.replace('_', '-') in settings['DEFAULT'][f'{extra}_requirements']
    imported -= set(EXTRAS)
    required = re.findall(r'[\w-]+(?=[>=<~])', settings['DEFAULT']['requirements'])
    assert not set(required) & set(EXTRAS)
    assert {{'yaml': 'pyyaml', 'pydantic_core': 'pydantic'}.get(name, name) for name in imported} <= set(
        required
    )
