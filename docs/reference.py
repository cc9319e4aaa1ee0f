"""Writes the index of the library: one page a module, with every public name, its parameters, shapes and errors."""

from results import in_repository


def in_cell(text):
    "Words as they may stand in a cell of a table."
    return ' '.join(text.split()).replace('|', r'\|')


def code(text):
    "Code as it may stand in a cell of a table."
    return f'`{in_cell(text)}`' if text else ''


def parameter_table(entry):
    "The parameters of an entry, as a table."
    if not any(parameter.type or parameter.about for parameter in entry.parameters):
        return ''
    rows = ['| | type | default | what it is |', '|---|---|---|---|']
    for p in entry.parameters:
        name = '*returns*' if p.name == 'returns' else code(p.name)
        rows.append(f'| {name} | {code(p.type)} | {code(p.default)} | {in_cell(p.about)} |')
    return '\n'.join(rows)


def error_list(entry):
    "The errors that an entry raises itself."
    if not entry.errors:
        return ''
    lines = []
    for error in entry.errors:
        kind, _, message = error.partition(': ')
        lines.append(f'- `{kind}`' + (f': {code(message)}' if message else ''))
    return '**Raises**\n\n' + '\n'.join(lines)


def where(entry):
    "Links to the cell in the chapter, and to the line of the source."
    source = in_repository(f'{entry.module.replace(".", "/")}.py') + f'#L{entry.line}'
    return f'{{.where}}\n{{ref}}`in its chapter <{entry.cell}>` · [source]({source})'


def base_line(entry):
    "What a class has from others."
    bases = ', '.join(f'{{py:obj}}`{base.split(".")[-1]} <{base}>`' for base in entry.bases)
    return f'And all that it has from {bases}.' if bases else ''


def description(entry):
    "An entry as a directive of Sphinx."
    parts = [entry.about, parameter_table(entry), base_line(entry), error_list(entry), where(entry)]
    fence = '`' * 5
    head = f'{fence}{{py:{entry.kind}}} {entry.name}{entry.signature}\n:module: {entry.module}\n'
    return head + '\n' + '\n\n'.join(filter(None, parts)) + f'\n{fence}'


def ordered(entries):
    "Classes, each with its methods, then functions, then constants."
    owners = list(dict.fromkeys(entry.name.split('.')[0] for entry in entries))

    def place(entry):
        rank = dict(function=1, data=2).get(entry.kind, 0)
        return rank, owners.index(entry.name.split('.')[0]), entry.kind != 'class', entry.line

    return sorted(entries, key=place)


def module_page(module):
    "The page of a module."
    head = [
        f'# {module.name.removeprefix("cube_nb.")}',
        f'```{{py:module}} {module.name}\n```',
        f'> {module.about}' if module.about else '',
        f'{{.where}}\n{{doc}}`The chapter </{module.chapter}>` · [source]({in_repository(module.name.replace(".", "/") + ".py")})',
    ]
    return '\n\n'.join(filter(None, head + [description(entry) for entry in ordered(module.entries)])) + '\n'


def page_name(module):
    "The name of the page of a module, without suffix."
    return module.name.removeprefix('cube_nb.')


def index_page(modules):
    "The index of all modules."
    lines = ['# The library', '> Every public function and class, by module in the order of the book.']
    lines.append('{ref}`All names from A to Z <genindex>`.')
    for module in modules:
        names = [
            f'{{py:obj}}`{e.name} <{e.full_name}>`' for e in module.entries if e.kind in ('function', 'class')
        ]
        lines.append(f'## {{doc}}`{page_name(module)}`\n\n{module.about}\n\n{" · ".join(names)}')
    tree = '\n'.join(['```{toctree}', ':hidden:', '', *map(page_name, modules), '```'])
    return '\n\n'.join([*lines, tree]) + '\n'


def write_reference(modules, folder):
    "Write the pages of the index."
    folder.mkdir(parents=True)
    (folder / 'index.md').write_text(index_page(modules), encoding='utf-8')
    for module in modules:
        (folder / f'{page_name(module)}.md').write_text(module_page(module), encoding='utf-8')
