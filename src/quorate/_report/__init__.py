"""One self-contained HTML page about an ensemble, or about a study.

First everything is computed as plain numbers and words, then pictures are drawn from
them, then one template puts both on a page. The numbers are in the page as JSON too.
"""

from quorate._report._ensemble import report
from quorate._report._page import Report
from quorate._report._study import study_report

__all__ = ["Report", "report", "study_report"]
