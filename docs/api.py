"""The public functions and classes of the library, read from its source: signatures, parameters, errors, pages."""

import ast
import re
import tokenize
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PARTS = yaml.safe_load(
    (ROOT / 'nbs/rooms.yml').read_text(encoding='utf-8')
)  # title -> its rooms, and lists of chapters
# folder of chapters -> title
ROOMS = {room: title for part in PARTS.values() for room, title in part.items() if isinstance(title, str)}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# what nobody calls by name: `ast` calls `visit_Name` for each name that it meets
HOOK = re.compile(r'_|visit_([A-Z]|arg$)')
BOUNDS = dict(ge='at least', gt='above', le='at most', lt='below')  # of numbers, as pydantic names them
CELL = re.compile(r'^# %% .*?nbs/(\S+)\.ipynb #(\S+)$')  # written above each exported cell by nbdev


@dataclass
class Parameter:
    "A parameter of a function, a field of a class, or what a function returns."

    name: str  # 'returns' for what is returned
    type: str = ''
    default: str = ''
    about: str = ''  # the comment beside it: shapes, units


@dataclass
class Entry:
    "A public function, class, method or constant."

    name: str  # within the module, such as 'Puzzle.apply'
    module: str  # such as 'cube_nb.cube.puzzle'
    kind: str  # 'function', 'class', 'method', 'property' or 'data', as Sphinx calls them
    line: int  # in the source of the module
    cell: str  # the label of the cell in its chapter
    signature: str = ''
    about: str = ''  # the docstring
    parameters: list = field(default_factory=list)  # of Parameter
    errors: list = field(default_factory=list)  # such as "ValueError: no puzzle {name}"
    bases: list = field(default_factory=list)  # of a class: full names of those in the library

    @property
    def full_name(self):
        return f'{self.module}.{self.name}'


@dataclass
class Module:
    "A module of the library, and the chapter that it is exported from."

    name: str  # such as 'cube_nb.cube.puzzle'
    chapter: str  # its notebook in nbs/, without suffix, such as 'cube/03_puzzle'
    about: str
    entries: list  # of Entry
    needs: set = field(default_factory=set)  # names of modules that it imports from


def comments_of(source):
    "Line number -> the comment that ends it."
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip('# ').strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def cells_of(source):
    "The number of the first line of each exported cell -> its label."
    found = {}
    for number, line in enumerate(source.splitlines(), 1):
        if match := CELL.match(line):
            found[number] = cell_label(*match.groups())
    return found


def cell_label(chapter, cell_id):
    "What a cell is called in links, within the whole site."
    return f'cell-{chapter.replace("/", "-")}-{cell_id}'.lower()


def in_reading_order(chapter):
    "What sorts chapters: the place of their room, then their own."
    room, _, name = chapter.partition('/')
    return [*ROOMS].index(room), name


def joined(comments, lines):
    "The comments of some lines as one."
    return ' '.join(comments[line] for line in lines if line in comments)


def parameters_of(function, comments, skip_first):
    "The parameters of a function with the comments beside them, and what it returns."
    arguments = function.args
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    pairs = list(zip(plain, defaults, strict=True))[1 if skip_first else 0 :]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(star, None) for star in (arguments.vararg, arguments.kwarg) if star]
    # the comment of the last line of the head is about what is returned, unless a parameter stands on that line alone
    head_end = function.body[0].lineno - 1
    found, last = [], function.lineno
    for argument, default in pairs:
        end = (default or argument).end_lineno
        about = joined(comments, range(argument.lineno, end + 1)) if argument.lineno > function.lineno else ''
        annotation = unparsed(plain_type(argument.annotation))
        about = about or help_of(argument.annotation)
        found.append(Parameter(argument.arg, annotation, unparsed(default), about))
        last = max(last, end + 1 if argument.lineno > function.lineno else last)
    returned = Parameter(
        'returns', unparsed(function.returns), '', joined(comments, range(last, head_end + 1))
    )
    return found + ([returned] if returned.type or returned.about else [])


def fields_of(node, comments):
    "The annotated fields of a class."
    fields = [statement for statement in node.body if isinstance(statement, ast.AnnAssign)]
    return [field_of(field, comments) for field in fields if not field.target.id.startswith('_')]


def field_of(statement, comments):
    "A field of a class, with its meaning and range where pydantic's `Field` says them."
    default, about = statement.value, [help_of(statement.annotation)]
    if isinstance(default, ast.Call) and unparsed(default.func) == 'Field':
        about.append(help_of(default))
        default = default.args[0] if default.args else None
    about.append(joined(comments, range(statement.lineno, statement.end_lineno + 1)))
    annotation = unparsed(plain_type(statement.annotation))
    return Parameter(statement.target.id, annotation, unparsed(default), '; '.join(filter(None, about)))


def unparsed(node):
    "The source of a part of a syntax tree; '' for none."
    return '' if node is None else ast.unparse(node)


def errors_of(function):
    "What a function raises itself, with its message."
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            message = ' '.join(words_of(argument) for argument in node.exc.args[:1])
            error = f'{unparsed(node.exc.func)}: {message}' if message else unparsed(node.exc.func)
            if error not in found:
                found.append(error)
    return found


def words_of(node):
    "A message as it stands in the source, without quotes."
    text = unparsed(node)
    match = re.fullmatch(r'f?([\'"])(.*)\1', text, re.DOTALL)
    return match[2] if match else ''


def plain_type(annotation):
    "An annotation without what only the command line reads: `Annotated[int, Option(...)]` becomes `int`."
    annotated = isinstance(annotation, ast.Subscript) and unparsed(annotation.value) == 'Annotated'
    return annotation.slice.elts[0] if annotated else annotation


def help_of(node):
    "What an annotation or a default says to the command line, or to pydantic: the meaning, and the range."
    for call in ast.walk(node or ast.Module([], [])):
        if isinstance(call, ast.Call):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            words = [words_of(given[name]) for name in ('help', 'description') if name in given]
            words += [f'{word} {unparsed(given[name])}' for name, word in BOUNDS.items() if name in given]
            if words:
                return ', '.join(words)
    return ''


def is_property(function):
    "Whether a method is read like a field."
    decorators = ' '.join(map(ast.unparse, function.decorator_list))
    return 'as_prop=True' in decorators or re.search(r'\bproperty\b|cached_property', decorators) is not None


def is_overload(function):
    "Whether a function is only there for type checkers."
    return any(unparsed(decorator).split('.')[-1] == 'overload' for decorator in function.decorator_list)


def patched_class(function):
    "The name of the class that a function is patched into; `None` for a plain function."
    decorated = any(ast.unparse(decorator).startswith('patch') for decorator in function.decorator_list)
    return unparsed(function.args.args[0].annotation) if decorated else None


def module_imported(node, module):
    "The full name of the module of the library that an import of `module` is from; '' for any other."
    if not node.level:
        return node.module if node.module.startswith('cube_nb') else ''
    package = '.'.join(module.split('.')[: -node.level])
    return f'{package}.{node.module}' if node.module else package


def imported_names(tree, module):
    "What a module imports from another one of the library by name -> its full name."
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (source := module_imported(node, module)):
            found |= {alias.asname or alias.name: f'{source}.{alias.name}' for alias in node.names}
    return found


class FullNames(ast.NodeTransformer):
    "Names as they are called everywhere: classes of several modules may be called the same."

    def __init__(self, imported):
        self.imported = imported

    def visit_Name(self, node):
        return ast.Name(self.imported.get(node.id, node.id))


def signature_of(function, skip_first, imported):
    "The signature of a function as one line of Python, with the full names of types."
    head = ast.parse(ast.unparse(function)).body[0]
    full_names = FullNames(imported).visit
    for argument in head.args.posonlyargs + head.args.args + head.args.kwonlyargs:
        annotation = plain_type(argument.annotation)
        argument.annotation = annotation and full_names(annotation)
    head.returns = head.returns and full_names(head.returns)
    if skip_first:
        head.args.args = head.args.args[1:]
    return f'({ast.unparse(head.args)})' + (f' -> {ast.unparse(head.returns)}' if head.returns else '')


class Reader:
    "Reads one module."

    def __init__(self, name, source):
        self.name, self.tree = name, ast.parse(source)
        self.comments, self.cells = comments_of(source), cells_of(source)
        self.imported = imported_names(self.tree, name)
        own = [node.name for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name[0] != '_']
        self.full_names = self.imported | {own_name: f'{name}.{own_name}' for own_name in own}
        self.entries = []

    def add(self, name, kind, node, **fields):
        before = [line for line in self.cells if line <= node.lineno]
        label = self.cells[max(before)] if before else ''
        self.entries.append(Entry(name, self.name, kind, node.lineno, label, **fields))

    def add_function(self, node, owner=None):
        kind = 'function' if owner is None else 'property' if is_property(node) else 'method'
        in_class = owner is not None
        signature = '' if kind == 'property' else signature_of(node, in_class, self.imported)
        self.add(
            f'{owner}.{node.name}' if in_class else node.name,
            kind,
            node,
            signature=signature,
            about=ast.get_docstring(node) or '',
            parameters=parameters_of(node, self.comments, in_class),
            errors=errors_of(node),
        )

    def add_class(self, node):
        inits = [s for s in node.body if isinstance(s, FUNCTIONS) and s.name == '__init__']
        taken = parameters_of(inits[0], self.comments, True) if inits else fields_of(node, self.comments)
        self.add(
            node.name,
            'class',
            node,
            signature=signature_of(inits[0], True, self.imported) if inits else '',
            about=ast.get_docstring(node) or '',
            parameters=taken,
            errors=errors_of(inits[0]) if inits else [],
            bases=[self.full_names[base] for base in map(unparsed, node.bases) if base in self.full_names],
        )
        for statement in node.body:
            if isinstance(statement, FUNCTIONS) and not HOOK.match(statement.name):
                self.add_function(statement, node.name)

    def add_constants(self, node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name) and not name.id.startswith('_'):
                    about = joined(self.comments, [node.lineno]) or help_of(node.value)
                    self.add(name.id, 'data', node, about=about)

    def read(self):
        "The public names of the module."
        for node in self.tree.body:
            if isinstance(node, FUNCTIONS):
                owner = patched_class(node)
                names = [node.name] + ([owner] if owner else [])
                if not is_overload(node) and not any(map(HOOK.match, names)):
                    self.add_function(node, owner)
            elif isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
                self.add_class(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                self.add_constants(node)
        return self.entries


def read_module(path):
    "A module of the library; `None` for one that is not exported from a notebook."
    source = path.read_text(encoding='utf-8')
    cell = re.search(CELL.pattern, source, re.MULTILINE)
    if cell is None:
        return None
    name = '.'.join(path.relative_to(ROOT).with_suffix('').parts)
    tree = ast.parse(source)
    needs = {module_imported(node, name) for node in tree.body if isinstance(node, ast.ImportFrom)}
    return Module(name, cell[1], ast.get_docstring(tree) or '', Reader(name, source).read(), needs)


def read_library():
    "The modules of the library in the order of the book."
    modules = [read_module(path) for path in (ROOT / 'cube_nb').rglob('*.py') if path.name[0] != '_']
    return sorted(filter(None, modules), key=lambda module: in_reading_order(module.chapter))


@cache
def groups_of(part):
    "What a part has: title -> chapters in order. A room is without those that other parts have taken out of it."
    lists = [entry for entries in PARTS.values() for entry in entries.values() if isinstance(entry, list)]
    taken = {chapter for chapters in lists for chapter in chapters}
    groups = {}
    for name, entry in PARTS[part].items():
        own = sorted(path.stem for path in (ROOT / 'nbs' / name).glob('*.ipynb'))
        room = [f'{name}/{stem}' for stem in own if f'{name}/{stem}' not in taken]
        groups |= {name: entry} if isinstance(entry, list) else {entry: room}
    return groups


def part_of(chapter):
    "The place among the parts of the one that a chapter belongs to."
    return [any(chapter in chapters for chapters in groups_of(part).values()) for part in PARTS].index(True)


def read_before(modules):
    """Chapter -> the chapters that it is built on, in order, without those that others of them are built on.

    A part of the book is whole without later ones, so chapters of these are left out."""
    chapter_of = {module.name: module.chapter for module in modules}
    direct = {m.chapter: {chapter_of[name] for name in m.needs if name in chapter_of} for m in modules}

    @cache
    def below(chapter):
        return direct[chapter].union(*map(below, direct[chapter]))

    found = {}
    for chapter, needed in direct.items():
        nearest = needed - set().union(*map(below, needed))
        earlier = [other for other in nearest if part_of(other) <= part_of(chapter)]
        found[chapter] = sorted(earlier, key=in_reading_order)
    return found
