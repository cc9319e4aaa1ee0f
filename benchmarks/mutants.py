"""Plant small bugs in the library, one at a time, and see whether its chapters and tests notice.

    python benchmarks/mutants.py [--count 150] [--seed N] [--workers 2] [--output runs/mutants.jsonl] [--only TEXT]

A mutant is one change in one exported function of `ROOMS`: a comparison, a sign, a constant, a statement left out. It is
planted in a copy of the checkout, in the notebook and in the module alike. Then its chapter is run, then the tests of its
room; the first failure kills it. What survives is printed with its line, to be killed by a test or named as equivalent.
Killed by Ctrl-C or worse, the same command with the same seed goes on: `--output` keeps one line a mutant.
"""

import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import nbformat
from kept_rows import new_parser
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
ROOMS = ('cube', 'depth', 'nets', 'search', 'exact', 'learn', 'measure', 'workshop')
SECONDS = 600  # for the chapter, and for the tests: who needs longer hangs, and has been noticed
FIRST = ('test_noticed.py', 'test_golden.py')  # they notice most in the least time
TESTS = {  # room -> what guards it besides the folder of tests that has its name
    'cube': ('test_contracts.py',),
    'depth': ('search/test_windows.py',),
    'nets': (
        'ground/test_kept.py',
        'learn/test_settings.py',
        'test_contracts.py',
        'workshop/test_trained.py',
    ),
    'search': ('exact', 'ground/test_clock.py', 'test_contracts.py'),
    'exact': ('search', 'test_contracts.py'),
    'learn': ('ground/test_kept.py', 'test_contracts.py'),
    'measure': (
        'workshop/test_compare.py',
        'workshop/test_pipeline.py',
        'ground/test_kept.py',
        'doors/test_cli.py',
    ),
    'workshop': (),
}
COMPARED = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
COMPUTED = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.And: ast.Or, ast.Or: ast.And},
}
TWINS = dict(min='max', max='min', argmin='argmax', argmax='argmin', any='all', all='any')
TWINS |= dict(zeros='ones', ones='zeros')


class Mutant(NamedTuple):
    "One change of one function."

    notebook: str  # its name in nbs/
    module: str  # path of the exported file
    function: str
    cell: int  # number of the cell
    start: int  # the change: bytes of the cell's source that are replaced
    stop: int
    text: str  # by this

    @property
    def room(self):
        return Path(self.module).parts[1]


def changes(node):
    "(node, text in its place) of the changes that can be made at a node."
    match node:
        case ast.Compare():
            for k, operator in enumerate(node.ops):
                ops = [*node.ops[:k], COMPARED[type(operator)](), *node.ops[k + 1 :]]
                yield node, ast.Compare(node.left, ops, node.comparators)
        case ast.BoolOp(op=operator):
            yield node, ast.BoolOp(COMPUTED[type(operator)](), node.values)
        case ast.BinOp(op=operator) if type(operator) in COMPUTED:
            yield node, ast.BinOp(node.left, COMPUTED[type(operator)](), node.right)
        case ast.UnaryOp():
            yield node, node.operand
        case ast.If():
            yield node.test, ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool()):
            yield node, ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield node, ast.Constant(node.value + 1)
        case ast.Expr(value=ast.Constant()):
            return  # a docstring
        case ast.Assign(targets=[ast.Name() | ast.Tuple(), *_]):
            return  # leaving out a name would only be a NameError
        case ast.Expr() | ast.Assign() | ast.AugAssign():
            yield node, ast.Pass()
        case ast.Name(id=name) if name in TWINS:
            yield node, ast.Name(TWINS[name])
        case ast.Attribute(attr=name) if name in TWINS:
            yield node, ast.Attribute(node.value, TWINS[name])


def parts_of(node):
    "All nodes that may be changed: no decorators and annotations, and not the words of errors or other words."
    skipped = ('decorator_list', 'returns', 'annotation')
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if (
                name not in skipped
                and isinstance(part, ast.AST)
                and not isinstance(part, (ast.Raise, ast.JoinedStr))
            ):
                yield part
                yield from parts_of(part)


def sites(function, source):
    "The changes of a function: (start, stop, text), in bytes of the source."
    lines = [0, *accumulate(len(line) for line in source.encode().splitlines(keepends=True))]
    for part in parts_of(function):
        for node, new in changes(part):
            start = lines[node.lineno - 1] + node.col_offset
            stop = lines[node.end_lineno - 1] + node.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            yield start, stop, f'({text})' if isinstance(new, ast.expr) and ' ' in text else text


def exported_module(cells):
    "The file that a notebook exports, or None."
    for cell in cells:
        if found := re.search(r'^#\| default_exp (\S+)', cell.source, re.MULTILINE):
            return f'cube_nb/{found[1].replace(".", "/")}.py'
    return None


def functions_of(tree):
    "Functions and methods of a cell, with their names."
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            yield from (
                (f'{node.name}.{part.name}', part) for part in node.body if isinstance(part, ast.FunctionDef)
            )


def functions():
    "The mutants of each exported function of the rooms."
    found = []
    for path in sorted((ROOT / 'nbs').glob('*/[0-9][0-9]_*.ipynb')):
        cells = nbformat.read(path, 4).cells
        module = exported_module(cells)
        if module is None or Path(module).parts[1] not in ROOMS:
            continue
        for number, cell in enumerate(cells):
            if cell.cell_type != 'code' or not re.match(r'#\| exporti?\n', cell.source):
                continue
            for name, node in functions_of(ast.parse(cell.source)):
                place = (path.relative_to(ROOT / 'nbs').as_posix(), module, name, number)
                found.append([Mutant(*place, *site) for site in dict.fromkeys(sites(node, cell.source))])
    return [mutants for mutants in found if mutants]


def sample(count, seed, only):
    "Different mutants: a function is drawn, then one of its changes, so that long functions do not get them all."
    rng = random.Random(seed)
    known = functions()
    drawn = {}
    while len(drawn) < min(count, sum(map(len, known))):
        mutant = rng.choice(rng.choice(known))
        drawn[mutant] = None
    return [mutant for mutant in drawn if only in f'{mutant.module}:{mutant.function}']


def changed(source, mutant):
    "The cell with the change made."
    whole = source.encode()
    return (whole[: mutant.start] + mutant.text.encode() + whole[mutant.stop :]).decode()


def changed_line(source, mutant):
    "The first line that differs, before and after."
    pairs = zip(source.splitlines(), changed(source, mutant).splitlines())
    return next(([a.strip(), b.strip()] for a, b in pairs if a != b), ['', ''])


def plant(mutant, copy):
    "Write the change into the notebook of a copy and export it. Returns the line before and after."
    path = copy / 'nbs' / mutant.notebook
    notebook = nbformat.read(path, 4)
    source = notebook.cells[mutant.cell].source
    notebook.cells[mutant.cell].source = changed(source, mutant)
    nbformat.write(notebook, path)
    command = [sys.executable, '-c', f'from nbdev.export import nb_export; nb_export({str(path)!r})']
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return changed_line(source, mutant)


def notices(command, copy, kernels):
    "The first words of why a command fails in a copy; None if it does not."
    environment = dict(os.environ, PYTHONPATH=str(copy), NUMBA_CACHE_DIR=str(kernels), OMP_NUM_THREADS='1')
    environment |= dict(NUMBA_NUM_THREADS='1', OMP_WAIT_POLICY='PASSIVE', TQDM_DISABLE='1')
    with tempfile.TemporaryFile('w+') as said:
        options = dict(stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        process = subprocess.Popen(command, cwd=copy, env=environment, **options)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return f'longer than {SECONDS} s'
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        pattern = r'^(?:E  |FAILED|\w*(?:Error|Exception)\b).*'
        errors = re.findall(pattern, said.read(), re.MULTILINE)
    return (errors or [f'status {status}'])[-1][:200] if status else None


def tests_of(room):
    "The files and folders of tests that guard a room."
    guards = (ROOT / 'tests' / name for name in (*FIRST, room, *TESTS[room]))
    return [str(path) for path in guards if path.exists()]


def try_mutant(mutant, copy, kernels):
    "What becomes of a mutant: a record for the list."
    before, after = plant(mutant, copy)
    compiled = 'njit' in (copy / mutant.module).read_text()
    # a kernel is not compiled again when one that it calls changes
    cache = tempfile.mkdtemp() if compiled else kernels
    chapter = ['nbdev_test', '--path', f'nbs/{mutant.notebook}', '--n_workers', '0', '--do_print']
    files = [str(Path(path).relative_to(ROOT)) for path in tests_of(mutant.room)]
    tests = [sys.executable, '-m', 'pytest', '-q', '-x', '--tb=line', '-p', 'no:cacheprovider', *files]
    why = notices(chapter, copy, cache)
    by = 'chapter' if why else None
    if not why:
        why = notices(tests, copy, cache)
        by = 'tests' if why else None
    if compiled:
        shutil.rmtree(cache)
    subprocess.run(['git', 'checkout', '-q', '.'], cwd=copy, check=True)
    return dict(mutant._asdict(), before=before, after=after, by=by, why=why)


def make_copy(folder):
    "A checkout of what is committed here."
    copy = Path(tempfile.mkdtemp(dir=folder))
    subprocess.run(['git', 'clone', '-q', str(ROOT), str(copy)], check=True)
    return copy


def run_all(mutants, workers, output):
    "Try mutants side by side, each in a copy of its own; one line of `output` each."
    with tempfile.TemporaryDirectory() as folder, output.open('a') as file:
        copies = SimpleQueue()
        for _ in range(workers):
            copies.put(make_copy(folder))
        kernels = Path(folder) / 'kernels'

        def work(mutant):
            copy = copies.get()
            try:
                return try_mutant(mutant, copy, kernels)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(workers) as pool:
            tasks = [pool.submit(work, mutant) for mutant in mutants]
            for task in tqdm(as_completed(tasks), total=len(tasks), desc='mutants'):
                file.write(json.dumps(task.result()) + '\n')
                file.flush()


def read_records(path):
    "The records so far, by their mutants."
    records = map(json.loads, path.read_text().splitlines())
    return {Mutant(*(record[name] for name in Mutant._fields)): record for record in records}


def main():
    "Try mutants, and print what survives."
    parser = new_parser(__doc__)
    parser.add_argument('--count', type=int, default=150)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1000))
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--output', type=Path, default=ROOT / 'runs' / 'mutants.jsonl')
    parser.add_argument('--only', default='', help='those whose module:function has this text')
    options = parser.parse_args()
    mutants = sample(options.count, options.seed, options.only)
    print(f'seed {options.seed}: {len(mutants)} mutants', flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.touch()
    done = read_records(options.output)
    run_all([mutant for mutant in mutants if mutant not in done], options.workers, options.output)
    records = [record for mutant, record in read_records(options.output).items() if mutant in set(mutants)]
    for record in records:
        if not record['by']:
            print(f'{record["module"]}, {record["function"]}:\n  - {record["before"]}\n  + {record["after"]}')
    count = Counter(record['by'] for record in records)
    killed = len(records) - count[None]
    by = f'{count["chapter"]} by their chapter, {count["tests"]} by tests'
    print(f'{killed} of {len(records)} noticed: {by}')


if __name__ == '__main__':
    main()
