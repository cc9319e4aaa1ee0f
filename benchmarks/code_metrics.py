"""How the code reads, in numbers: cells, lines, functions and definitions of a checkout.

    python benchmarks/code_metrics.py [FOLDER] [--names]

Cells are counted over the chapters (`nbs/ROOM/*.ipynb`) and over the experiments (`nbs/experiments/*.ipynb`):
lines that are neither blank nor a directive (`#|`). Functions and definitions are counted over the exported
library without its index. A function's length is from its `def` to its end, blank lines left out; `self` and
`cls` are no arguments. Definitions are functions and classes at the top of a module, and the methods in its
classes. A one-line compound statement has its body behind the colon. With `--names`, long functions and all
modules are listed below the table.
"""

import argparse
import ast
import io
import json
import math
import tokenize
from pathlib import Path
from statistics import median
from typing import NamedTuple

LINES = 40  # a function longer than this is counted
ARGUMENTS = 8  # a function with more than this is counted
WORDS = 160  # a markdown cell with more words is counted
COLUMNS = (110, 120)  # a code line longer than these is counted
OPENERS = {'if', 'elif', 'else', 'for', 'while', 'with', 'try', 'except', 'finally', 'def', 'class', 'async'}


def nth_percentile(numbers: list, share: int) -> float:
    "The smallest number that at least `share` percent do not exceed; 0 of no numbers."
    return sorted(numbers)[math.ceil(len(numbers) * share / 100) - 1] if numbers else 0


class Notebooks(NamedTuple):
    "What is counted over notebooks."

    cells: list  # lines of each code cell
    exported: list  # of each exported cell
    columns: list  # length of each code line
    words: list  # of each markdown cell


def read_notebooks(paths: list) -> Notebooks:
    "The counts over all cells of some notebooks."
    found = Notebooks([], [], [], [])
    for path in paths:
        for cell in json.loads(path.read_text(encoding='utf-8'))['cells']:
            text = ''.join(cell['source'])
            directives = [line for line in text.splitlines() if line.startswith('#|')]
            lines = [line for line in text.splitlines() if line.strip() and line not in directives]
            if cell['cell_type'] == 'markdown':
                found.words.append(len(text.split()))
            elif cell['cell_type'] == 'code' and lines:
                found.cells.append(len(lines))
                found.columns.extend(map(len, lines))
                if is_exported(directives):
                    found.exported.append(len(lines))
    return found


def is_exported(directives: list) -> bool:
    "Whether one of the directives of a cell exports it."
    return any(line.replace(' ', '').startswith('#|export') for line in directives)


def notebook_rows(counts: Notebooks) -> list:
    "(what, number) of notebooks."
    rows = []
    for name, lines in (('code cells', counts.cells), ('exported cells', counts.exported)):
        rows.append((name, len(lines)))
        if lines:
            rows.append(('  lines, median / 90th percentile', describe(lines)))
            rows.append(('  longest', max(lines)))
    rows.append(('code lines', len(counts.columns)))
    for columns in COLUMNS:
        over = sum(length > columns for length in counts.columns)
        share = over / max(1, len(counts.columns))
        rows.append((f'  over {columns} columns', f'{over} ({share:.1%})'))
    rows.append(('markdown cells', len(counts.words)))
    rows.append((f'  over {WORDS} words', sum(words > WORDS for words in counts.words)))
    return rows


class Function(NamedTuple):
    "A function of the library."

    name: str  # module and qualified name
    lines: int
    arguments: int


class Module(NamedTuple):
    "What is counted over a module."

    name: str
    functions: list  # of `Function`, those inside others too
    definitions: int
    compounds: int  # one-line compound statements
    tuples: int  # assignments of several values to several names in one statement
    lambdas: int
    walruses: int


def read_module(path: Path, root: Path) -> Module:
    "The counts of one file."
    text = path.read_text(encoding='utf-8')
    tree = ast.parse(text)
    name = '.'.join(path.relative_to(root.parent).with_suffix('').parts)
    nodes = list(ast.walk(tree))
    return Module(
        name,
        list(functions_in(tree, name, text.splitlines())),
        sum(1 + len(methods(node)) for node in tree.body if is_definition(node)),
        one_line_compounds(text),
        sum(is_tuple_assignment(node) for node in nodes),
        sum(isinstance(node, ast.Lambda) for node in nodes),
        sum(isinstance(node, ast.NamedExpr) for node in nodes),
    )


def is_function(node) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def is_definition(node) -> bool:
    return is_function(node) or isinstance(node, ast.ClassDef)


def methods(node) -> list:
    "The functions in a class."
    return [child for child in node.body if is_function(child)] if isinstance(node, ast.ClassDef) else []


def functions_in(node, prefix: str, lines: list):
    "Every `Function` below a node, with the names of what it is in."
    for child in ast.iter_child_nodes(node):
        inner = f'{prefix}.{child.name}' if is_definition(child) else prefix
        if is_function(child):
            body = [line for line in lines[child.lineno - 1 : child.end_lineno] if line.strip()]
            yield Function(inner, len(body), argument_count(child))
        yield from functions_in(child, inner, lines)


def argument_count(function) -> int:
    "Arguments of a function, without `self` and `cls`."
    spec = function.args
    names = [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    starred = [argument for argument in (spec.vararg, spec.kwarg) if argument]
    return len(starred) + sum(name not in ('self', 'cls') for name in names)


def is_tuple_assignment(node) -> bool:
    "Whether a statement is like `a, b = x, y`."
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    return any(isinstance(target, ast.Tuple) for target in node.targets)


def one_line_compounds(text: str) -> int:
    "Statements with a body behind their colon."
    count = 0
    for line in logical_lines(text):
        count += line[0].string in OPENERS and has_body(line)
    return count


def logical_lines(text: str):
    "The tokens of each statement, without comments and indentation."
    dropped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    line = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            yield line
            line = []
        elif token.type not in dropped:
            line.append(token)


def has_body(line: list) -> bool:
    "Whether something follows the colon that ends the head of a compound statement."
    depth = 0
    lambdas = 0
    for k, token in enumerate(line):
        if token.string in ('(', '[', '{'):
            depth += 1
        elif token.string in (')', ']', '}'):
            depth -= 1
        elif token.string == 'lambda' and depth == 0:
            lambdas += 1
        elif token.string == ':' and depth == 0:
            if lambdas == 0:
                return k + 1 < len(line)
            lambdas -= 1
    return False


def library_rows(modules: list) -> list:
    "(what, number) of the library."
    functions = [function for module in modules for function in module.functions]
    definitions = [module.definitions for module in modules if module.definitions]
    return [
        ('modules with definitions', len(definitions)),
        ('functions and methods', len(functions)),
        ('  lines, median / 90th percentile', describe([f.lines for f in functions])),
        (f'  over {LINES} lines', sum(f.lines > LINES for f in functions)),
        (f'  with more than {ARGUMENTS} arguments', sum(f.arguments > ARGUMENTS for f in functions)),
        ('definitions a module, median / most', f'{median(definitions):g} / {max(definitions)}'),
        ('one-line compound statements', sum(module.compounds for module in modules)),
        ('assignments like a, b = x, y', sum(module.tuples for module in modules)),
        ('lambdas', sum(module.lambdas for module in modules)),
        ('walruses', sum(module.walruses for module in modules)),
    ]


def describe(numbers: list) -> str:
    "Median and 90th percentile."
    return f'{median(numbers):g} / {nth_percentile(numbers, 90)}'


def print_rows(title: str, rows: list):
    "A part of the table."
    print(f'{title:44} {"":>14}')
    for name, value in rows:
        print(f'  {name:42} {value!s:>14}')


def print_names(modules: list):
    "Long functions, functions of many arguments, and the definitions of each module."
    functions = [function for module in modules for function in module.functions]
    print(f'\nfunctions over {LINES} lines')
    for function in sorted(functions, key=lambda f: -f.lines):
        if function.lines > LINES:
            print(f'  {function.name:60} {function.lines:4} lines')
    print(f'\nfunctions with more than {ARGUMENTS} arguments')
    for function in sorted(functions, key=lambda f: -f.arguments):
        if function.arguments > ARGUMENTS:
            print(f'  {function.name:60} {function.arguments:4} arguments')
    print('\ndefinitions a module')
    for module in sorted(modules, key=lambda m: -m.definitions):
        print(f'  {module.name:60} {module.definitions:4}')


def main(folder: Path, names: bool):
    "Print the table."
    chapters = read_notebooks(sorted((folder / 'nbs').glob('*/[0-9][0-9]_*.ipynb')))
    experiments = read_notebooks(sorted((folder / 'nbs/experiments').glob('*.ipynb')))
    files = [path for path in sorted((folder / 'cube_nb').rglob('*.py')) if path.name != '_modidx.py']
    modules = [read_module(path, folder / 'cube_nb') for path in files]
    print_rows('chapters (nbs)', notebook_rows(chapters))
    print_rows('experiments (nbs/experiments)', notebook_rows(experiments))
    print_rows('library (cube_nb)', library_rows(modules))
    if names:
        print_names(modules)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('folder', type=Path, nargs='?', default=Path(__file__).parents[1], help='a checkout')
    parser.add_argument('--names', action='store_true', help='list long functions and all modules too')
    main(**vars(parser.parse_args()))
