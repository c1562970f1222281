"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# What the converter does not know, in words that it does.
_WORDS = {
    r"\arg\max": r"\mathrm{arg\,max}",
    r"\arg\min": r"\mathrm{arg\,min}",
    r"\operatorname*": r"\mathrm",
    r"\operatorname": r"\mathrm",
    r"\\[1ex]": r"\\",
    r"\_": "_",  # only in words, where it is itself
}


def _mathml(self, node, display):
    latex = node.astext().strip()
    for unknown, known in _WORDS.items():
        latex = latex.replace(unknown, known)
    if display and r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{align*}}{latex}\end{{align*}}"
    try:
        drawn = convert(latex, display="block" if display else "inline")
    except Exception as error:
        LOGGER.warning("cannot draw %r: %s", latex, error, location=node)
        return f"<code>{self.encode(latex)}</code>"
    if "\\" in drawn or "<mi>&</mi>" in drawn:
        LOGGER.warning("a command of %r is not known", latex, location=node)
    return drawn


def _inline(self, node):
    self.body.append(_mathml(self, node, display=False))
    raise nodes.SkipNode


def _block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_mathml(self, node, display=True))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    """Make it the way that formulas are drawn."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
