"""The site: `make docs` builds it into out/docs."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import modurob  # noqa: E402
from scripts import api_pages  # noqa: E402

project = "modurob"
author = "the modurob authors"
version = release = modurob.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["schemas"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 4
default_role = "code"
autodoc_typehints = "none"  # shapes and units are in the words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
html_theme = "furo"
html_title = f"modurob {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "../src/modurob/studio/static/icon.svg"
html_logo = "../src/modurob/studio/static/icon.svg"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e69", "color-brand-content": "#0b6e69"},
    "dark_css_variables": {"color-brand-primary": "#5ad1c6", "color-brand-content": "#5ad1c6"},
}


def _docstring(app, what, name, obj, options, lines):
    lines[:] = api_pages.as_rst(lines)


def setup(app):
    """Pages of the reference are written anew before the others are read."""
    api_pages.write(HERE / "api")
    app.connect("autodoc-process-docstring", _docstring)
