"""Tables among the outputs of a page: columns of words are marked, so that site.css wraps them and the others stay on a line."""

import re

from bs4 import BeautifulSoup

TABLE = re.compile(r'<table.*?</table>', re.DOTALL)
LONG = 32  # characters of a cell that needs room to wrap
# letters that a number may have: 1e-05, nan, 0.5 (0.4 to 0.6)
IN_NUMBERS = re.compile(r'(?<=\d)e(?=[-+]?\d)|\b(?:nan|inf|None|to)\b', re.IGNORECASE)


def is_words(text):
    "Whether a cell of a table holds words, or more numbers than fit on a line."
    return len(text) > LONG or re.search(r'[^\W\d_]', IN_NUMBERS.sub('', text)) is not None


def cells_of(row):
    "The cells of a row, the last one first: the first ones of a row are missing where a heading spans rows."
    return row.find_all(['td', 'th'], recursive=False)[::-1]


def mark(cell, *names):
    "Add classes to a cell."
    cell['class'] = [*cell.get('class', []), *names]


def mark_table(html):
    "A table with its columns of words marked `words`, and `long` where a cell of them is long."
    table = BeautifulSoup(html, 'html.parser').table
    body = [cells_of(row) for row in table.select('tbody tr')]
    heads = [cells_of(row) for row in table.select('thead tr') if not row.select('[colspan]')]
    for place in range(max(map(len, body), default=0)):
        cells = [row[place] for row in body if len(row) > place]
        texts = [cell.get_text(' ', strip=True) for cell in cells]
        if not any(map(is_words, texts)):
            continue
        names = ['words', 'long'] if max(map(len, texts)) > LONG else ['words']
        for cell in cells + [row[place] for row in heads if len(row) > place]:
            mark(cell, *names)
    return str(table)


def mark_words(notebook):
    "Mark the columns of words in the tables that the cells of a notebook show."
    for cell in notebook.cells:
        for output in cell.get('outputs', []):
            html = output.get('data', {}).get('text/html')
            if html:
                html = html if isinstance(html, str) else ''.join(html)
                output['data']['text/html'] = TABLE.sub(lambda found: mark_table(found[0]), html)
