"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# What the converter does not know, in words that it does.
_WORDS = {
    r"\arg\max": r"\operatorname{arg\,max}",
    r"\arg\min": r"\operatorname{arg\,min}",
}


def _mathml(self, node, display):
    latex = node.astext()
    for unknown, known in _WORDS.items():
        latex = latex.replace(unknown, known)
    try:
        return convert(latex, display="block" if display else "inline")
    except Exception as error:
        LOGGER.warning("cannot draw %r: %s", latex, error, location=node)
        return f"<code>{self.encode(latex)}</code>"


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
