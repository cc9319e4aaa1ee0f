"Each tutorial runs from top to bottom, with the parameter that makes it a matter of seconds, and shows a picture."

import os
from pathlib import Path

import pytest
from execnb.nbio import mk_cell, read_nb, write_nb
from execnb.shell import CaptureShell
from killed import SERVER

TUTORIALS = sorted((Path(__file__).parents[2] / 'nbs/tutorials').glob('[0-9]*.ipynb'))


def run_short(path, done):
    "Run a notebook from top to bottom, short, and write it with its outputs."
    notebook = read_nb(path)
    (given,) = [cell for cell in notebook.cells if 'parameters' in cell.metadata.get('tags', [])]
    notebook.cells.insert(given.idx_ + 1, mk_cell('smoke = True'))
    os.chdir(path.parent)
    CaptureShell(path=path.parent).run_all(notebook, exc_stop=True)
    write_nb(notebook, done)


@pytest.mark.slow
@pytest.mark.parametrize('path', TUTORIALS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    "In a process of its own, for a tutorial may register what others do not expect."
    done = tmp_path / path.name
    process = SERVER.Process(target=run_short, args=(path, done))
    process.start()
    process.join()
    assert process.exitcode == 0 and 'image/png' in done.read_text(encoding='utf-8')
