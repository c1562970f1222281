"""Golden records of the pruning methods, matched wherever the specification says so."""

import numpy as np
import pytest
from tests.golden_files import CASES, golden_votes, read

import quorate
from quorate import pruning
from quorate._votes import totals
from quorate.pruning._evolution import walk_around
from quorate.pruning._running import running_vote

METHODS = (
    *("ES", "KP", "OO", "RE", "CM", "MDM", "MRMR", "MRMC", "DiscEP", "GMA", "LCS"),
    *("KL", "OEP", "DREP", "EPIC", "UMEP", "MDEP"),
)


def runs_of(method, record):
    runs = [run for run in record["pruning"] if run["method"] == method]
    assert runs
    return runs


def both(record):
    """Yield the votes of a record, and the same votes under a mask that hides none."""
    plain = golden_votes(record)
    yield plain
    yield golden_votes(record, valid=np.ones(plain.codes.shape, dtype=bool))


@pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", ["EPBD", "FTAD"])
def test_sample_driven(case, method):
    record = read(f"spec_{case}")
    runs = runs_of(method, record)
    for votes in both(record):
        for run in runs:
            params = run["params"]
            options = params["k"], params["lambda"], params["stuck"]
            if method == "EPBD":
                pruner = pruning.EPBD(*options)
            else:
                pruner = pruning.FTAD(params["measure"], *options)
            pruner.fit(votes)
            if run["order"]:
                assert pruner.order_.tolist() == run["order"], params
            else:  # nothing was picked: the most accurate member stands in
                assert pruner.order_.tolist() == [int(votes.accuracies.argmax())]
            assert pruner.trace_samples_.tolist() == run["trace_instance"]
            margins = run["trace_margin"]
            np.testing.assert_allclose(pruner.trace_margins_, margins, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_recommended_baselines(case, method):
    record = read(f"spec_baselines_{case}")
    runs = runs_of(method, record)
    for votes in both(record):
        for run in runs:
            params = dict(run["params"])
            params.pop("distributions", None)
            keep = params.pop("k", None)
            if method in ("EPIC", "UMEP", "MDEP"):
                keep = 1.0
            pruner = pruning.METHODS[method.lower()](keep=keep, **params).fit(votes)
            assert pruner.order_.tolist() == run["order"], run["params"]
            if "score" in run.get("aux", {}):
                scores = run["aux"]["score"]
                np.testing.assert_allclose(pruner.scores_, scores, atol=1e-9)


def test_all_recommended_baselines_are_covered():
    found = {run["method"] for case in CASES
             for run in read(f"spec_baselines_{case}")["pruning"]}  # fmt: skip
    assert found == set(METHODS)


def out_of_bag(record):
    valid = np.ones(np.shape(record["votes"]), dtype=bool)
    rows = record["tsp_inputs"]["bootstrap_indices"]
    for row, drawn in zip(valid, rows, strict=True):
        row[drawn] = False
        if not row.any():
            row[:] = True
    return golden_votes(record, valid=valid)


AUTHORS = {
    "ES": lambda p: pruning.EarlyStopping(p["k"]),
    "RE": lambda p: pruning.ReducedError(p["k"], ties="lowest"),
    "OEP": lambda p: pruning.OrderedError(ties="lowest"),
    "mRMR_EP": lambda p: pruning.MRMR(p["k"], mi="bits"),
    "KL": lambda p: pruning.KLDivergence(p["k"], symmetric=False),
    "TSP_AP": lambda p: pruning.TwoStageAccuracy(None, ta=p["ta"]),
    "TSP_DP": lambda p: pruning.TwoStageDistance(None, td=p["td"]),
    "TSP_AP_DP": lambda p: pruning.TwoStageDistance(None, td=p["td"], ta=p["ta"]),
    "TSP_DP_AP": lambda p: pruning.TwoStageDistance(
        None, td=p["td"], ta=p["ta"], first="distance"
    ),
}


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", AUTHORS)
def test_authors_exactly(case, method):
    record = read(f"authors_{case}")
    runs = runs_of(method, record)
    for run in runs:
        pruner = AUTHORS[method](run["params"])
        if method == "TSP_AP":
            pruner.fit(out_of_bag(record))
        elif method.startswith("TSP"):
            inputs = record["tsp_inputs"]
            pruner.fit(out_of_bag(record), inputs["X_train"], queries=inputs["X_query"])
        else:
            pruner.fit(golden_votes(record))
        assert pruner.order_.tolist() == run["order"], run["params"]
        if method == "TSP_DP":
            np.testing.assert_allclose(pruner.scores_, run["aux"]["distance"])
        if method == "TSP_AP":
            np.testing.assert_allclose(pruner.scores_, run["aux"]["oob_accuracy"])


@pytest.mark.parametrize("case", CASES)
def test_authors_orientation_up_to_ties(case):
    record = read(f"authors_{case}")
    (run,) = runs_of("OO", record)
    pruner = pruning.OrientationOrdering().fit(golden_votes(record))
    if run["repeatable"]:
        assert sorted(pruner.order_) == run["selected"]
        angle = run["aux"]["angle_ref_diagonal"]
        assert pruner.angle_ == pytest.approx(angle, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_authors_mrmr_up_to_exact_ties(case):
    record = read(f"authors_{case}")
    votes = golden_votes(record)
    agree, _ = totals.agreement(votes)
    right, _ = totals.member_counts(votes)
    for run in runs_of("MRMR", record):
        picked = [run["order"][0]]
        assert right[picked[0]] == right.max()
        for member in run["order"][1:]:
            scores = right * len(picked) - agree[picked].sum(axis=0)
            outside = [t for t in range(votes.n_members) if t not in picked]
            assert scores[member] == scores[outside].max()
            picked.append(member)


@pytest.mark.parametrize("case", CASES)
def test_authors_complementarity_counts(case):
    record = read(f"authors_{case}")
    votes = golden_votes(record)
    for run in runs_of("CM", record):
        ballot = running_vote(votes, "lowest")
        ballot.flip(run["order"][0])
        counts = run["aux"]["count_taken"], run["aux"]["count_best"]
        for member, taken, best in zip(run["order"][1:], *counts, strict=True):
            rescued = ballot.rescued() / ballot.scale
            assert rescued[member] == taken == best
            assert rescued[~ballot.inside].max() == best
            ballot.flip(member)


@pytest.mark.parametrize("case", CASES)
def test_walk_around(case):
    record = read(f"authors_{case}")
    votes = golden_votes(record)
    for run in record["pep_vds"]:
        ballot = running_vote(votes, "lowest").become(np.flatnonzero(run["start"]))
        empty = ballot.scale * np.count_nonzero(votes.y != 0)
        steps = list(walk_around(ballot, empty))
        assert [member for member, _ in steps] == run["flip_order"]
        errors = [error / (ballot.scale * votes.n_samples) for _, error in steps]
        np.testing.assert_allclose(errors, run["errors_after_each_flip"])


@pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
def test_identities_the_specification_found():
    constant = ("QStat", "Corre", "KStat", "Diffi")
    for case in CASES:
        votes = golden_votes(read(f"spec_{case}"))
        orders = {
            m.paper_name: pruning.FTAD(name, keep=0.5).fit(votes).order_.tolist()
            for name, m in quorate.measures().items()
        }
        assert len({tuple(orders[name]) for name in constant}) == 1
        assert orders["KWVar"] == orders["Inter"]
        assert orders["Disag"] == orders["EntSK"]
