"What starts quickly imports nothing slow: one process imports the light modules first."

import subprocess
import sys

import pytest

LIGHT = [  # modules, and what none of them may have imported
    ('cube_nb.depth.markov', 'matplotlib seaborn pandas scipy torch numba'),
    ('cube_nb.cube.drawing', 'matplotlib torch'), ('cube_nb.cli cube_nb.solving', 'matplotlib seaborn'),
]  # fmt: skip


@pytest.mark.slow
def test_light_modules_import_nothing_heavy():
    code = ['import sys, importlib']
    for modules, heavy in LIGHT:
        code += [f'importlib.import_module({module!r})' for module in modules.split()]
        code += [f'print({modules!r}, *{set(heavy.split())} & {{*sys.modules}}, sep=":")']
    done = subprocess.run([sys.executable, '-c', '\n'.join(code)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [modules for modules, _ in LIGHT]
