"""How the documentation is built; `make docs` and `make doctest` call it."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from numpydoc.xref import DEFAULT_LINKS
from sphinx.util import logging

import quorate

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "quorate"
author = "The quorate developers"
copyright = author
version = release = quorate.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "gains",
    "offline_math",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
# Where examples were run sphinx-gallery leaves a table of times, even if told not to;
# it would ask other sites for scripts.
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
default_role = "code"

# API pages. The docstrings say types in words, so signatures stay without them.
autosummary_generate = True
# A class and a function that differ only in case would share a file on some systems.
autosummary_filename_map = {
    "quorate.risk.Endpoints": "quorate.risk.Endpoints-class",
    "quorate.results.Blend": "quorate.results.Blend-class",
    "quorate.results.Report": "quorate.results.Report-class",
}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

# Types in docstrings link to what is on the site. Names of Python and NumPy types stay
# plain text: linking them would need their inventories from the network.
_CLASSES = [n for n in quorate.__all__ if isinstance(getattr(quorate, n), type)]
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | {
    **{name: f"quorate.{name}" for name in _CLASSES},
    "Ensemble": "quorate.ensembles.Ensemble",
    "Kind": "quorate.ensembles.Kind",
    "MarginBound": "quorate.risk.MarginBound",
    "Pruner": "quorate.pruning.Pruner",
    "PrunerInputs": "quorate.pruning.PrunerInputs",
    "PrunerTags": "quorate.pruning.PrunerTags",
    # A word that ends in an underscore would be a link of reST.
    "n_kept_,": r"n_kept\_,",
}

# Doctests run as a script would. Nothing is imported for them: a page shows what it
# needs. Examples of these names run only where the package is installed.
_NEEDS = {"quorate.to_onnx": "skl2onnx"}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib",),
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    # Their page would ask other sites for scripts.
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "quorate"
html_static_path = ["_static"]
html_css_files = ["quorate.css"]
html_js_files = ["mode.js"]
html_favicon = "_static/mark.svg"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
# Pages without siblings have nothing to show beside them.
_ALONE = (
    "index tutorial transcript mathematics results results_selectors reliability faq "
    "benchmarks benchmarks_developers errata references cite results_tables "
    "results_learners results_searches results_everyday paper_figures paper_items"
)
html_sidebars: dict[str, list[str]] = {page: [] for page in _ALONE.split()}
html_theme_options = {
    "logo": {
        "text": "quorate",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _public_names() -> set[str]:
    """Return what `quorate` offers, and what the modules it offers define."""
    names = set()
    for name in quorate.__all__:
        value = getattr(quorate, name)
        if isinstance(value, ModuleType):
            inside = getattr(value, "__all__", [n for n in vars(value) if n[0] != "_"])
            names |= {f"{name}.{n}" for n in inside if n not in quorate.__all__}
        elif not name.startswith("_"):
            names.add(name)
    return names


def _check_api_is_complete(app, env):
    """Warn, which fails the build, about public names without an API page."""
    if app.builder.name != "html":
        return
    known = {entry[0] for entry in env.get_domain("py").get_objects()}
    for name in sorted(_public_names()):
        if f"quorate.{name}" not in known:
            logging.getLogger(__name__).warning(
                "quorate.%s is public; add it to docs/api/index.rst", name
            )


def _skip_examples(app, what, name, obj, options, lines):
    """Mark the examples of a name whose package is not installed."""
    if name in _NEEDS and find_spec(_NEEDS[name]) is None:
        for place, line in enumerate(lines):
            if line.lstrip().startswith(">>> "):
                lines[place] += "  # doctest: +SKIP"


def setup(app):
    app.connect("autodoc-process-docstring", _skip_examples)
    app.connect("env-check-consistency", _check_api_is_complete)
