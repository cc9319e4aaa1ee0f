"""Shows the committed run of each experiment: its tables and figures, as outputs of the cells that made them.

`python docs/results.py NAME...` writes them into nbs/experiments/NAME.ipynb (without a name: into all of them, and
the rows of sources into chapters). Rows of sources are those of today, on every page: no run has made them.
"""

import ast
import base64
import json
import sys
import warnings
from configparser import ConfigParser
from functools import partial
from html import escape
from pathlib import Path

import pandas as pd
from nbformat import NO_CONVERT, read, write
from nbformat.v4 import new_output

from cube_nb.measure import sources
from cube_nb.workshop import reach
from cube_nb.workshop.profiles import code_cells, result_calls
from cube_nb.workshop.results import load_table, sentences

ROOT = Path(__file__).parents[1]
PROFILES = ('a100', 'cpu')  # whose runs are shown, the first that there is
MOST_ROWS, FIRST_ROWS = 24, 8  # a longer table is shown by its first rows,
LONGEST_VIEW = 50  # rows that a cell chose
FOLDED_ROWS = 150  # and the whole of it below them, folded, if it is not longer than this
ALWAYS_WHOLE = {'league_published.csv'}  # what its page is about
KINDS = dict(table=('data', '.csv'), figure=('figures', '.png'))


def settings():
    "What settings.ini says."
    config = ConfigParser(delimiters=['='])
    config.read(ROOT / 'settings.ini', encoding='utf-8')
    return config['DEFAULT']


def in_repository(path):
    "The address of a file in the public repository."
    return f'{settings()["git_url"]}/blob/{settings()["branch"]}/{path}'


def committed_record(experiment, root=ROOT):
    "The record of the run to show; `None` if there is none."
    for profile in PROFILES:
        path = root / 'data' / profile / f'{experiment}.json'
        if path.exists():
            return json.loads(path.read_text(encoding='utf-8'))
    return None


def statements(code):
    "The statements of a cell; none of a cell with magics."
    try:
        return ast.parse(code).body
    except SyntaxError:
        return []


def results_in(code):
    "The tables and figures that a cell writes, as (kind, name) in the order of the code."
    return [(call.func.attr, ast.literal_eval(call.args[1])) for call in result_calls(code)]


def alt_texts(code):
    "What the figures that a cell writes show, for those who do not see them."
    return [ast.literal_eval(call.args[2]) for call in result_calls(code) if len(call.args) > 2]


def path_of(kind, name, profile):
    "Where a result is, relative to the root."
    folder, suffix = KINDS[kind]
    return f'{folder}/{profile}/{name}{suffix}'


def is_numbered(frame):
    "Whether the index of a table says nothing but numbers of rows."
    return frame.index.nlevels == 1 and frame.index.name is None and frame.index.dtype.kind == 'i'


def as_html(frame):
    "A table for a page, with whole texts."
    with pd.option_context('display.max_colwidth', None):
        return frame.to_html(index=not is_numbered(frame), border=0, float_format='{:.4g}'.format, na_rep='')


def as_text(frame):
    "A table for those who see no HTML."
    return frame.to_string(index=not is_numbered(frame), float_format='{:.4g}'.format, na_rep='')


def table_output(path, frame, view=None):
    "What a cell shows of a table: a view of its own; else the whole of it if it is short, or its first rows."
    is_whole = len(frame) <= MOST_ROWS or Path(path).name in ALWAYS_WHOLE
    if view is not None:
        shown, rows = view, f'a view of {len(frame):,} rows'
    elif is_whole:
        shown, rows = frame, f'{len(frame)} rows'
    else:
        shown, rows = frame.head(FIRST_ROWS), f'{FIRST_ROWS} of {len(frame):,} rows'
    caption = f'<p class="result">{rows} of <a href="{in_repository(path)}">{escape(path)}</a></p>'
    if shown is not frame and len(frame) <= FOLDED_ROWS:
        caption += f'\n<details><summary>All {len(frame)} rows</summary>\n{as_html(frame)}\n</details>'
    html = as_html(shown) + '\n' + caption
    return {'text/html': html, 'text/plain': f'{rows} of {path}\n{as_text(shown)}'}


class FromWritten(ast.NodeTransformer):
    "Puts the table that a run has written in the place of the call that wrote it."

    def visit_Call(self, node):
        if ast.unparse(node.func) == 'run.table':
            return ast.parse(f'_written[{ast.literal_eval(node.args[1])!r}]', mode='eval').body
        return self.generic_visit(node)


def note_plain_values(code, known):
    "Keep what a cell sets to plain values in `known`, by name, and forget what it computes."
    for statement in statements(code):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                known[statement.targets[0].id] = ast.literal_eval(statement.value)
            except ValueError:  # computed
                known.pop(statement.targets[0].id, None)


def root_of(node):
    "The variable that an expression such as `rows.drop(...)['states']` begins with; `None` if it is none."
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def named_table(statement):
    "The variable that a line such as `run.table(rows, 'toy')` writes, and the name of the table; else `None`."
    call = getattr(statement, 'value', None)
    if not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call):
        return None
    name = root_of(call.args[0]) if ast.unparse(call.func) == 'run.table' else None
    return None if name is None else (name, ast.literal_eval(call.args[1]))


def changes_nothing(statement):
    "Whether a line only checks, defines, prints or writes, so that a view does not depend on it."
    if isinstance(statement, ast.Expr):
        return ast.unparse(statement).startswith(('print(', 'run.'))
    return isinstance(statement, ast.Assert | ast.FunctionDef)


def view_of(code, written, known):
    """What the last line of a cell shows of the tables that the cell writes, made again from the files: `written` has
    them by name, `known` other values. `None` if it shows a whole table, or what only the run had.
    """
    body = statements(code)
    writing = [n for n, statement in enumerate(body) if 'run.table(' in ast.unparse(statement)]
    if not writing or not isinstance(body[-1], ast.Expr):
        return None
    names = known | {'_written': written, 'pd': pd}
    for statement in body[writing[0] : -1]:
        if named := named_table(statement):
            names[named[0]] = written[named[1]]
        elif isinstance(statement, ast.Assign):
            run_line(statement, names)
        elif not changes_nothing(statement):
            forget(statement, names)
    run_line(ast.Assign([ast.Name('_shown', ast.Store())], body[-1].value, lineno=1), names)
    shown = names.get('_shown')
    shown = shown.to_frame() if isinstance(shown, pd.Series) else shown
    if not isinstance(shown, pd.DataFrame) or len(shown) > LONGEST_VIEW:
        return None
    whole = any(is_numbered(shown) and shown.shape == table.shape for table in written.values())
    return None if whole else shown


def run_line(statement, names):
    "Make an assignment. If it asks for what is not there, what it would have changed is not there either."
    line = ast.fix_missing_locations(ast.Module([FromWritten().visit(statement)], []))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            exec(compile(line, '<view>', 'exec'), names)
    except Exception:  # whatever a line may raise whose names are missing
        forget(statement.targets[0], names)


def forget(statement, names):
    "Take out of `names` whatever a statement speaks of, since it may have changed it."
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            names.pop(node.id, None)


def figure_output(path, root=ROOT):
    "A figure."
    return {'image/png': base64.b64encode((root / path).read_bytes()).decode(), 'text/plain': path}


def missing_output(path):
    "What is said of a result that the committed run did not write."
    text = f'{path}: the committed run was made before this result was asked for; the next one will have it.'
    return {'text/html': f'<p class="result missing">{escape(text)}</p>', 'text/plain': text}


def outputs_of_results(code, record, known, root=ROOT):
    "The outputs that show what a cell has written. A view is shown in the place of the last table."
    paths = {(kind, name): path_of(kind, name, record['profile']) for kind, name in results_in(code)}
    there = {key for key, path in paths.items() if path in record['results'] and (root / path).exists()}
    tables = [key for key in paths if key[0] == 'table']
    written = {key[1]: pd.read_csv(root / paths[key]) for key in tables if key in there}
    view = view_of(code, written, known) if there.issuperset(tables) else None
    outputs = []
    for key, path in paths.items():
        if key not in there:
            outputs.append(missing_output(path))
        elif key[0] == 'figure':
            outputs.append(figure_output(path, root))
        else:
            outputs.append(table_output(path, written[key[1]], view if key == tables[-1] else None))
    return [new_output('display_data', data) for data in outputs]


def words_output(words):
    "What a cell of the run has said."
    if list(words) == ['text/plain']:
        return new_output('stream', name='stdout', text=words['text/plain'].rstrip('\n') + '\n')
    return new_output('display_data', dict(words))


def rows_of_source(code):
    "The outputs of a cell whose last line shows rows of a source; none of another cell."
    last = (statements(code) or [None])[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in reach.SHOW_ROWS:
        return []
    shown = getattr(sources, call.func.id)(*map(ast.literal_eval, call.args))
    return [new_output('display_data', {'text/html': shown.data})]


def concludes(statement):
    "Whether a statement is the function of a page that says what was found."
    return isinstance(statement, ast.FunctionDef) and reach.changes_nothing(statement)


def found_in(experiment):
    """The function of a page that says what was found, as `sentences` takes it; `None` if the page says nothing.

    It sees what the notebook imports, and nothing else.
    """
    notebook = ROOT / f'nbs/experiments/{experiment}.ipynb'
    lines = [line for _, code in code_cells(notebook) for line in statements(code)]
    said = [line for line in lines if concludes(line)]
    if not said:
        return None
    (function,) = said
    function.decorator_list = []
    imports = [line for line in lines if isinstance(line, ast.Import | ast.ImportFrom)]
    names = {}
    exec(compile(ast.Module([*imports, function], []), notebook.name, 'exec'), names)
    return names[function.name]


def found_output(experiment, profile):
    "What was found, by the committed tables. Raises `ValueError` for what they do not say any more."
    text = '\n\n'.join(sentences(found_in(experiment), partial(load_table, profile)))
    return new_output('display_data', {'text/markdown': text, 'text/plain': text})


def parameter_output(record):
    "The parameters of the run, for below the cell that declares them."
    lines = [f'{name} = {value!r}' for name, value in record['parameters'].items()]
    title = f'In the run shown here, profile {record["profile"]}:'
    commit = f'commit {record["commit"] or "none"}{changes_of(record)}'
    facts = f'({" · ".join([commit, *facts_of(record)])})'
    return new_output('stream', name='stdout', text='\n'.join([title, *lines, facts]) + '\n')


def show_results(notebook, record, root=ROOT):
    "Replace the outputs of a notebook by the results of a run; without a run, by nothing."
    known = dict(record['parameters']) if record else {}  # values by name, as the cells before have set them
    for cell in notebook.cells:
        if cell.cell_type != 'code':
            continue
        cell.outputs = []
        if record:
            note_plain_values(cell.source, known)
            if any(map(concludes, statements(cell.source))):
                cell.outputs = [found_output(record['experiment'], record['profile'])]
                continue
            said = [words_output(words) for words in record.get('said', {}).get(cell.id, [])]
            cell.outputs = rows_of_source(cell.source) or said
            cell.outputs += outputs_of_results(cell.source, record, known, root)
            if 'parameters' in cell.metadata.get('tags', []):
                cell.outputs.append(parameter_output(record))


def duration(seconds):
    "Seconds as a reader says them."
    if seconds < 90:
        return f'{seconds:.0f} second' + 's' * (round(seconds) != 1)
    return f'{seconds / 60:.0f} minutes' if seconds < 5400 else f'{seconds / 3600:.1f} hours'


def seeds_of(record):
    "The seed of a run, and how many networks it has trained of each kind."
    count = record['parameters'].get('seeds', 1)
    return (
        f'seed {record["seed"]}' if count == 1 else f'seeds {record["seed"]} to {record["seed"] + count - 1}'
    )


def changes_of(record):
    "Whether the commit that a run names is all of its code."
    return ', with uncommitted changes' if record['dirty'] else ''


def facts_of(record):
    "What a run was made on, with which seeds, in what time, and when."
    device = record['cpu'] if record['device'] == 'cpu' else f'{record["device"]}, {record["cpu"]}'
    return [
        f'{device}, {record["cores"]} cores',
        seeds_of(record),
        duration(record['seconds']),
        record['started'][:10],
    ]


def statement(experiment, record):
    "What a page says of the run that it shows, as Markdown."
    if record is None:
        again = f'`make reproduce PROFILE=cpu ONLY={experiment}`'
        return f'**No committed run yet.** The tables and figures of this page are made by {again}'
    profile, commit = record['profile'], record['commit'] or 'none'
    facts = [
        f'[record]({in_repository(f"data/{profile}/{experiment}.json")})',
        f'commit [`{commit[:10]}`]({settings()["git_url"]}/commit/{commit}){changes_of(record)}',
        *facts_of(record),
    ]
    return f'**The committed run of the profile `{profile}`**: ' + ' · '.join(facts)


def show_rows(notebook):
    "Replace the rows of sources that a chapter shows; returns whether it shows any."
    shows_any = False
    for cell in notebook.cells:
        if cell.cell_type == 'code' and (rows := rows_of_source(cell.source)):
            cell.outputs, shows_any = rows, True
    return shows_any


def main(names):
    paths = [ROOT / f'nbs/experiments/{name}.ipynb' for name in names]
    for path in paths or sorted((ROOT / 'nbs').glob('*/*.ipynb')):
        notebook = read(path, NO_CONVERT)
        if path.parent.name == 'experiments':
            show_results(notebook, committed_record(path.stem))
        elif not show_rows(notebook):
            continue
        write(notebook, path)


if __name__ == '__main__':
    main(sys.argv[1:])
