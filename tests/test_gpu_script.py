"The script for a borrowed GPU, all of it at tiny sizes on the processor, without what makes notebooks."

import json
import os
import subprocess
import sys
from pathlib import Path

from cube_nb.measure.pipeline import SMALLEST_A100
from cube_nb.measure.profiles import load_costs

ROOT = Path(__file__).parents[1]
WITHOUT = ('nbdev', 'papermill', 'snakemake', 'nbformat', 'nbclient', 'execnb', 'jupytext', 'IPython')
START = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({WITHOUT}))  # an import of these fails
sys.path.insert(0, 'benchmarks')
sys.argv[0] = 'benchmarks/gpu.py'
runpy.run_path(sys.argv[0], run_name='__main__')
"""


def gpu(output, *arguments):
    "What the script says, and the rows that it has left."
    command = [sys.executable, '-c', START, *arguments, '--tiny', '--device', 'cpu', '--output', str(output)]
    environment = os.environ | {'PYTHONPATH': str(ROOT)}
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    path = output / 'gpu.jsonl'
    return said.stdout, [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def check(rows):
    "Every row has its numbers, and no item failed."
    assert len(rows) >= 7 and not [row for row in rows if 'failed' in row]
    rates = [value for row in rows for key, value in row.items() if key.endswith('per_second')]
    assert len(rates) >= len(rows) - 1 and min(rates) > 0


def test_every_training_is_measured(tmp_path):
    check(gpu(tmp_path, 'trainers')[1])


def test_searches_are_measured_once(tmp_path):
    _, rows = gpu(tmp_path, 'searches')
    check(rows)
    said, again = gpu(tmp_path, 'searches')
    assert again == rows and said.count('measured before') == len(rows)


def test_the_large_network_goes_on_from_what_it_left(tmp_path):
    gpu(tmp_path, 'network')
    _, rows = gpu(tmp_path, 'network')
    assert [row['start'] for row in rows] == ['cube3-walks-large.safetensors', 'cube3-walks-gpu.safetensors']
    assert (tmp_path / 'cube3-walks-gpu.safetensors').exists()


def test_the_papers_runs_are_a_day_of_a_gpu_on_paper():
    costs = load_costs('a100').values()
    assert sum(cost.gpu_minutes for cost in costs) <= 24 * 60
    assert sum(cost.minutes * cost.threads for cost in costs) / 16 <= 24 * 60
    for cost in costs:
        assert cost.gpu_mb <= SMALLEST_A100 and bool(cost.gpus) == bool(cost.gpu_mb) == bool(cost.gpu_minutes)
