"""The site: `pip install '.[docs]' && sphinx-build -W docs site`. Its pages are those that a forge shows as they are."""

from memcli import __version__

project = "memcli"
version = release = __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "memcli"
html_show_sphinx = html_copy_source = html_show_copyright = False
html_static_path = ["pictures"]
myst_heading_anchors = 3
exclude_patterns = ["site"]
# Links to files of the repository, such as samples and bench, work on a forge alone.
suppress_warnings = ["myst.xref_missing"]
