"""The site: `pip install '.[docs]' && sphinx-build -W docs site`. Its pages are those that a forge shows as they are."""

from docutils.nodes import document
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

from memcli import __version__

project = "memcli"
version = release = __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "memcli"
html_show_sphinx = html_copy_source = html_show_copyright = False
html_static_path = ["pictures", "site.css"]
html_css_files = ["site.css"]
myst_heading_anchors = 3
exclude_patterns = ["site"]


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _unlink)


def _unlink(_app: Sphinx, page: document) -> None:
    """Leaves the text of links to files of the repository, such as samples, which work on a forge alone."""
    for link in list(page.findall(pending_xref)):
        if link["reftarget"].startswith(("../", "/")):
            link.replace_self(link.children)
