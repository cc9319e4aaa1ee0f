"""
Runs pieces of code under a profiler: JSON {name: code} becomes {name: {called, imported, looked_up}}.

A function is named after the statement at the top level of its module that it is part of: `cube_nb.search.beam.beam`,
`cube_nb.learn.loop.Learner.take_step` (by `@patch`), `cube_nb.cube.cubies.puzzle:cube2` (a registration). What is
called while a module is imported is listed as [function, statement]. Compiled Numba kernels are not seen.
"""

import ast
import json
import sys
import threading
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt  # what is slow to import is imported before the profiler is on
import pandas as pd  # noqa: F401
import torch
import torch.utils.tensorboard  # noqa: F401
from scipy.stats import binomtest  # noqa: F401

ROOT = Path(__file__).parent.parent
HOME = str(ROOT / 'cube_nb')
calls = set()  # (file, line, None or (file, line) of the statement at the top of the module that is imported)
imports = []  # frames of modules of the library that are being imported


def watch(frame, event, _):
    "Note a call of a function of the library."
    code = frame.f_code
    if event not in ('call', 'return') or not code.co_filename.startswith(HOME):
        return
    if code.co_name == '<module>':
        imports.append(frame) if event == 'call' else imports.pop()
    elif event == 'call':
        at = (imports[-1].f_code.co_filename, imports[-1].f_lineno) if imports else None
        calls.add((code.co_filename, code.co_firstlineno, at))


@cache
def statements(file: str) -> list[ast.stmt]:
    return ast.parse(Path(file).read_text(encoding='utf-8')).body


def statement_at(file: str, line: int) -> ast.stmt:
    "The statement at the top level of a module that a line belongs to."
    for statement in statements(file):
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, 'decorator_list', []))])
        if first <= line <= statement.end_lineno:
            return statement
    raise AssertionError(f'{file}:{line}')


@cache
def name_at(file: str, line: int) -> str:
    "What a line belongs to."
    module = '.'.join(Path(file).relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
    statement = statement_at(file, line)
    match statement:
        case ast.FunctionDef(name=name, decorator_list=decorators):
            if any('patch' in ast.unparse(each) for each in decorators):
                annotation = ast.unparse(statement.args.args[0].annotation)
                owner = eval(annotation, vars(sys.modules[module]))
                return f'{module}.{owner.__name__}.{name}'
            return f'{module}.{name}'
        case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return f'{module}.{name}'
        case ast.Assign(targets=[ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_]), *_]):
            return f'{module}.{name}'
        case ast.Expr(value=ast.Call(func=ast.Name(id=function), args=[ast.Constant(value=name), *_])):
            return f'{module}.{function.removeprefix("register_")}:{name}'
    return f'{module}.<module>'


def profiled(code: str) -> dict:
    "What one piece of code calls and looks up."
    from cube_nb.config import LOOKED_UP

    LOOKED_UP.clear()
    calls.clear()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        exec(compile(code, 'experiment', 'exec'), {'__name__': '__main__'})
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        plt.close('all')
    called = sorted({name_at(file, line) for file, line, at in calls if at is None})
    imported = sorted({(name_at(file, line), name_at(*at)) for file, line, at in calls if at is not None})
    return {'called': called, 'imported': imported, 'looked_up': sorted(LOOKED_UP)}


if __name__ == '__main__':
    torch.set_num_threads(1)
    print(json.dumps({name: profiled(code) for name, code in json.load(sys.stdin).items()}))
