"""How the code reads, in numbers: cells, lines, functions and definitions of a checkout.

    python benchmarks/code_metrics.py [FOLDER] [--names]

Cells are counted over the chapters (`nbs/ROOM/*.ipynb`) and over the experiments (`nbs/experiments/*.ipynb`): lines
that are neither blank nor a directive (`#|`). Functions and definitions are counted over the exported library without
its index. A function's length is from its `def` to its end, blank lines left out; `self` and `cls` are no arguments.
Definitions are functions and classes at the top of a module, and the methods in its classes. Of lines, median and 90th
percentile are shown. With `--names`, long functions are listed below the table.
"""

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
from kept_rows import new_parser

MOST = {'lines': 40, 'arguments': 8}  # a function with more is counted
WORDS = 160  # a markdown cell with more words is counted
COLUMNS = (110, 120)  # a code line longer than these is counted
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read_cells(paths: list) -> pd.DataFrame:
    "A row for each cell: its kind, lines of code, whether it is exported, lengths of its lines, words."
    rows = []
    for cell in [cell for path in paths for cell in json.loads(path.read_text(encoding='utf-8'))['cells']]:
        text = ''.join(cell['source'])
        whole = [line for line in text.splitlines() if line.strip()]
        columns = [len(line) for line in whole if not line.startswith('#|')]
        exported = any(line.replace(' ', '').startswith('#|export') for line in whole)
        if columns or cell['cell_type'] == 'markdown':
            rows.append((cell['cell_type'], len(columns), exported, columns, len(text.split())))
    return pd.DataFrame(rows, columns=['kind', 'lines', 'exported', 'columns', 'words'])


def describe(numbers) -> str:
    "Median and 90th percentile: the smallest number that at least 90 percent do not exceed."
    middle, most = np.median(numbers), np.percentile(numbers, 90, method='inverted_cdf')
    return f'{middle:g} / {most:g}'


def notebook_rows(cells: pd.DataFrame) -> dict:
    "what -> number, of notebooks."
    code, markdown = (cells[cells.kind == kind] for kind in ('code', 'markdown'))
    columns = np.concatenate(code['columns'].tolist())
    rows = {'code cells': len(code), '  lines': describe(code.lines), '  longest': code.lines.max()}
    if exported := [*code[code.exported].lines]:
        rows |= {'exported cells': len(exported), '  their lines': describe(exported)}
        rows |= {'  the longest of them': max(exported)}
    rows['code lines'] = len(columns)
    for most in COLUMNS:
        over = columns > most
        rows[f'  over {most} columns'] = f'{over.sum()} ({over.mean():.1%})'
    return rows | {'markdown cells': len(markdown), f'  over {WORDS} words': (markdown.words > WORDS).sum()}


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


def main(folder: Path, names: bool):
    "Print the table."
    tables = {}
    for title, files in (('chapters', '*/[0-9][0-9]_*.ipynb'), ('experiments', 'experiments/*.ipynb')):
        tables[title] = notebook_rows(read_cells(sorted((folder / 'nbs').glob(files))))
    functions, definitions, lambdas = [], {}, 0
    for path in sorted((folder / 'cube_nb').rglob('*.py')):
        text = path.read_text(encoding='utf-8')
        tree, name = ast.parse(text), '.'.join(path.relative_to(folder).with_suffix('').parts)
        functions += functions_in(tree, name, text.splitlines())
        definitions[name] = definitions_of(tree)
        lambdas += sum(isinstance(node, ast.Lambda) for node in ast.walk(tree))
    functions = pd.DataFrame(functions, columns=['name', 'lines', 'arguments'])
    definitions = pd.Series({name: count for name, count in definitions.items() if count})
    long = {column: functions[functions[column] > most] for column, most in MOST.items()}
    tables['library'] = {
        'functions and methods': len(functions),
        '  lines': describe(functions.lines),
        **{f'  with more than {most} {column}': len(long[column]) for column, most in MOST.items()},
        'definitions a module, median / most': f'{definitions.median():g} / {definitions.max()}',
        'lambdas': lambdas,
    }
    for title, rows in tables.items():
        print(title, *(f'  {name:42} {value!s:>14}' for name, value in rows.items()), sep='\n')
    for column in long if names else ():
        print(f'\nfunctions with more than {MOST[column]} {column}')
        table = long[column].sort_values(column, ascending=False)
        print(table[['name', column]].to_string(index=False, header=False))


if __name__ == '__main__':
    parser = new_parser(__doc__)
    parser.add_argument('folder', type=Path, nargs='?', default=Path(__file__).parents[1], help='a checkout')
    parser.add_argument('--names', action='store_true', help='list long functions too')
    main(**vars(parser.parse_args()))
