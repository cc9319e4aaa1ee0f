"""Kill `cube_nb reproduce` at random moments, damage what is there, and see whether the next run mends it.

    python benchmarks/kills.py [--only bwas_cube2] [--kills 10] [--seed N]

Run it in a clone of its own: it removes and rewrites data/smoke and figures/smoke. First one unbroken run. Then, for
each kill: the results are removed, a run is killed with SIGKILL (the runner alone, the notebook alone, or both), one
thing is damaged or touched, and the next run must end with the same tables. Columns of times are left out.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
from kept_rows import new_parser

from cube_nb.workshop.pipeline import jobs, needs_of, reasons

TIMES = re.compile(r'seconds|per_second|minutes|times_as')


def tables(names):
    "The tables of some experiments, without columns of times."
    known = jobs('smoke')
    found = {}
    for name in names:
        for table in known[name].experiment.tables:
            frame = pd.read_csv(f'data/smoke/{table}.csv')
            found[table] = frame[[column for column in frame if not TIMES.search(column)]]
    return found


def remove_results():
    "As in a fresh clone."
    for folder in ('data/smoke', 'figures/smoke', 'runs/smoke'):
        shutil.rmtree(folder, ignore_errors=True)


def kill(command, after, victim):
    "Start a run and kill the runner, the notebooks or both after some seconds. Returns how many were killed."
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        time.sleep(after)
        if run.poll() is not None:
            return 0
        family = psutil.Process(run.pid).children(recursive=True)
        servers = [child for child in family if 'import serve' in ' '.join(child.cmdline())]
        kernels = servers[1:]  # forks of the first
        chosen = {'runner': [run], 'notebook': kernels, 'both': [run, *kernels]}[victim]
        for process in chosen:
            process.kill()
        return len(chosen)


def damage(rng):
    "Do something to the results that the next run must notice, or must not mind. Returns what."
    kind = rng.choice(['edit a table', 'cut a table', 'remove .snakemake', 'touch every file', 'nothing'])
    found = sorted(Path('data/smoke').glob('*.csv'))
    if kind.endswith('table') and found:
        path = rng.choice(found)
        content = path.read_bytes()
        half = content[: len(content) // 2]
        path.write_bytes(content.replace(b'1', b'2', 1) if kind == 'edit a table' else half)
        return f'{kind}: {path.name}'
    if kind == 'remove .snakemake':
        shutil.rmtree('.snakemake', ignore_errors=True)
    if kind == 'touch every file':
        for path in Path().rglob('*'):
            if path.is_file() and '.git' not in path.parts and '.venv' not in path.parts:
                os.utime(path)
    return kind


def main():
    "Count how often the next run mended everything."
    parser = new_parser(__doc__)
    parser.add_argument('--only', default='bwas_cube2')
    parser.add_argument('--kills', type=int, default=10)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1000))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    by_name = jobs('smoke')
    names = needs_of([options.only], {name: job.experiment.needs for name, job in by_name.items()})
    command = [sys.executable, '-m', 'cube_nb', 'reproduce', '--only', options.only]
    silent = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    remove_results()
    start = time.perf_counter()
    subprocess.run(command, check=True, **silent)
    seconds = time.perf_counter() - start
    unbroken = tables(names)
    print(f'seed {options.seed}; an unbroken run of {", ".join(sorted(names))}: {seconds:.0f} s', flush=True)
    mended = 0
    for number in range(options.kills):
        remove_results()
        victim = rng.choice(['runner', 'notebook', 'both'])
        after = rng.uniform(1, seconds)
        killed = kill(command, after, victim)
        done = damage(rng)
        status = subprocess.run(command, check=False, **silent).returncode
        stale = [name for name in names if reasons(jobs('smoke')[name])]
        good = status == 0 and not stale
        good = good and all(table.equals(unbroken[name]) for name, table in tables(names).items())
        mended += good
        outcome = 'same tables' if good else 'NOT MENDED'
        print(f'{number}: {victim} ({killed}) after {after:.0f} s; {done}: {outcome}', flush=True)
    print(f'{mended} of {options.kills} mended')
    sys.exit(mended < options.kills)


if __name__ == '__main__':
    main()
