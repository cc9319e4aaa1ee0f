"Each tutorial runs from top to bottom, with the parameter that makes it a matter of seconds, and shows a picture."

import json
import os
import re
from pathlib import Path

import pytest
from execnb.nbio import mk_cell, read_nb, write_nb
from execnb.shell import CaptureShell
from killed import SERVER

NBS = Path(__file__).parents[2] / 'nbs'
TUTORIALS = sorted((NBS / 'tutorials').glob('[0-9]*.ipynb'))


def cells(path):
    return json.loads(path.read_text(encoding='utf-8'))['cells']


def has_picture(cell):
    return any('image/png' in output.get('data', {}) for output in cell.get('outputs', []))


def run_short(path, done):
    "Run a notebook from top to bottom, short, and write it with its outputs."
    tags = [cell['metadata'].get('tags', []) for cell in cells(path)]
    (after,) = [number for number, names in enumerate(tags) if 'parameters' in names]
    notebook = read_nb(path)
    notebook.cells.insert(after + 1, mk_cell('smoke = True'))
    os.chdir(path.parent)
    CaptureShell(path=path.parent).run_all(notebook, exc_stop=True)
    write_nb(notebook, done)


@pytest.mark.slow
@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    "In a process of its own, for a tutorial may register what others do not expect."
    process = SERVER.Process(target=run_short, args=(path, tmp_path / path.name))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert any(map(has_picture, cells(tmp_path / path.name)))


@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_it_was_run_in_full(path):
    "What a reader sees is what a run printed and drew, without an error, and not the short one."
    code = [cell for cell in cells(path) if cell['cell_type'] == 'code']
    (parameters,) = [cell for cell in code if 'parameters' in cell['metadata'].get('tags', [])]
    assert 'smoke: bool = False' in ''.join(parameters['source'])
    assert any(map(has_picture, code))
    assert not [output for cell in code for output in cell['outputs'] if output['output_type'] == 'error']


@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_it_checks_something_and_exports_nothing(path):
    code = '\n'.join(''.join(cell['source']) for cell in cells(path) if cell['cell_type'] == 'code')
    assert len(re.findall(r'^\s*assert ', code, re.MULTILINE)) >= 5
    assert '#| export' not in code and 'default_exp' not in code


def test_each_tutorial_leads_to_the_next():
    for path, after in zip(TUTORIALS, TUTORIALS[1:]):
        assert f']({after.name})' in ''.join(''.join(cell['source']) for cell in cells(path))


def test_the_glossary_is_in_order():
    terms = re.findall(r'^- \*\*(.+?)[.,]', ''.join(cells(NBS / 'glossary.ipynb')[1]['source']), re.MULTILINE)
    keys = [re.sub(r'[^a-z ]', '', term.replace('*', ' ').lower()) for term in terms]
    assert keys == sorted(keys) and len(keys) == len(set(keys)) > 60


def test_every_paper_that_is_linked_is_in_the_bibliography():
    listed = (NBS / 'references.yml').read_text(encoding='utf-8')
    for path in [*NBS.glob('*/[0-9][0-9]_*.ipynb'), *NBS.glob('experiments/*.ipynb')]:
        text = '\n'.join(''.join(cell['source']) for cell in cells(path))
        for link in re.findall(r'https?://(?:doi\.org|arxiv\.org|aaai\.org)/[^\s"\'>\]]+', text):
            assert any(line.strip()[6:] in link for line in listed.splitlines() if ' link: ' in line), link
