"""How Sphinx builds the site: ``make docs``."""

import inspect

from mcts_envs.version import __version__

project, author = "mcts-envs", "The mcts-envs authors"
copyright, version, release = author, __version__, __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]

myst_heading_anchors = 4
highlight_language = "text"
suppress_warnings = ["myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"mcts-envs {release}"
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}


def signature(app, what, name, thing, options, given, returned):
    """Return the arguments of a class as its ``__init__`` has them: that of agents is called by way of another."""
    if what != "class" or not name.endswith(thing.__name__) or "__init__" not in vars(thing):
        return None
    _, *arguments = inspect.signature(thing.__init__).parameters.values()
    return str(inspect.Signature([each.replace(annotation=each.empty) for each in arguments])), None


def setup(app):
    """Tell Sphinx of it."""
    app.connect("autodoc-process-signature", signature)
