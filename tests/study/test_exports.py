"""Names in exported tables: shown as they are, never run."""

import csv
import io

import pytest

from quorate.study import Table, csv_text


def table(name, method="epbd"):
    return Table(
        header=["data set", "random", method],
        body=[[name, "90.00±1.00+", "91.00±1.00"]],
        best=[[False, True]],
        footer=[["W/T/L", "1/0/0", ""], ["average rank", "2.00", "1.00"]],
        reference=method,
    )


class TestLatex:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
            (r"\write18{rm}", r"\textbackslash{}write18\{rm\}"),
            ("a~b^c", r"a\textasciitilde{}b\textasciicircum{}c"),
            ("50% & $x_1$ #", r"50\% \& \$x\_1\$ \#"),
            (r"end\\", r"end\textbackslash{}\textbackslash{}"),
            ("[1cm]", "{[}1cm]"),
            ("*", "{*}"),
            ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
            ("two\nlines\x1b", "two lines "),
        ],
    )
    def test_names(self, name, shown):
        lines = table(name, name).to_latex().splitlines()
        assert lines[2] == rf"data set & random & {shown} \\"
        assert lines[4] == rf"{shown} & 90.00$\pm$1.00+ & \textbf{{91.00$\pm$1.00}} \\"

    def test_nothing_but_our_own_commands_is_left(self):
        text = table("\\input{x}\\\\^^5cinput{y}", "\\foo").to_latex()
        assert r"\input" not in text
        assert r"\foo" not in text
        assert "^^" not in text


class TestMarkdown:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("a|b", r"a\|b"),
            ("a\\|b", r"a\\\|b"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("&lt;", "&amp;lt;"),
            ("[x](javascript:y)", r"\[x\](javascript:y)"),
            ("**b** `c`", r"\*\*b\*\* \`c\`"),
            ("tsp_ap", "tsp_ap"),  # nothing to Markdown, so left readable
            ("_x_", r"\_x\_"),
            ("two\nlines", "two lines"),
        ],
    )
    def test_names(self, name, shown):
        lines = table(name, name).to_markdown().splitlines()
        assert lines[0] == f"| data set | random | {shown} |"
        assert lines[2] == f"| {shown} | 90.00±1.00+ | **91.00±1.00** |"


class TestCsv:
    @pytest.mark.parametrize(
        "name",
        ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", " =1", '=HYPERLINK("x")', "-"],
    )
    def test_text_is_not_computed(self, name):
        text = csv_text([{"data": name, "accuracy": 0.5}])
        (row,) = csv.DictReader(io.StringIO(text))
        assert row["data"] == f"'{name}"

    def test_numbers_stay_numbers(self):
        rows = [{"data": "a-b=c", "gain": -0.5, "n": -3, "x": "-1.5", "none": None}]
        assert csv_text(rows) == "data,gain,n,x,none\na-b=c,-0.5,-3,-1.5,\n"

    def test_names_of_columns(self):
        assert csv_text([{"=x": 1}]) == "'=x\n1\n"
