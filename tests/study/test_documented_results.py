"""What the tables of the documentation must say, whatever was measured."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from quorate.stats import nemenyi
from quorate.study import PRESETS, make_preset

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FTAD = ("ftad-bagging-nb", "ftad-bagging-knn", "ftad-adaboost-svm")
TABLES = [name for name in PRESETS if name.startswith("paper-table-")]
# Those have tables of their own, and so has the page of the selectors.
PAPERS = [name for name in PRESETS if name not in (*TABLES, "selectors")]
CONSTANT = ("QStat", "Corre", "KStat", "Diffi")

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="no documentation here")


def rows_of(name):
    with (RESULTS / name).open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FTAD)
def test_four_measures_choose_the_same_members(name):
    """On one sample they are constants, so FTAD cannot tell them apart."""
    rows = rows_of(f"{name}-data.csv")
    for row in rows:
        assert len({row[measure] for measure in CONSTANT}) == 1, row["data set"]
    others = set(rows[0]) - {"data set", *CONSTANT}
    assert all(any(row[o] != row["QStat"] for row in rows) for o in others)
    if "bagging" in name:  # so do two more
        assert all(row["KWVar"] == row["Inter"] for row in rows)


@pytest.mark.parametrize("name", PAPERS)
def test_every_preset_is_there_with_every_method(name):
    plan = make_preset(name)
    methods = {method.name for method in plan.methods}
    assert {row["method"] for row in rows_of(f"{name}-methods.csv")} == methods
    table = rows_of(f"{name}-data.csv")
    assert len(table) == 21 * len(plan.ensembles) + 2
    assert set(table[0]) == {"data set", *methods}
    ranks = [float(row["rank"]) for row in rows_of(f"{name}-methods.csv")]
    assert ranks == sorted(ranks)


def plan_on_all_rows(name, folder):
    """Return a plan of the paper's tables on a folder that has all its data sets."""
    for file in ("paper-rows.csv", "paper-measures.csv"):
        for row in rows_of(file):
            data = row["data set"].removesuffix(".csv.gz")
            if data:
                (folder / f"{data}.csv.gz").touch()
    return make_preset(name, data_dir=folder)


@pytest.mark.parametrize(
    ("name", "table"), [("paper-table-2", "II"), ("paper-table-3", "III")]
)
def test_learners_of_the_papers_tables_are_the_likeliest(name, table, tmp_path):
    data_set = {
        row["paper's name"]: row["data set"] for row in rows_of("paper-rows.csv")
    }
    likely = set()
    for row in rows_of("paper-learners.csv"):
        if row["table"] == table and not row["learner"].startswith("none fits"):
            for learner in row["learner"].split(" or "):
                likely.add((learner, data_set[row["row"]].removesuffix(".csv.gz")))
    plan = plan_on_all_rows(name, tmp_path)
    trained = {
        (ensemble.learner, data.removesuffix(".csv.gz"))
        for ensemble in plan.ensembles
        for data in ensemble.only
    }
    assert trained == likely


def test_likelihoods_of_learners_add_up_and_name_the_likeliest():
    for row in rows_of("paper-learners.csv"):
        said = row["learner"].removeprefix("none fits; nearest ").split(" or ")
        percent = {name: int(value) for name, value in row.items() if value.isdigit()}
        assert len(percent) == 9
        assert sum(percent.values()) == pytest.approx(100, abs=4)  # rounded
        others = set(percent) - set(said)
        assert min(percent[name] for name in said) >= max(percent[o] for o in others)
        assert (percent[said[0]] >= 90) == (len(said) == 1)


def test_error_is_members_error_less_diversity():
    for row in rows_of("decomposition-parts.csv"):
        for kind, cell in row.items():
            if kind == "data set":
                continue
            error, right = cell.split(" = ")
            members, diversity = right.split(" - ")
            gap = float(members) - float(diversity.strip("()"))
            assert float(error) == pytest.approx(gap, abs=0.011)


PAGE = RESULTS.parent / "results_selectors.rst"
BENCHMARKS = RESULTS.parent / "benchmarks.rst"
TWO_DIGITS = r"(\d\.\d\d)"
LOSSES = ("against ges", "median data set")
SIZES = ("5%", "10%", "20%", "30%")


def text_of(page):
    return " ".join(page.read_text().split())


def verdict(ensemble):
    rows = rows_of(f"selectors-{ensemble}-verdict.csv")
    return {row["method"]: row for row in rows}


def numbers(page, pattern):
    """Return the numbers of the one place where a page says this."""
    found = re.findall(pattern, text_of(page))
    assert len(found) == 1, (pattern, found)
    given = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(number) for number in given]


def over(ensemble, other):
    """Return by how much `auto` is above another method, as the duels have it."""
    (row,) = [
        row
        for row in rows_of("selectors-duels-verdict.csv")
        if (row["ensemble"], row["auto against"]) == (ensemble, other)
    ]
    return float(row["pp"]), row


def test_ranked_methods_and_their_critical_difference():
    """All members together have no rank, and do not count."""
    words = {"eighteen": 18, "nineteen": 19, "twenty": 20, "fourteen": 14}
    said = re.search(
        r"With (\w+) methods that are ranked .*? and (\w+) data sets Nemenyi's "
        rf"critical difference is {TWO_DIGITS} ranks",
        text_of(PAGE),
    )
    n_methods, n_blocks = words[said[1]], words[said[2]]
    for ensemble in ("trees", "forest", "bagging", "stumps", "boosted", "pool"):
        ranked = [row for row in verdict(ensemble).values() if row["rank"]]
        assert len(ranked) == n_methods
        mean = sum(float(row["rank"]) for row in ranked) / n_methods
        assert mean == pytest.approx((n_methods + 1) / 2, abs=0.01)
    table = np.random.default_rng(0).random((n_blocks, n_methods))
    found = nemenyi(table).critical_difference
    assert float(said[3]) == pytest.approx(found, abs=0.005)


@pytest.mark.parametrize(
    ("ensemble", "other", "pattern"),
    [
        ("trees", "random", r"above random subsets \(p = ([\d.]+),"),
        ("stumps", "es", r"on stumps, which is not significant \(p = ([\d.]+)\)"),
        ("boosted", "es", r"0\.8 pp on trees of depth 3 \(p = ([\d.]+)\)"),
        ("stumps", "ges", r"is 0\.4 pp better \(p = ([\d.]+)\)"),
        ("pool", "ges", r"more accuracy \(p = ([\d.]+)\)"),
    ],
)
def test_p_values_of_the_summary_are_corrected(ensemble, other, pattern):
    (said,) = numbers(PAGE, pattern)
    corrected = float(verdict(ensemble)[other]["p (auto)"])
    assert said == pytest.approx(corrected, abs=0.0006)
    assert said > float(over(ensemble, other)[1]["p"])
    summary = text_of(PAGE).split("What to take from it")[1]
    summary = summary.split("The automatic choice against others")[0]
    assert len(re.findall(r"p = [\d.]+", summary)) == 5  # there is no other
    assert "after Holm's correction" in summary


def auto_over(other, *ensembles):
    return [over(ensemble, other)[0] for ensemble in ensembles]


def of_pools(table, columns, *methods):
    rows = {row["method"]: row for row in rows_of(f"selectors-pool-{table}.csv")}
    return [
        abs(float(rows[method][column].rstrip(" %")))
        for method in methods
        for column in columns
    ]


def small_batches():
    """Return the shares of time: the range of trees, and that of slower members."""
    quick, slow = [], []
    for row in rows_of("lazy-small-batches.csv"):
        ratios = [float(row[str(size)]) for size in (1, 2, 5, 10, 20, 50)]
        is_quick = row["ensemble"].startswith(("forest", "bagging", "boosting"))
        (quick if is_quick else slow).extend(ratios)
    return [min(quick), max(quick), min(slow), max(slow)]


@pytest.mark.parametrize(
    ("page", "pattern", "figures", "rounding"),
    [
        (PAGE, rf"is {TWO_DIGITS} pp above random subsets",
         lambda: auto_over("random", "trees"), 0),
        (PAGE, r"better on (\d+) % of the data sets\)",
         lambda: [float(over("trees", "random")[1]["wins"].rstrip(" %"))], 0),
        (PAGE, rf"{TWO_DIGITS} pp that all members together are",
         lambda: [float(verdict("trees")["all members"]["over random"])], 0),
        (PAGE, rf"{TWO_DIGITS} pp above EPBD on out-of-bag .*? {TWO_DIGITS} pp above",
         lambda: [over("trees", other)[0] for other in ("epbd", "epbd, train")], 0),
        (PAGE, r"\(``l1``\) is ([\d.]+) pp above .* and ([\d.]+) pp on trees of depth",
         lambda: auto_over("es", "stumps", "boosted"), 0.05),
        (PAGE, r"It is ([\d.]+) and ([\d.]+) pp above EPBD",
         lambda: auto_over("epbd", "stumps", "boosted"), 0.051),
        (PAGE, rf"with {TWO_DIGITS} pp more accuracy",
         lambda: auto_over("ges", "pool"), 0),
        (PAGE, r"loss (\d+) % below greedy .*? \((\d+) % on the median data set",
         lambda: of_pools("log-loss-verdict", LOSSES, "auto"), 0.5),
        (PAGE, r"at fewer: ([\d.]+), ([\d.]+), ([\d.]+) and ([\d.]+) on average, "
         r"against (\d), (\d), (\d) and (\d)",
         lambda: of_pools("kept-verdict", SIZES, "ges", "auto"), 0),
        (BENCHMARKS, r"Batches of 1 to 50 rows take (\d\.\d{3}) to (\d\.\d{3}) times "
         r"as long .*? and (\d\.\d{3}) to (\d\.\d{3}) times as long for ensembles ",
         small_batches, 0),
    ],
)  # fmt: skip
def test_figures_in_the_text_are_those_of_the_tables(page, pattern, figures, rounding):
    assert numbers(page, pattern) == pytest.approx(figures(), abs=rounding + 1e-9)


def faster(data, model):
    rows = {
        row["model"]: float(row["20000 rows, us"])
        for row in rows_of("serving.csv")
        if row["data"] == data
    }
    return rows["scikit-learn"] / rows[f"quorate {model}"]


@pytest.mark.parametrize(("title", "data"), [
    ("20 000 rows of twonorm", "twonorm, 2 classes"),
    ("20 000 rows of 26 classes", "made, 26 classes"),
])  # fmt: skip
def test_how_much_faster_lazy_voting_is_comes_from_the_table_of_serving(title, data):
    shown = re.search(
        rf"\* - {title}.*?\n((?:     - [\d.]+\n){{3}})", BENCHMARKS.read_text()
    )
    figures = re.findall(r"[\d.]+", shown[1])
    modes = ("exact", "bayes", "calibrated")
    assert figures == [f"{faster(data, mode):.1f}" for mode in modes]


def test_the_time_of_one_row_comes_from_the_table_of_serving():
    modes = {"quorate exact", "quorate bayes", "quorate calibrated"}
    times = [int(row["1 rows, us"]) for row in rows_of("serving.csv")
             if row["model"] in modes]  # fmt: skip
    said = text_of(RESULTS.parent / "faq.rst")
    assert f"one row in {min(times)} to {max(times)} microseconds" in said


def test_blending_is_said_to_be_as_good_as_its_table():
    rows = rows_of("blend.csv")
    assert all("." not in row["data set"] for row in rows)  # no set twice
    columns = ("default", "greedy", "single", "mean", "standard error")
    table = np.array([[float(row[name]) for name in columns] for row in rows])
    assert (table[:, 0] - table[:, 2] <= table[:, 4]).all()
    said = text_of(RESULTS.parent / "guide" / "blending.rst")
    better = int((table[:, 0] < table[:, 1]).sum())
    assert f"on {len(rows)} data sets of at most 1200 samples" in said
    assert f"on {better} of {len(rows)}, and never worse than the best" in said
    means = [f"{mean:.3f}" for mean in table.mean(axis=0)[:4]]
    assert (
        f"default {means[0]}, greedy {means[1]}, best single {means[2]}, plain mean "
        f"{means[3]}."
    ) in said
