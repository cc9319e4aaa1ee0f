"""How the code reads, in numbers: cells, lines, functions and definitions of a checkout.

    python benchmarks/code_metrics.py [FOLDER] [--names]

Cells are counted over the chapters (`nbs/ROOM/*.ipynb`) and over the experiments (`nbs/experiments/*.ipynb`): lines
that are neither blank nor a directive (`#|`). Functions and definitions are counted over the exported library without
its index. A function's length is from its `def` to its end, blank lines left out; `self` and `cls` are no arguments.
Definitions are functions and classes at the top of a module, and the methods in its classes. With `--names`, long
functions and all modules are listed below the table.
"""

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
from kept_rows import new_parser

LINES = 40  # a function longer than this is counted
ARGUMENTS = 8  # a function with more than this is counted
WORDS = 160  # a markdown cell with more words is counted
COLUMNS = (110, 120)  # a code line longer than these is counted
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read_cells(paths: list) -> pd.DataFrame:
    "A row for each cell: its kind, lines of code, whether it is exported, lengths of its lines, words."
    rows = []
    for path in paths:
        for cell in json.loads(path.read_text(encoding='utf-8'))['cells']:
            text = ''.join(cell['source'])
            whole = [line for line in text.splitlines() if line.strip()]
            lines = [line for line in whole if not line.startswith('#|')]
            exported = any(line.replace(' ', '').startswith('#|export') for line in whole)
            if lines or cell['cell_type'] == 'markdown':
                columns = list(map(len, lines))
                rows.append((cell['cell_type'], len(lines), exported, columns, len(text.split())))
    return pd.DataFrame(rows, columns=['kind', 'lines', 'exported', 'columns', 'words'])


def describe(numbers) -> str:
    "Median and 90th percentile: the smallest number that at least 90 percent do not exceed."
    middle, most = np.median(numbers), np.percentile(numbers, 90, method='inverted_cdf')
    return f'{middle:g} / {most:g}'


def notebook_rows(cells: pd.DataFrame) -> list:
    "(what, number) of notebooks."
    code, markdown = (cells[cells.kind == kind] for kind in ('code', 'markdown'))
    rows = []
    for name, some in (('code cells', code), ('exported cells', code[code.exported])):
        rows.append((name, len(some)))
        if len(some):
            rows.append(('  lines, median / 90th percentile', describe(some.lines)))
            rows.append(('  longest', some.lines.max()))
    columns = np.concatenate(code['columns'].tolist())
    rows.append(('code lines', len(columns)))
    for most in COLUMNS:
        over = columns > most
        rows.append((f'  over {most} columns', f'{over.sum()} ({over.mean():.1%})'))
    rows.append(('markdown cells', len(markdown)))
    rows.append((f'  over {WORDS} words', (markdown.words > WORDS).sum()))
    return rows


def functions_in(node, prefix: str, lines: list):
    "(name, lines, arguments) of every function below a node, with the names of what it is in."
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, (*FUNCTIONS, ast.ClassDef))
        inner = f'{prefix}.{child.name}' if named else prefix
        if isinstance(child, FUNCTIONS):
            body = [line for line in lines[child.lineno - 1 : child.end_lineno] if line.strip()]
            arguments = {node.arg for node in ast.walk(child.args) if isinstance(node, ast.arg)}
            yield inner, len(body), len(arguments - {'self', 'cls'})
        yield from functions_in(child, inner, lines)


def definitions_of(node) -> int:
    "How many definitions stand at the top of a module, and in its classes."
    found = [part for part in node.body if isinstance(part, (*FUNCTIONS, ast.ClassDef))]
    return len(found) + sum(definitions_of(part) for part in found if isinstance(part, ast.ClassDef))


def read_library(root: Path) -> tuple[pd.DataFrame, pd.Series, int]:
    "The functions, the definitions of each module, and how many lambdas there are."
    functions, definitions, lambdas = [], {}, 0
    for path in sorted(root.rglob('*.py')):
        if path.name == '_modidx.py':
            continue
        text = path.read_text(encoding='utf-8')
        tree = ast.parse(text)
        name = '.'.join(path.relative_to(root.parent).with_suffix('').parts)
        functions += functions_in(tree, name, text.splitlines())
        definitions[name] = definitions_of(tree)
        lambdas += sum(isinstance(node, ast.Lambda) for node in ast.walk(tree))
    table = pd.DataFrame(functions, columns=['name', 'lines', 'arguments'])
    definitions = pd.Series(definitions).sort_values(ascending=False, kind='stable')
    return table, definitions[definitions > 0], lambdas


def print_rows(title: str, rows: list):
    "A part of the table."
    print(f'{title:44} {"":>14}')
    for name, value in rows:
        print(f'  {name:42} {value!s:>14}')


def main(folder: Path, names: bool):
    "Print the table."
    for title, files in (('chapters (nbs)', '*/[0-9][0-9]_*.ipynb'), ('experiments', 'experiments/*.ipynb')):
        print_rows(title, notebook_rows(read_cells(sorted((folder / 'nbs').glob(files)))))
    functions, definitions, lambdas = read_library(folder / 'cube_nb')
    rows = [
        ('modules with definitions', len(definitions)),
        ('functions and methods', len(functions)),
        ('  lines, median / 90th percentile', describe(functions.lines)),
        (f'  over {LINES} lines', (functions.lines > LINES).sum()),
        (f'  with more than {ARGUMENTS} arguments', (functions.arguments > ARGUMENTS).sum()),
        ('definitions a module, median / most', f'{definitions.median():g} / {definitions.max()}'),
        ('lambdas', lambdas),
    ]
    print_rows('library (cube_nb)', rows)
    if names:
        for column, most in (('lines', LINES), ('arguments', ARGUMENTS)):
            long = functions[functions[column] > most].sort_values(column, ascending=False)
            print(f'\nfunctions with more than {most} {column}')
            print(long[['name', column]].to_string(index=False, header=False))
        print(f'\ndefinitions a module\n{definitions.to_string()}')


if __name__ == '__main__':
    parser = new_parser(__doc__)
    parser.add_argument('folder', type=Path, nargs='?', default=Path(__file__).parents[1], help='a checkout')
    parser.add_argument('--names', action='store_true', help='list long functions and all modules too')
    main(**vars(parser.parse_args()))
