"""Tables, exports and what notebooks show."""

import numpy as np
import pandas as pd
import pytest

from quorate.study import Results, ScoreTable


@pytest.fixture(scope="module")
def results(small_store):
    return Results.read(small_store)


class TestTables:
    def test_marks_and_ranks(self, results):
        table = results.table("epbd")
        assert table.header == ["data set", "Ensem", "random", "epbd"]
        assert [row[0] for row in table.body] == ["wine", "iris"]
        means = results.scores().means
        ranks = [float(cell) for cell in table.footer[1][1:]]
        assert sum(ranks) == pytest.approx(6, abs=0.02)
        for row, best in zip(means, table.best, strict=True):
            np.testing.assert_array_equal(best, row >= row.max() - 1e-12)
        assert table.footer[0][-1] == ""
        assert all(sum(map(int, c.split("/"))) == 2 for c in table.footer[0][1:3])

    def test_formats(self, results):
        markdown = results.table().to_markdown()
        assert markdown.startswith("| data set | Ensem | random | epbd |")
        assert "**" in markdown
        latex = results.table().to_latex()
        assert latex.startswith(r"\begin{tabular}{lrrr}")
        assert r"$\pm$" in latex
        assert r"\textbf{" in latex

    def test_unknown_names(self, results):
        with pytest.raises(ValueError, match="unknown quantity"):
            results.scores("speed")
        for ask in (results.table, results.standings):
            with pytest.raises(ValueError, match="did you mean 'epbd'"):
                ask("epdb")


class TestStandings:
    def test_they_are_the_table_summed_up(self, results):
        standings = results.standings("epbd")
        assert [one.rank for one in standings] == sorted(o.rank for o in standings)
        by_name = {one.method: one for one in standings}
        table = results.table("epbd")
        for at, method in enumerate(table.header[1:], start=1):
            one = by_name[method]
            assert f"{one.rank:.2f}" == table.footer[1][at]
            counts = (one.wins, one.ties, one.losses)
            told = "" if method == "epbd" else "/".join(map(str, counts))
            assert told == table.footer[0][at]
            rows = [row for row in results.rows if row["method"] == method]
            for name in ("accuracy", "kept", "seconds", "bytes"):
                mean = np.mean([row[name] for row in rows])
                assert getattr(one, name) == pytest.approx(mean)

    def test_a_single_method(self, results):
        rows = tuple(row for row in results.rows if row["method"] == "epbd")
        (one,) = Results("x", ("epbd",), rows, ()).standings()
        assert (one.rank, one.wins) == (1, None)


class TestExports:
    def test_all_say_the_same(self, results, tmp_path):
        results.to_csv(tmp_path / "r.csv")
        frame = results.to_frame()
        assert len(frame) == 18
        read = pd.read_csv(tmp_path / "r.csv")
        pd.testing.assert_frame_equal(frame, read, check_dtype=False)

    def test_what_figures_need_is_there(self, results):
        wanted = {"accuracy", "full_accuracy", "kept", "members", "seconds", "bytes",
                  "full_bytes", "agreement"}  # fmt: skip
        for part in ("error", "member_error", "diversity", "risk"):
            wanted |= {part, f"full_{part}"}
        from quorate import measures

        wanted |= {f"{when}_{m}" for m in measures() for when in ("before", "after")}
        assert all(wanted <= set(row) for row in results.rows)

    def test_rows_without_a_column(self, results, tmp_path):
        old = {k: v for k, v in results.rows[0].items() if k != "fit_seconds"}
        both = Results("x", results.methods, (old, results.rows[1]), ())
        both.to_csv(tmp_path / "r.csv")
        for frame in (pd.read_csv(tmp_path / "r.csv"), both.to_frame()):
            assert frame["fit_seconds"].isna().tolist() == [True, False]

    def test_plain_types_and_finite_numbers(self, results):
        row = {**results.rows[0], "risk": float("nan"), "full_risk": float("inf")}
        changed = Results("x", results.methods, (row,), ())
        plain = changed.to_dict()["rows"][0]
        assert plain["risk"] is None
        assert plain["full_risk"] is None
        assert changed.to_dict()["standings"] == []
        assert len(results.to_dict()["standings"]) == 3


def test_notebooks_mark_the_best_and_escape_names(results):
    rows = tuple({**row, "data": f"<{row['data']}>"} for row in results.rows)
    shown = Results("a & b", results.methods, rows, ())._repr_html_()
    assert "&lt;wine&gt;" in shown
    assert "<wine>" not in shown
    assert "a &amp; b" in shown
    assert shown.count(">*") == sum(map(sum, results.table().best)) > 0
    assert "no results yet" in Results("x", ("epbd",), (), ())._repr_html_()
    size = "18 cells, 3 methods, 2 data sets; 0 failed"
    assert repr(results) == f"Results(small: {size})"


# Names in exported tables: shown as they are, never run.


def table(name, method="epbd"):
    return ScoreTable(
        header=["data set", "random", method],
        body=[[name, "90.00±1.00+", "91.00±1.00"]],
        best=[[False, True]],
        footer=[["W/T/L", "1/0/0", ""], ["average rank", "2.00", "1.00"]],
        reference=method,
    )


class TestNames:
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
        ],
    )
    def test_latex(self, name, shown):
        lines = table(name, name).to_latex().splitlines()
        assert lines[2] == rf"data set & random & {shown} \\"
        assert lines[4] == rf"{shown} & 90.00$\pm$1.00+ & \textbf{{91.00$\pm$1.00}} \\"

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
        ],
    )
    def test_markdown(self, name, shown):
        lines = table(name, name).to_markdown().splitlines()
        assert lines[0] == f"| data set | random | {shown} |"
        assert lines[2] == f"| {shown} | 90.00±1.00+ | **91.00±1.00** |"
