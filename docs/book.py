"""Turns the notebooks of nbs/ into the source of the site: `python docs/book.py FOLDER`.

A chapter shows the code that it exports, an experiment the run that is committed. The links between pages are made here, too.
"""

import ast
import re
import shutil
import sys
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from posixpath import normpath, relpath

import yaml
from api import PARTS, ROOMS, cell_label, groups_of, part_of, read_before, read_library
from nbformat import NO_CONVERT, read, write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from reference import write_reference
from results import ROOT, alt_texts, committed_record, duration, figure_output, in_repository, path_of
from results import results_in, show_results, statement
from tables import mark_words

NOTEBOOKS = ROOT / 'nbs'
LONGEST_OPEN = 25  # lines of code; more are folded
LONGEST_BESIDE_RESULTS = (
    6  # on the page of an experiment, where results are the point; its parameters count as words
)
LONGEST_LINE, WRAPPED_AT = 125, 110  # columns of printed text: a longer line is a sentence, and is wrapped
LONGEST_IMPORTS = 8  # a cell that only imports is folded sooner
# what no word is linked in: code, formulas, links, headings, HTML
KEPT = re.compile(
    r'(^```.*?^```|^#+ .*?$|\$\$.*?\$\$|\$[^$\n]+\$|!?\[[^\]]*\]\([^)]*\)|<[^>\n]+>|`[^`\n]+`)',
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r'\]\((?!\w+:|#)([^)#\s]+)')
WRITTEN_TEXT = re.compile(r'^#\| *fig-alt: *(.+)$', re.MULTILINE)  # Quarto's name for it


@dataclass
class Book:
    "The pages there are, and what can be linked to."

    pages: list  # of Path, relative to nbs/
    modules: list  # of api.Module

    def __post_init__(self):
        self.by_chapter = {module.chapter: module for module in self.modules}
        self.entries = {entry.full_name: entry for module in self.modules for entry in module.entries}
        self.by_name = {}
        for full_name, entry in self.entries.items():
            self.by_name.setdefault(entry.name, []).append(full_name)
        self.module_names = {module.name for module in self.modules}
        self.read_before = read_before(self.modules)


def find_pages():
    "The notebooks and Markdown files of the book, relative to nbs/."
    found = [path.relative_to(NOTEBOOKS) for path in NOTEBOOKS.rglob('*') if path.suffix in ('.ipynb', '.md')]
    return sorted(path for path in found if not any(part[0] in '._' for part in path.parts))


# --- words and links ---


def imported_names(code):
    "Name -> full name, of what code imports from the library."
    found = {}
    for node in ast.walk(parsed(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('cube_nb'):
            found |= {alias.asname or alias.name: f'{node.module}.{alias.name}' for alias in node.names}
    return found


def parsed(code):
    "The syntax tree of a cell; an empty one for a cell that is not Python alone."
    try:
        return ast.parse(code)
    except SyntaxError:
        return ast.Module([], [])


@cache
def cited_works():
    "What a work of the bibliography is called -> its address; and a pattern that finds any of these."
    parts = yaml.safe_load((NOTEBOOKS / 'references.yml').read_text(encoding='utf-8')).values()
    works = [work for part in parts for work in part if 'link' in work]
    links = {' '.join(name.split()): work['link'] for work in works for name in work['called']}
    longest_first = sorted(links, key=len, reverse=True)
    names = '|'.join(re.escape(name).replace(r'\ ', r'\s+') for name in longest_first)
    return links, re.compile(rf'(?<![\w-])(?:{names})(?![\w-])')


@dataclass
class Words:
    "Links the words of one page."

    book: Book
    page: Path
    module: str  # that the page exports; '' for none
    imported: dict  # name -> full name
    cited: set = field(default_factory=set)  # addresses of works that the page has linked

    def resolve(self, text):
        "The full name of what inline code names; `None` for anything else."
        name = re.sub(r'\(.*\)$', '', text).removeprefix('cube_nb.')
        if not re.fullmatch(r'[A-Za-z_][\w.]*', name):
            return None
        candidates = [f'{self.module}.{name}', self.imported.get(name), f'cube_nb.{name}']
        for candidate in candidates:
            if candidate in self.book.entries or candidate in self.book.module_names:
                return candidate
        is_word = name.isalpha() and name.islower() and not text.endswith(')')
        found = self.book.by_name.get(name, [])
        return found[0] if len(found) == 1 and not is_word else None

    def link_code(self, piece):
        "Inline code, linked if it names something of the library or an experiment."
        text = piece[1:-1]
        if full_name := self.resolve(text):
            return f'{{py:obj}}`{text} <{full_name}>`'
        experiment = Path('experiments', f'{text}.ipynb')
        if experiment in self.book.pages and experiment != self.page:
            return f'[{piece}]({self.path_to(experiment)})'
        return piece

    def link_works(self, text):
        "Plain words, with each work of the bibliography linked where the page first names it without a link."
        links, pattern = cited_works()

        def linked(match):
            address = links[' '.join(match[0].split())]
            if address in self.cited or self.page.stem in ('bibliography', 'glossary'):
                return match[0]
            self.cited.add(address)
            return f'[{match[0]}]({address})'

        return pattern.sub(linked, text)

    def path_to(self, page):
        "The way from this page to another one."
        return '../' * (len(self.page.parts) - 1) + page.as_posix()

    def mend_link(self, match):
        "The target of a link; what is no page of the book is in the repository."
        target = normpath((Path('nbs') / self.page.parent / match[1]).as_posix())
        inside = target.startswith('nbs/') and (ROOT / target).exists()
        return match[0] if inside else f']({in_repository(target)}'

    def link(self, text):
        "The Markdown of a cell, with links."
        pieces = KEPT.split(text)
        self.cited |= {address for address in cited_works()[0].values() if f']({address})' in text}
        for number, piece in enumerate(pieces):
            if number % 2 == 0:
                pieces[number] = self.link_works(piece)
            elif piece.startswith('`') and not piece.startswith('```'):
                pieces[number] = self.link_code(piece)
            else:
                pieces[number] = LINK.sub(self.mend_link, piece)
        return ''.join(pieces)


# --- code cells ---


def is_hidden(cell):
    "Whether a cell is for the machine only."
    found = re.search(r'^#\| *(hide|default_exp)\b', cell.source, re.MULTILINE)
    return cell.cell_type == 'code' and found is not None


def folded_as(code, longest=LONGEST_OPEN):
    "What is written on the fold of a cell; `None` for one that stays open."
    lines, body = len(code.splitlines()), parsed(code).body
    if body and all(isinstance(s, (ast.Import, ast.ImportFrom)) for s in body) and lines > LONGEST_IMPORTS:
        return f'Imports, {lines} lines'
    if lines <= longest:
        return None
    names = [s.name for s in body if isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    return f'{", ".join(names) or "Code"}, {lines} lines'


def show_code(cell, longest=LONGEST_OPEN):
    "Strip the directives of a code cell, and fold it if it is long."
    unseen = re.search(r'^#\| *echo: *false', cell.source, re.MULTILINE)
    cell.source = re.sub(r'^#\|.*\n?', '', cell.source, flags=re.MULTILINE).strip('\n')
    tags = set(cell.metadata.get('tags', [])) - {'hide-input'}
    fold = folded_as(cell.source, LONGEST_OPEN if 'parameters' in tags else longest)
    if unseen:
        tags.add('remove-input')
    elif fold:
        tags.add('hide-input')
        cell.metadata.setdefault('mystnb', {})['code_prompt_show'] = fold
        cell.metadata['mystnb']['code_prompt_hide'] = fold
    cell.metadata['tags'] = sorted(tags)


def plain(text):
    "The first sentence of the last paragraph of some Markdown, without its marks."
    paragraphs = [
        p for p in re.split(r'\n\n+', text) if p.strip() and not re.match(r'```|\||\$\$|#', p.strip())
    ]
    words = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', paragraphs[-1]) if paragraphs else text
    words = ' '.join(re.sub(r'[*`#>$\\{}]', '', words).split())
    return re.split(r'(?<=[.:!?]) ', words)[0].rstrip(':')


def describe_pictures(notebook):
    "Give the pictures among the outputs a text for those who do not see them: a written one, or the sentence above."
    sentence = ''
    for cell in notebook.cells:
        if cell.cell_type == 'markdown':
            sentence = plain(cell.source) or sentence
            continue
        if any('image/png' in output.get('data', {}) for output in cell.outputs):
            written = WRITTEN_TEXT.findall(cell.source) or alt_texts(cell.source)
            text = ' '.join(written) or sentence
            cell.metadata.setdefault('mystnb', {})['image'] = {'alt': text}


def wrapped(line):
    "A printed line, on several ones if it is longer than a page is wide; the colours of a terminal stay whole."
    if len(line) <= LONGEST_LINE or '\x1b' in line:
        return line
    indent = line[: len(line) - len(line.lstrip())] + '  '
    options = dict(break_long_words=False, break_on_hyphens=False)
    return textwrap.fill(line, WRAPPED_AT, subsequent_indent=indent, **options)


def wrap_prints(notebook):
    "Wrap the long lines among what the cells of a notebook print."
    for cell in notebook.cells:
        for output in cell.get('outputs', []):
            if output.output_type == 'stream':
                output.text = '\n'.join(map(wrapped, output.text.split('\n')))


# --- pages ---


def is_chapter(page):
    "Whether a page is a chapter of a room."
    return page.parts[0] in ROOMS


def where_line(book, page):
    "What stands under the title of a chapter: its part, its module, its files, and what to read before it."
    module = book.by_chapter.get(name_of(page))
    facts = [[*PARTS][part_of(name_of(page))]]
    if module:
        source = module.name.replace('.', '/') + '.py'
        facts += [f'{{py:obj}}`{module.name}`', f'[source]({in_repository(source)})']
    facts.append(f'[notebook]({in_repository(f"nbs/{page.as_posix()}")})')
    before = [link_between(page, Path(f'{name}.ipynb')) for name in book.read_before.get(name_of(page), [])]
    lines = [' · '.join(facts), f'Read before: {", ".join(before) or "nothing"}']
    return '\n\n'.join(f'{{.where}}\n{line}' for line in lines)


def link_between(page, other):
    "A link from one page to another, by its title."
    return f'[{title_of(other)[0]}]({relpath(other, page.parent)})'


def run_box(experiment, record):
    "What stands under the title of an experiment: the run that the page shows."
    about = statement(experiment, record)
    notebook = f'[notebook]({in_repository(f"nbs/experiments/{experiment}.ipynb")})'
    return f':::{{container}} run{"" if record else " none"}\n{about} · {notebook}\n:::'


def uses_line(book, words):
    "What stands at the end of a page: the names that it defines, and those that it imports from the library."
    entries = book.entries.values()
    own = [entry for entry in entries if entry.module == words.module and entry.kind in ('function', 'class')]
    used = [book.entries[name] for name in sorted(set(words.imported.values())) if name in book.entries]
    lines = [
        f'{{.where}}\n**{title}**: ' + ', '.join(f'{{py:obj}}`{e.name} <{e.full_name}>`' for e in group)
        for title, group in (('Defined here', own), ('Used here', used))
        if group
    ]
    return '\n\n'.join(['---', *lines]) if lines else ''


def reached_label(experiment):
    "What links call the list of what a run reached."
    return f'reached-{experiment.replace("_", "-")}'


def made_line(label, experiment, record, where='this cell'):
    "What stands under a table or figure: links to what made it."
    run = in_repository(f'data/{record["profile"]}/{experiment}.json')
    links = [
        f'[{where}](#{label})',
        f'[its run]({run})',
        f'[functions reached](#{reached_label(experiment)})',
    ]
    return f'{{.made}}\nmade by {" · ".join(links)}'


def shows_something(cell):
    "Whether a cell has a table or a figure below it."
    kinds = [kind for output in cell.get('outputs', []) for kind in output.get('data', {})]
    return cell.cell_type == 'code' and ('text/html' in kinds or 'image/png' in kinds)


def with_made_lines(page, cells, record):
    "The cells of an experiment; under each that shows a table or figure stands what made it."
    for cell in cells:
        if not record or not shows_something(cell):
            yield cell
            continue
        label = cell_label(name_of(page), cell.id)
        yield from (new_markdown_cell(f'({label})='), cell)
        yield new_markdown_cell(made_line(label, page.stem, record))


# of experiments whose first figure is not what they are about
MAIN_FIGURES = {'depth_markov': 'depth_markov_curves', 'dqn_cube3': 'dqn_cube3_solved'}


def at_a_glance(page, cells, record):
    "The main figure of an experiment, for the top of its page, or the first one that shows no training; [] without."
    main = MAIN_FIGURES.get(page.stem)
    for cell in cells if record else []:
        names = [name for kind, name in results_in(cell.source) if kind == 'figure']
        path = path_of('figure', names[0], record['profile']) if names else ''
        if path not in record['results'] or names[0].endswith('_training') or main not in (None, names[0]):
            continue
        about = {'tags': ['remove-input'], 'mystnb': {'image': {'alt': ' '.join(alt_texts(cell.source))}}}
        outputs = [new_output('display_data', figure_output(path))]
        line = made_line(cell_label(name_of(page), cell.id), page.stem, record, 'a cell below')
        return [new_code_cell('# the main figure', outputs=outputs, metadata=about), new_markdown_cell(line)]
    return []


def reached_line(book, page, record):
    "What stands at the end of an experiment: the functions that its run reached, folded."
    names = [book.entries[name] for name in record['code'] if name in book.entries] if record else []
    links = ', '.join(f'{{py:obj}}`{entry.name} <{entry.full_name}>`' for entry in names)
    title = f'<details><summary>The {len(names)} pieces of the library that its run reached</summary>'
    return f'{title}\n\n{{.where #{reached_label(page.stem)}}}\n{links}\n\n</details>' if names else ''


def name_of(page):
    "A page as links name it: its way from nbs/, without suffix."
    return page.with_suffix('').as_posix()


def with_targets(book, page, cells):
    "The cells, with a target before each that the index of the library links to."
    module = book.by_chapter.get(name_of(page))
    wanted = {entry.cell for entry in module.entries} if module else set()
    for cell in cells:
        label = cell_label(name_of(page), cell.id)
        if cell.cell_type == 'code' and label in wanted:
            yield new_markdown_cell(f'({label})=')
        yield cell


def words_on(book, page, cells):
    "What links the words of a page."
    module = book.by_chapter.get(name_of(page))
    imported = {}
    for cell in cells:
        if cell.cell_type == 'code':
            imported |= imported_names(cell.source)
    return Words(book, page, module.name if module else '', imported)


def line_under_title(book, page):
    "What a page says of itself under its title; '' for nothing."
    if page.parts[0] == 'experiments':
        return run_box(page.stem, committed_record(page.stem))
    return where_line(book, page) if is_chapter(page) else ''


def convert(book, page):
    "A notebook as a page of the site."
    notebook = read(NOTEBOOKS / page, NO_CONVERT)
    cells = notebook.cells = [cell for cell in notebook.cells if not is_hidden(cell)]
    words = words_on(book, page, cells)
    longest, record = LONGEST_OPEN, None
    if page.parts[0] == 'experiments':
        longest, record = LONGEST_BESIDE_RESULTS, committed_record(page.stem)
        show_results(notebook, record)
    describe_pictures(notebook)
    mark_words(notebook)
    wrap_prints(notebook)
    for cell in cells:
        if cell.cell_type == 'code':
            show_code(cell, longest)
        else:
            cell.source = words.link(cell.source)
    body = [cell for cell in with_targets(book, page, cells[1:]) if cell.source.strip()]
    around = [line_under_title(book, page), reached_line(book, page, record), uses_line(book, words)]
    head, *end = [new_markdown_cell(text) for text in around]
    shown = [head, *at_a_glance(page, cells, record), *with_made_lines(page, body, record), *end]
    notebook.cells = [cells[0], *[cell for cell in shown if cell.source or cell.cell_type == 'code']]
    return notebook


def title_of(page):
    "The title and the quote of a notebook or a Markdown file."
    text = (NOTEBOOKS / page).read_text(encoding='utf-8')
    if page.suffix == '.ipynb':
        text = read(NOTEBOOKS / page, NO_CONVERT).cells[0].source
    title = re.search(r'^# (.*)$', text, re.MULTILINE)
    quote = re.search(r'^> (.*)$', text, re.MULTILINE)
    return title[1] if title else page.stem, quote[1] if quote else ''


def toctree(caption, entries):
    "A part of the table of contents; '' for a part without pages."
    options = [':hidden:', *([f':caption: {caption}'] if caption else []), '']
    return '\n'.join(['```{toctree}', *options, *entries, '```']) if entries else ''


def contents(book):
    "The table of contents, as Markdown below the home page."
    names = list(map(name_of, book.pages))
    trees = [toctree('Tutorials', [name for name in names if name.startswith('tutorials/')])]
    for part in PARTS:
        for title, chapters in groups_of(part).items():
            trees.append(toctree(f'{part}: {title}', [name for name in chapters if name in names]))
    others = [name for name in names if '/' not in name and name != 'index']
    trees.append(toctree('Results and reference', ['experiments/index', 'api/index', *others]))
    return '\n\n'.join(filter(None, trees))


def cell_text(text):
    "Words as they may stand in a cell of a table: the bar in p(d | N) is no border."
    return text.replace('|', r'\|')


def experiment_pages(book):
    "The experiments in the order of workflow/experiments.yaml, which is that of the methods; others after them."
    listed = yaml.safe_load((ROOT / 'workflow/experiments.yaml').read_text(encoding='utf-8'))
    order = {name: place for place, name in enumerate(listed)}
    pages = [page for page in book.pages if page.parts[0] == 'experiments']
    return sorted(pages, key=lambda page: order.get(page.stem, len(order)))


def experiments_page(book):
    "The list of experiments, and which run each page shows."
    pages = experiment_pages(book)
    lines = ['# Experiments', '> Every table and figure, with the run that made it.']
    rows = ['| experiment | what it asks | run shown |', '|---|---|---|']
    for page in pages:
        title, quote = title_of(page)
        record = committed_record(page.stem)
        shown = (
            f'{record["profile"]}, {record["started"][:10]}, {duration(record["seconds"])}'
            if record
            else 'none yet'
        )
        rows.append(f'| [{cell_text(title)}]({page.name}) | {cell_text(quote)} | {shown} |')
    tree = toctree('', [page.stem for page in pages])
    return '\n\n'.join([*lines, '\n'.join(rows), tree]) + '\n'


def player():
    "The page that solves a cube without a server, within the home page, where `make solve-page` has built it."
    page = ROOT / '_solve/index.html'
    if not page.exists():
        return '*The player is not in this build: `make solve-page` makes it, with Node.js and npm.*'
    about = re.search('<footer>(.*?)<a', page.read_text(encoding='utf-8'), re.DOTALL)[1].strip()
    frame = '<iframe class="player" src="solve/index.html" title="A cube to turn and to solve"></iframe>'
    return f'{frame}\n<p class="where">{about} <a href="solve/index.html">As a page of its own</a></p>'


def write_book(folder):
    "Write the whole source of the site."
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    book = Book(find_pages(), read_library())
    for page in book.pages:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == '.md':
            text = (NOTEBOOKS / page).read_text(encoding='utf-8')
            (folder / page).write_text(Words(book, page, '', {}).link(text), encoding='utf-8')
            continue
        notebook = convert(book, page)
        if page.stem == 'index' and len(page.parts) == 1:
            notebook.cells.insert(1, new_markdown_cell(player()))
            notebook.cells.append(new_markdown_cell(contents(book)))
        write(notebook, folder / page)
    shutil.copytree(NOTEBOOKS / 'images', folder / 'images')
    (folder / 'experiments/index.md').write_text(experiments_page(book), encoding='utf-8')
    write_reference(book.modules, folder / 'api')


if __name__ == '__main__':
    write_book(Path(sys.argv[1]))
