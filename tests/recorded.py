"What test_golden.py and test_unchanged.py share: where results are recorded, on which machine, and what changed since."

import argparse
import platform
from pathlib import Path

import numba
import numpy as np
import torch

GOLDEN = Path(__file__).parent / 'golden'
OTHER = 1e-3  # relative, of floats on another processor or with another version
CORNERS, EDGES = 'URF UFL ULB UBR', 'UR UF UL UB FR'
SMALL_PATTERNS = ((CORNERS, 0), (EDGES, 0), (EDGES, 1), (EDGES, 30))  # of `ida`: four corners and five edges


def machine() -> dict:
    "What decides how floats are rounded."
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        lines = []
    parts = [[part.strip() for part in line.split(':', 1)] for line in reversed(lines) if ':' in line]
    wanted = ('model name', 'cpu family', 'model', 'stepping')
    cpu = {name: value for name, value in parts if name in wanted}
    capability = torch.backends.cpu.get_cpu_capability()
    versions = dict(torch=torch.__version__, numpy=np.__version__)
    return dict(cpu, machine=platform.machine(), capability=capability, **versions)


def counted_today(puzzle, solver: str, generated, expanded) -> tuple:
    "Recorded nodes as they are counted today: the start is no child, and `expanded` are nodes and no searches."
    if solver in ('greedy', 'bwas', 'mcts', 'alphazero'):
        generated = generated - 1
    if solver in ('mcts', 'alphazero'):
        expanded = generated // len(puzzle.generators)
    return generated, expanded


def program(write):
    "Record anew where that is asked for, for a change of results that is meant; pytest compares."
    parser = argparse.ArgumentParser(description='Record results; pytest compares.')
    parser.add_argument(
        '--write', action='store_true', required=True, help='record the results of this library'
    )
    parser.parse_args()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    write()
