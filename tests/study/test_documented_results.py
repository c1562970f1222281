"""What the tables of the documentation must say, whatever was measured."""

import csv
import hashlib
import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import quorate
from quorate.pruning import make_pruner
from quorate.stats import average_ranks, nemenyi
from quorate.study import PRESETS, Results, Store, make_preset
from quorate.study._paper import NUMERALS, paper_rows

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FTAD = ("ftad-bagging-nb", "ftad-bagging-knn", "ftad-adaboost-svm")
TABLES = [name for name in PRESETS if name.startswith("paper-table-")]
# Those have tables of their own, and so has the page of the selectors.
PAPERS = [name for name in PRESETS if name.startswith(("pruning", "ftad"))]
CONSTANT = ("QStat", "Corre", "KStat", "Diffi")
PAGE = RESULTS.parent / "results_selectors.rst"
BENCHMARKS = RESULTS.parent / "benchmarks.rst"
FEWER = RESULTS.parent / "fewer_trees.rst"
GUIDE = RESULTS.parent / "guide"
TWO_DIGITS = r"(\d\.\d\d)"
LOSSES = ("against ges", "median data set")
SIZES = ("5%", "10%", "20%", "30%")

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="no documentation here")


def rows_of(name):
    (path,) = RESULTS.glob(f"*/{name}")
    with path.open() as file:
        return list(csv.DictReader(file))


def leading(name, place, column):
    return float(rows_of(name)[place][column].split()[0])


@pytest.mark.parametrize("name", FTAD)
def test_four_measures_choose_the_same_members(name):
    """On one sample they are constants, so FTAD cannot tell them apart."""
    rows = rows_of(f"{name}-data.csv")
    for row in rows:
        assert len({row[measure] for measure in CONSTANT}) == 1, row["data set"]
    others = set(rows[0]) - {"data set", *CONSTANT}
    assert all(any(row[o] != row["QStat"] for row in rows) for o in others)
    pairs = [("KWVar", "Inter")] + [("DoubF", "EPBD")] * (name == "ftad-bagging-nb")
    means = [
        {method: cell.rstrip("+-") for method, cell in row.items()} for row in rows
    ]
    assert all(row[one] == row[other] for row in means[:-2] for one, other in pairs)


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


@pytest.mark.parametrize("table", ["II", "III"])
def test_learners_of_the_papers_tables_are_the_likeliest(table):
    likely = []
    for row in rows_of("paper-learners.csv"):
        if row["table"] == table:
            learners = row["learner"].removeprefix("none fits; nearest ").split(" or ")
            likely.append((row["row"], tuple(learners)))
    rows = [(row.name, row.learners) for row in paper_rows(table) if row.files]
    assert likely == rows


def test_likelihoods_of_learners_add_up_and_name_the_likeliest():
    for row in rows_of("paper-learners.csv"):
        said = row["learner"].removeprefix("none fits; nearest ").split(" or ")
        percent = {name: int(value) for name, value in row.items() if value.isdigit()}
        assert len(percent) == 9
        assert sum(percent.values()) == pytest.approx(100, abs=4)  # rounded
        others = set(percent) - set(said)
        assert min(percent[name] for name in said) >= max(percent[o] for o in others)
        assert (percent[said[0]] >= 90) == (len(said) == 1)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_of_the_paper_is_there_again(name):
    """The tables of the docs are those that quorate comes with."""
    plan = make_preset(name)
    rows = {row["method"]: row for row in rows_of(f"{name}-methods.csv")}
    cells = committed(name)
    assert set(cells[0]) == {"data set", *(method.name for method in plan.methods)}
    for method, row in rows.items():
        for column, label in (
            ("accuracy", method),
            ("contested", f"{method}, contested"),
        ):
            if row[column]:
                mean = np.mean([float(cell[label].split("±")[0]) for cell in cells])
                assert float(row[column]) == pytest.approx(mean, abs=0.006)
    for column in ("rank, printed", "rank, contested", "paper: rank"):
        ranks = [float(row[column]) for row in rows.values() if row[column]]
        assert np.mean(ranks) == pytest.approx((len(ranks) + 1) / 2, abs=0.01)
    for row in rows.values():
        for column in ("W/T/L, printed", "W/T/L, contested"):
            if row[column]:
                assert sum(map(int, row[column].split("/"))) == len(cells)
    for search in ("printed", "contested"):
        text = (RESULTS / f"paper/{name}-{search}.inc").read_text()
        assert text.count('"  paper"') == len(cells)


def test_every_row_of_the_paper_is_listed():
    rows = rows_of("paper-rows.csv")
    found = [(row["table"], row["row"]) for row in rows]
    assert found == [(row.table, row.name) for n in NUMERALS for row in paper_rows(n)]
    assert sum(row["state"] == "run" for row in rows) == 60
    assert "files for 60 of the 66 printed rows" in text_of(RESULTS_PAGE)


def test_the_archive_is_the_one_whose_digest_is_committed():
    archive = RESULTS / "paper" / "archive.zip"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert archive.with_suffix(".sha256").read_text().split()[0] == digest


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    with zipfile.ZipFile(RESULTS / "paper" / "archive.zip") as packed:
        packed.extractall(folder)
    return folder


def test_ranks_if_rows_with_two_learners_count_once(archive):
    """The mean of the ranks of their two lines; and what Nemenyi's test says."""
    lines, ranks = [], []
    for number, table, place in (("2", "II", 3), ("3", "III", 2)):
        results = Results.read(archive / f"paper-table-{number}.sqlite")
        learner = {one.name: one.learner for one in results.plan.ensembles}
        scores = results.searches["contested"].scores()
        rows = {}
        for block, means in zip(scores.blocks, scores.means, strict=True):
            data, _, ensemble = block.partition(", ")
            (row,) = (
                at
                for at, row in enumerate(paper_rows(table))
                if row.find([data]) and learner[ensemble] in row.learners
            )
            rows.setdefault(row, []).append(average_ranks([means] * 2).average)
        once = np.mean([np.mean(two, axis=0) for two in rows.values()], axis=0)
        found = dict(zip(scores.methods, once, strict=True))
        assert sorted(found, key=found.get)[place - 1] == "EPBD"
        lines += [scores.n_blocks, len(rows)]
        ranks.append(float(f"{found['EPBD']:.2f}"))
        printed = results.searches["as printed"].scores()
        whole = dict(zip(printed.methods, average_ranks(printed).average, strict=True))
        gap = nemenyi(printed).critical_difference
        assert all(0 < whole["EPBD"] - whole[m] < gap for m in ("SEP", "PEP", "OO"))
    assert numbers(RESULTS_PAGE, r"(\d+) lines for the (\d+) rows of Table II, (\d+) "
                   r"for (\d+) of Table III") == lines  # fmt: skip
    assert numbers(RESULTS_PAGE, rf"Counted once, the contested search has ranks "
                   rf"{TWO_DIGITS}, third on bagging, and {TWO_DIGITS}, second on "
                   r"AdaBoost") == ranks  # fmt: skip
    assert numbers(TABLES_PAGE, rf"EPBD has rank {TWO_DIGITS}, third") == ranks[:1]
    assert numbers(TABLES_PAGE, rf"EPBD has rank {TWO_DIGITS}, second") == ranks[1:]
    assert numbers(TABLES_PAGE, r"(\d+) lines for (\d+) rows\. If") == lines[:2]
    assert numbers(TABLES_PAGE, r"(\d+) lines stand for (\d+) rows") == lines[2:]


def test_double_fault_and_epbd_nearly_always_choose_alike(archive):
    alike = []
    for table in "45":
        with Store(archive / f"paper-table-{table}.sqlite", read_only=True) as store:
            packed = [np.load(io.BytesIO(fit["votes"])) for fit in store.fits()]
        fits = [quorate.Votes(fit["chosen_on"], fit["chosen_on_y"]) for fit in packed]
        fault = make_pruner(
            "ftad", measure="double_fault", lambda_="proposed", keep=0.3
        )
        own = make_pruner("epbd", keep=0.3)
        kept = [[set(pruner.fit(votes).order_) for pruner in (fault, own)]
                for votes in fits]  # fmt: skip
        alike.append(sum(one == other for one, other in kept))
    said = numbers(ERRATA, r"alike, in (\d+) and (\d+) of the (\d+) folds")
    assert said == [*alike, len(fits)]


def test_protocols_that_are_the_same_are_counted():
    rows = [tuple(value for name, value in row.items() if name != "lambda")
            for row in rows_of("protocols.csv")]  # fmt: skip
    contested = [row for row in rows if row[1] == "contested"]
    copies = len(contested) - len(set(contested))
    assert 2 * copies == len(contested)
    said = numbers(TABLES_PAGE, r"under (\d+) protocols, (\d+) of them different")
    assert said == [len(rows), len(rows) - copies]


def test_what_is_said_of_card_is_in_the_tables():
    cells = []
    for number, table in (("4", "IV"), ("5", "V")):
        (here,) = (row["Ensem"] for row in committed(f"paper-table-{number}")
                   if row["data set"] == "australian")  # fmt: skip
        (there,) = (row.printed["Ensem"] for row in paper_rows(table)
                    if row.name == "card")  # fmt: skip
        cells += [float(here.split("±")[0]), there[0]]
    percent = r"([\d.]+) %"
    pattern = rf"has {percent} there in Table IV, .*? {percent} is printed, and "
    assert numbers(TABLES_PAGE, rf"{pattern}{percent} in Table V, where {percent}") == (
        cells
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_check_passes_on_the_stores_of_the_archive(name, archive):
    found = Results.read(archive / f"{name}.sqlite").check()
    assert set(found["verdict"]) == {"same"}


def committed(name):
    """Return the cells that quorate comes with."""
    path = Path(quorate.study.__file__).parent / "paper" / f"{name}.csv"
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def best_protocols(part, column, kept):
    return [min(float(row[name]) for row in rows_of("protocols.csv")
                if row["chosen on"] == part and row["kept of 11"] in kept)
            for name in column]  # fmt: skip


RESULTS_PAGE = RESULTS.parent / "results.rst"
TABLES_PAGE = RESULTS.parent / "results_tables.rst"
SEARCHES_PAGE = RESULTS.parent / "results_searches.rst"
LEARNERS_PAGE = RESULTS.parent / "results_learners.rst"
EVERYDAY_PAGE = RESULTS.parent / "results_everyday.rst"
ERRATA = RESULTS.parent / "errata.rst"
WHICH = RESULTS.parent / "guide" / "which_method.rst"


def epbd(column, tables=("2", "3"), method="EPBD"):
    """Return a column of EPBD from the tables of methods, as positive numbers."""
    found = []
    for table in tables:
        rows = {
            row["method"]: row for row in rows_of(f"paper-table-{table}-methods.csv")
        }
        found.append(abs(float(rows[method][column])))
    return found


def paper_gain():
    pairs = zip(epbd("paper: accuracy"), epbd("paper: accuracy", method="Ensem"),
                strict=True)  # fmt: skip
    return [ours - whole for ours, whole in pairs]


def searches(ensemble, *columns):
    (row,) = (row for row in rows_of("searches.csv") if row["ensemble"] == ensemble)
    return [float(row[column].split(" %")[0]) for column in columns]


TWO = rf"{TWO_DIGITS} and {TWO_DIGITS}"
THREE = r"([\d.]+), ([\d.]+) and ([\d.]+)"
FTAD_TABLES = ("4", "5", "6")


def everyday(study, *methods, column="accuracy"):
    """Return figures of methods on everyday learners."""
    by_method = {row["method"]: row for row in rows_of(f"{study}-methods.csv")}
    return [float(by_method[one][column].split("/")[-1]) for one in methods]


OF_EPBD = [
    (EVERYDAY_PAGE, r"random subset: ([\d.]+) % against ([\d.]+) %",
     lambda: everyday("pruning-bagging", "EPBD", "random")),
    (EVERYDAY_PAGE, r"closest to the ([\d.]+) % of the whole .*? MRMR \(([\d.]+) %\) "
     r"and the first members \(([\d.]+) %\)",
     lambda: everyday("pruning-bagging", "Ensem", "MRMR", "ES")),
    (EVERYDAY_PAGE, rf"average rank is {TWO_DIGITS} of 17",
     lambda: everyday("pruning-bagging", "EPBD", column="rank")),
    (EVERYDAY_PAGE, r"boosted trees EPBD \(([\d.]+) %\) .*? \(([\d.]+) %\) and MRMR "
     r"\(([\d.]+) %\)",
     lambda: everyday("pruning-adaboost", "EPBD", "ES", "MRMR")),
    (EVERYDAY_PAGE, r"loses to them on (\d+) and (\d+) of the 21",
     lambda: everyday("pruning-adaboost", "ES", "MRMR", column="W/T/L")),
    (EVERYDAY_PAGE, r"machines EPBD \(([\d.]+) %\) is .*? subset \(([\d.]+) %\)",
     lambda: everyday("ftad-adaboost-svm", "EPBD", "random")),
    (RESULTS_PAGE, rf"rank {TWO_DIGITS} of 16 on bagging and {TWO_DIGITS} of 14",
     lambda: epbd("rank, printed")),
    (RESULTS_PAGE, rf"It is {TWO} percentage points less accurate",
     lambda: epbd("change")),
    (RESULTS_PAGE, rf"EPBD gains {TWO} points over the whole ensemble",
     lambda: epbd("change, contested")),
    (RESULTS_PAGE, rf"where the paper gains {TWO} on the same", paper_gain),
    (RESULTS_PAGE, rf"rank is {TWO_DIGITS} of 16, fourth on bagging, and "
     rf"{TWO_DIGITS} of 14, second on AdaBoost",
     lambda: epbd("rank, contested")),
    (RESULTS_PAGE, rf"ranks on these rows are {TWO}", lambda: epbd("paper: rank")),
    (RESULTS_PAGE, rf"best ranks on bagging, {TWO}, and OO on AdaBoost",
     lambda: [*epbd("rank, printed", "2", "SEP"), *epbd("rank, printed", "2", "PEP")]),
    (SEARCHES_PAGE, r"sets and learners it is (1\.\d\d) points better",
     lambda: searches("all", "contested - printed")),
    (TABLES_PAGE, rf"EPBD in Tables IV to VI are {THREE}",
     lambda: epbd("paper: rank", FTAD_TABLES)),
    (TABLES_PAGE, rf"the printed search has {THREE}",
     lambda: epbd("rank, printed", FTAD_TABLES)),
    (TABLES_PAGE, rf"the contested one {THREE}\.",
     lambda: epbd("rank, contested", FTAD_TABLES)),
    (TABLES_PAGE, rf"rank is {TWO_DIGITS} or worse on bagging and {TWO_DIGITS} or",
     lambda: best_protocols("training part", ("rank in II", "rank in III"), "1234579")),
    (TABLES_PAGE, rf"better learners it is {TWO} at best",
     lambda: best_protocols("training part", ("best learner, II", "best learner, III"),
                            "1234579")),
    (TABLES_PAGE, rf"no single seed is below {TWO};",
     lambda: best_protocols("training part", ("lowest, II", "lowest, III"), "1234579")),
    (TABLES_PAGE, r"none does: ([\d.]+) is the best",
     lambda: best_protocols("test part", ("best learner, III",), "1234579")),
    (SEARCHES_PAGE, rf"one on bagging \({TWO} points\)",
     lambda: [*searches("all of bagging", "contested - printed"),
              *searches("all of bagging, out of bag", "contested - printed")]),
    (SEARCHES_PAGE, r"on AdaBoost \(([\d.]+) points\), and wins (\d+) % of",
     lambda: [*searches("all of adaboost", "contested - printed"),
              *searches("all", "wins over printed")]),
    (SEARCHES_PAGE, r"the better one by ([\d.]+) points \(p = ([\d.]+)\)",
     lambda: searches("all", "contested - nearest", "p (nearest)")),
    (SEARCHES_PAGE, r"\(([\d.]+) against ([\d.]+) and ([\d.]+) %\)",
     lambda: searches("all of adaboost", "es", "contested", "printed")),
    (WHICH, r"learners: ([\d.]+) points with bagged linear models, ([\d.]+) and "
     r"([\d.]+) with boosted trees and naive Bayes",
     lambda: [gain for name in ("bagging of sgd, 21, train", "adaboost of tree, 21",
                                "adaboost of naive_bayes, 21")
              for gain in searches(name, "contested - printed")]),
    (WHICH, r"no clear difference \(p = ([\d.]+) on out-of-bag",
     lambda: searches("bagging of tree, 21, oob", "p (printed)")),
    (WHICH, r"in (\d+) % of the cases that are no ties",
     lambda: searches("all", "wins over printed")),
]  # fmt: skip


def test_rows_that_are_decided_are_counted():
    words = {1: "one", 3: "three", 8: "eight", 11: "eleven", 14: "fourteen"}
    said = [row["learner"] for row in rows_of("paper-learners.csv")]
    decided = [one for one in said if " " not in one]
    counts = [
        len(said),
        decided.count("svm"),
        sum(one != "svm" for one in decided),
        sum(" or " in one for one in said),
        sum("none" in one for one in said),
    ]
    total, svm, others, undecided, none = counts
    assert (
        f"of the {total} rows for which there are data, {words[svm]} fit support "
        f"vector machines on unscaled features and hardly anything else that was "
        f"tried, {words[others]} fit another learner, {words[undecided]} remain "
        f"undecided, and {words[none]} fits none"
    ) in text_of(ERRATA)
    assert f"{words[svm].capitalize()} of the {total} rows" in text_of(RESULTS_PAGE)
    page = text_of(LEARNERS_PAGE)
    assert (
        f"{words[len(decided)].capitalize()} rows are decided, {words[svm]} of" in page
    )
    assert f"{words[undecided].capitalize()} are undecided" in page
    assert decided.count("tree") == 1


def test_which_columns_of_ftad_coincide():
    """As counted in the text: double fault and EPBD, by table and search."""
    found = {}
    for table in ("4", "5"):
        rows = committed(f"paper-table-{table}")
        for search in ("", ", contested"):
            pairs = [(row[f"DoubF{search}"], row[f"EPBD{search}"]) for row in rows]
            same = [a == b for a, b in pairs]
            found[table, search] = (sum(same), len(same))
        assert all(row["KWVar"] == row["Inter"] for row in rows)
    (four, n_four), (four_contested, _) = found["4", ""], found["4", ", contested"]
    (five, n_five), (five_contested, _) = found["5", ""], found["5", ", contested"]
    page = text_of(TABLES_PAGE)
    assert (
        f"it does in {four} of {n_four} rows of Table IV with the printed search, and "
        f"in {four_contested} with the contested one. In Table V it does in {five} of "
        f"{n_five} rows with the printed search and in none with the other"
    ) in page
    assert five_contested == 0


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


def chosen_over_first(summary, suffix=""):
    """Return what choosing trees gains in accuracy, for 10, 20 and 40 trees."""
    found = []
    for k in ("10", "20", "40"):
        gain = {}
        for row in rows_of("fewer-trees-data.csv"):
            sign = {f"chosen{suffix}": 1, f"first{suffix}": -1}.get(row["way"], 0)
            if row["k"] == k:
                here = gain.get(row["data"], 0.0) + sign * float(row["accuracy"])
                gain[row["data"]] = here
        found.append(summary(gain))
    return found


def bounds_of(summary, suffix=""):
    found = chosen_over_first(summary, suffix)
    return [min(found), max(found)]


def mean_of(gain):
    return np.mean(list(gain.values()))


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
         r"against (\d), (\d), ([\d.]+) and (\d\.\d)",
         lambda: of_pools("kept-verdict", SIZES, "ges", "auto"), 0),
        (FEWER, r"Chosen trees are ([\d.]+) to ([\d.]+) points more accurate",
         lambda: bounds_of(mean_of), 0.05),
        (FEWER, r"\(madelon\): (\d+), (\d+) and (\d+) % of the gain",
         lambda: chosen_over_first(
             lambda gain: 100 * gain["madelon"] / sum(gain.values())), 0.5),
        (FEWER, r"The median gain is ([\d.]+) to ([\d.]+) points",
         lambda: bounds_of(lambda gain: np.median(list(gain.values()))), 0.05),
        (FEWER, r"After distilling it is ([\d.]+) to ([\d.]+) points",
         lambda: bounds_of(mean_of, " distilled"), 0.05),
        (GUIDE / "teachers.rst", r"The stack is ([\d.]+) points more accurate",
         lambda: [leading("slow-teachers.csv", 0, "accuracy, pp")], 0.05),
        (GUIDE / "distil.rst", r"on some data sets, by up to ([\d.]+) points",
         lambda: [-min(leading("distil-sizes.csv", row, "worst against them, pp")
                       for row in (1, 4, 7, 10))], 0.05),
        (BENCHMARKS, r"Batches of 1 to 50 rows take (\d\.\d{3}) to (\d\.\d{3}) times "
         r"as long .*? and (\d\.\d{3}) to (\d\.\d{3}) times as long for ensembles ",
         small_batches, 0),
    ] + [(*claim, 0) for claim in OF_EPBD],
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
    ("20,000 rows of twonorm", "twonorm, 2 classes"),
    ("20,000 rows of 26 classes", "made, 26 classes"),
])  # fmt: skip
def test_how_much_faster_lazy_voting_is_comes_from_the_table_of_serving(title, data):
    shown = re.search(
        rf"\* - {title}.*?\n((?:     - [\d.]+\n){{3}})", BENCHMARKS.read_text()
    )
    figures = re.findall(r"[\d.]+", shown[1])
    modes = ("exact", "bayes", "calibrated")
    assert figures == [f"{faster(data, mode):.1f}" for mode in modes]


def test_one_row_takes_as_long_as_readme_and_faq_say():
    assert "answers a single row in a few microseconds" in text_of(
        RESULTS.parent / "faq.rst"
    )
    readme = text_of(RESULTS.parents[1] / "README.md")
    assert "a single row takes about a thousandth of the time with" in readme
    assert "labels or probabilities, and a fiftieth to a thirtieth" in readme
    for data in ("twonorm, 2 classes", "made, 26 classes"):
        rows = {row["model"]: row for row in rows_of("serving-table.csv")
                if row["data"] == data}  # fmt: skip
        theirs, ours, plain = (
            [float(rows[model][f"1 row, {of}us"]) for of in ("", "probabilities, ")]
            for model in ("scikit-learn", "quorate.serving",
                          "quorate.serving, NumPy engine")
        )  # fmt: skip
        assert max(ours) < 20
        assert min(np.divide(theirs, ours)) >= 950
        assert 30 <= theirs[0] / plain[0] < 60


def test_compact_files_are_as_small_as_is_aimed_at():
    *rows, mean = rows_of("serving-files.csv")
    assert mean["data"] == "mean"
    assert len(rows) >= 8
    assert max(int(row["classes"]) for row in rows) >= 20
    # The two columns of one name, whole and distilled: the second is kept by csv.
    text = (RESULTS / "serving" / "serving-files.csv").read_text().splitlines()
    whole, distilled = (float(text[-1].split(",")[place]) for place in (4, 6))
    readme = text_of(RESULTS.parents[1] / "README.md")
    assert f"{whole:.0f} times smaller than the pickled forest on average" in readme
    assert f"the result is {distilled:.0f} times smaller" in readme
    page = text_of(RESULTS.parent / "guide" / "serving.rst")
    least, most = (bound(float(row["bytes per node"]) for row in rows[:-1])
                   for bound in (min, max))  # fmt: skip
    assert f"in a file {least:.0f} to {most:.0f}" in page
    assert f"({float(rows[-1]['bytes per node']):.0f} with 26 classes)" in page


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
