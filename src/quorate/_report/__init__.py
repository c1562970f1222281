"""One self-contained HTML page about an ensemble, a summary of votes, or a study.

First everything is computed, as frozen sections; then pictures are drawn from them;
then a template puts both on a page. The sections are in the page as JSON too.
"""

from quorate._report._ensemble import make_report, report
from quorate._report._page import Report
from quorate._report._reproduce import Request, Source
from quorate._report._study import study_report
from quorate._report._summary import summary_report

__all__ = [
    "Report",
    "Request",
    "Source",
    "make_report",
    "report",
    "study_report",
    "summary_report",
]
