"""``quorate study new``: a plan to start from."""

from pathlib import Path

import click

from quorate.cli._printable import say

_EXAMPLE = """\
# A study: every method on every fold of every ensemble of every data set.
[study]
# known by name, in a folder given with --data, or files: "my.csv"
data = ["breast_cancer", "waveform", "twonorm"]
folds = 5
repeats = 1
prune_on = "oob"  # "train" as in the paper, "oob" or "holdout"
binary = false    # turn many classes into two
seed = 0
# rows = 2000     # at most this many of each data set

# Data sets that need options have tables of their own.
# [[data]]
# path = "customers.csv.gz"  # or .parquet, .arff, or a folder of pictures
# name = "customers"         # what tables call it
# target = "churned"         # the column with the classes
# [[data]]
# name = "openml:credit-g"   # needs --download
# version = 1
# [[data]]
# path = "dogs-vs-cats"      # one folder of pictures per class
# image_size = 32
# pca = 50                   # principal components, or a share of the variance

[[ensemble]]
kind = "bagging"  # or adaboost, random_forest, extra_trees
# tree, naive_bayes, knn, knn_distance, linear, linear_svm, svm or mlp
learner = "tree"
members = 50

[[method]]
method = "epbd"   # see: quorate methods
keep = 0.2        # share of the members, or how many

[[method]]
method = "ftad"
label = "FTAD, kappa"
parameters = { measure = "kappa" }

[[method]]
method = "mdm"
keep = 0.2

[[method]]
method = "random"
keep = 0.2
"""


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default="study.toml")
def new(path: Path) -> None:
    """Write a commented example plan to PATH (study.toml)."""
    from quorate._atomic import atomic_write

    if path.exists():
        raise click.UsageError(f"{path} exists.")
    with atomic_write(path) as file:
        file.write(_EXAMPLE.encode())
    say(f"written to {path}; run it with: quorate study run {path}")
