"A thing that a tutorial writes, put into one file and used from there in a fresh process."

import json
import subprocess
import sys
from pathlib import Path

TUTORIALS = Path(__file__).parents[1] / 'nbs/tutorials'


def output_of(
    tutorial,  # name of its notebook
    parts,  # how the cells begin that make the thing
    imports,  # code of the file before them
    use,  # code that is run; `sys.argv[1]` is the folder of the file
    file,  # pathlib.Path
):
    "What the use prints. Asserts that it ends well."
    cells = json.loads((TUTORIALS / tutorial).read_text(encoding='utf-8'))['cells']
    code = [''.join(cell['source']) for cell in cells if cell['cell_type'] == 'code']
    text = '\n\n\n'.join([imports, *(cell for cell in code if cell.startswith(parts))])
    file.write_text(text, encoding='utf-8')
    command = [sys.executable, '-c', use, str(file.parent)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=file.parent)
    assert run.returncode == 0, run.stderr
    return run.stdout
