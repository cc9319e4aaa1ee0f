"""Formulas as KaTeX finds them: static/formulas.js draws them in the page, with the KaTeX that comes with the site."""

from docutils.nodes import SkipNode


def inline(writer, node):
    "A formula within a line."
    writer.body.append(f'<span class="formula">{writer.encode(node.astext())}</span>')
    raise SkipNode


def block(writer, node):
    "A formula on lines of its own."
    writer.body.append(f'<div class="formula">{writer.encode(node.astext())}</div>')
    raise SkipNode


def setup(app):
    "What Sphinx calls."
    app.add_html_math_renderer('katex', (inline, None), (block, None))
    return dict(parallel_read_safe=True, parallel_write_safe=True)
