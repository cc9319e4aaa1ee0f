"""How Sphinx builds the site from the folder that book.py writes. Nothing in it needs a network, now or when it is read."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from results import settings  # noqa: E402

project = settings()['title']
author = settings()['author']
copyright = settings()['copyright']
version = release = settings()['version']

extensions = ['myst_nb', 'formulas']
html_math_renderer = 'katex'
nb_execution_mode = 'off'
nb_render_markdown_format = 'myst'  # so that links in outputs are followed, too
nb_merge_streams = True
myst_enable_extensions = ['dollarmath', 'amsmath', 'colon_fence', 'attrs_block', 'attrs_inline']
myst_heading_anchors = 3
myst_dmath_double_inline = True
suppress_warnings = ['mystnb.unknown_mime_type']

html_theme = 'furo'
html_title = project
html_baseurl = settings()['lib_url'] + '/'
html_static_path = [str(HERE / 'static')]
html_css_files = ['katex/katex.min.css', 'site.css']
html_js_files = ['katex/katex.min.js', 'formulas.js']
html_favicon = str(HERE / 'static/favicon.svg')
html_show_sourcelink = False
html_copy_source = False
html_theme_options = dict(
    source_repository=settings()['git_url'],
    source_branch=settings()['branch'],
    source_directory='nbs/',
    top_of_page_buttons=[],
)
pygments_style = 'default'  # the colours of Jupyter; tests/book/test_site.py asks whether they stand out
pygments_dark_style = 'github-dark'
maximum_signature_line_length = 88
python_display_short_literal_types = True
python_use_unqualified_type_names = True
add_module_names = False
templates_path = []
