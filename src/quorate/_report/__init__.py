"""Self-contained HTML reports about an ensemble, a summary of votes, or a study.

All numbers are computed first, as frozen sections; then figures are drawn from them,
and a template renders both. The page also embeds the sections as JSON.
"""

from quorate._report._ensemble import make_report, report
from quorate._report._page import Report
from quorate._report._reproduce import Request, Source
from quorate._report._stored import study_report, summary_report

__all__ = [
    "Report",
    "Request",
    "Source",
    "make_report",
    "report",
    "study_report",
    "summary_report",
]
