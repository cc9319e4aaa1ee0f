"Each tutorial runs from top to bottom, with the parameter that makes it a matter of seconds, and shows a picture."

import json
import re
from pathlib import Path

import pytest

NBS = Path(__file__).parents[2] / 'nbs'
TUTORIALS = sorted((NBS / 'tutorials').glob('[0-9]*.ipynb'))
WORDS = [NBS / 'glossary.ipynb', NBS / 'bibliography.ipynb']


def cells(path):
    return json.loads(path.read_text(encoding='utf-8'))['cells']


def has_picture(cell):
    return any('image/png' in output.get('data', {}) for output in cell.get('outputs', []))


@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    import papermill  # slow to import

    done = tmp_path / path.name
    papermill.execute_notebook(
        str(path), str(done), {'smoke': True}, cwd=str(path.parent), progress_bar=False
    )
    assert any(map(has_picture, cells(done)))


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


@pytest.mark.parametrize('path', TUTORIALS + WORDS, ids=lambda path: path.stem)
def test_its_links_lead_somewhere(path):
    texts = [''.join(cell['source']) for cell in cells(path) if cell['cell_type'] == 'markdown']
    texts += [
        ''.join(output['data'].get('text/markdown', ''))
        for cell in cells(path)
        for output in cell.get('outputs', [])
        if 'data' in output
    ]
    links = re.findall(r'\]\(([^)\s]+\.ipynb)\)', '\n'.join(texts))
    assert links
    assert not [link for link in links if not (path.parent / link).exists()]


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
