"""Shows the committed run of each experiment: its tables and figures, as outputs of the cells that made them.

`python docs/results.py NAME...` writes them into nbs/experiments/NAME.ipynb (without a name: into all of them).
"""

import ast
import base64
import json
import sys
from configparser import ConfigParser
from html import escape
from pathlib import Path

import pandas as pd
from nbformat import NO_CONVERT, read, write
from nbformat.v4 import new_output

ROOT = Path(__file__).parents[1]
PROFILES = ('a100', 'cpu')  # whose runs are shown, the first that there is
MOST_ROWS, FIRST_ROWS = 24, 8  # a longer table is shown by its first rows,
FOLDED_ROWS = 150  # and the whole of it below them, folded, if it is not longer than this
ALWAYS_WHOLE = {'report.csv'}  # what its page is about
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


def result_calls(code):
    "The calls that write a table or a figure, in the order of the code."
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a cell with magics
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) >= 2]
    calls = [call for call in calls if ast.unparse(call.func) in ('run.table', 'run.figure')]
    return sorted(calls, key=lambda call: (call.end_lineno, call.end_col_offset))


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


def as_html(frame):
    "A table for a page, with whole texts."
    with pd.option_context('display.max_colwidth', None):
        return frame.to_html(index=False, border=0, float_format='{:.4g}'.format, na_rep='')


def table_output(path, root=ROOT):
    "A table: the whole of it if it is short, else its first rows, and the whole of it folded."
    frame = pd.read_csv(root / path)
    is_whole = len(frame) <= MOST_ROWS or Path(path).name in ALWAYS_WHOLE
    shown = frame if is_whole else frame.head(FIRST_ROWS)
    rows = f'{len(frame)} rows' if shown is frame else f'{len(shown)} of {len(frame):,} rows'
    html = as_html(shown)
    caption = f'<p class="result">{rows} of <a href="{in_repository(path)}">{escape(path)}</a></p>'
    if len(shown) < len(frame) <= FOLDED_ROWS:
        caption += f'\n<details><summary>All {len(frame)} rows</summary>\n{as_html(frame)}\n</details>'
    text = f'{rows} of {path}\n{shown.to_string(index=False, float_format="{:.4g}".format, na_rep="")}'
    return {'text/html': html + '\n' + caption, 'text/plain': text}


def figure_output(path, root=ROOT):
    "A figure."
    return {'image/png': base64.b64encode((root / path).read_bytes()).decode(), 'text/plain': path}


def missing_output(path):
    "What is said of a result that the committed run did not write."
    text = f'{path}: the committed run was made before this result was asked for; the next one will have it.'
    return {'text/html': f'<p class="result missing">{escape(text)}</p>', 'text/plain': text}


def result_output(kind, name, record, root=ROOT):
    "The output that shows a result of a run."
    path = path_of(kind, name, record['profile'])
    if path not in record['results'] or not (root / path).exists():
        data = missing_output(path)
    else:
        data = table_output(path, root) if kind == 'table' else figure_output(path, root)
    return new_output('display_data', data)


def words_output(words):
    "What a cell of the run has said."
    if list(words) == ['text/plain']:
        return new_output('stream', name='stdout', text=words['text/plain'].rstrip('\n') + '\n')
    return new_output('display_data', dict(words))


def parameter_output(record):
    "The parameters of the run, for below the cell that declares them."
    lines = [f'{name} = {value!r}' for name, value in record['parameters'].items()]
    title = f'In the run shown here, profile {record["profile"]}:'
    commit = f'commit {record["commit"] or "none"}{changes_of(record)}'
    facts = f'({" · ".join([commit, *facts_of(record)])})'
    return new_output('stream', name='stdout', text='\n'.join([title, *lines, facts]) + '\n')


def show_results(notebook, record, root=ROOT):
    "Replace the outputs of a notebook by the results of a run; without a run, by nothing."
    for cell in notebook.cells:
        if cell.cell_type != 'code':
            continue
        cell.outputs = []
        if record:
            cell.outputs = [words_output(words) for words in record.get('said', {}).get(cell.id, [])]
            cell.outputs += [result_output(*result, record, root) for result in results_in(cell.source)]
            if 'parameters' in cell.metadata.get('tags', []):
                cell.outputs.append(parameter_output(record))


def duration(seconds):
    "Seconds as a reader says them."
    if seconds < 90:
        return f'{seconds:.0f} seconds'
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


def main(names):
    paths = [ROOT / f'nbs/experiments/{name}.ipynb' for name in names]
    for path in paths or sorted((ROOT / 'nbs/experiments').glob('*.ipynb')):
        notebook = read(path, NO_CONVERT)
        show_results(notebook, committed_record(path.stem))
        write(notebook, path)


if __name__ == '__main__':
    main(sys.argv[1:])
