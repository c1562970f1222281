"""One self-contained HTML page about an ensemble, a summary of votes, or a study.

First everything is computed as plain numbers and words, then pictures are drawn from
them, then one template puts both on a page. The numbers are in the page as JSON too.
"""

from quorate._report._ensemble import make_report, report
from quorate._report._page import Report, require_extra
from quorate._report._reproduce import Source
from quorate._report._study import study_report
from quorate._report._summary import summary_report

__all__ = [
    "Report",
    "Source",
    "make_report",
    "report",
    "require_extra",
    "study_report",
    "summary_report",
]
