"""Every display draws, in every format, on light and dark, whatever the names."""

import io

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from tests.display.gallery import every_display, some_results, some_votes

from quorate import display
from quorate.display._base import ALL, GOOD, HUES, KEPT, plain
from quorate.display._files import figure_bytes

PANELS = [f"{x}Display" for x in ("Correlation", "RiskError")]
KINDS = sorted(name for name in display.__all__ if name.endswith("Display"))
HOSTILE = [
    "<script>alert(1)</script>",
    "$x_{",
    "$\\frac{1}{2}$",
    "two\nlines\tand\x00more",
    "long " * 60,
    "שלום עולם",
    "\\",
    "100 % & <b>",
    "_{^}$$",
    "",
    "{}",
    "a" * 300,
]


def svg_with_words(figure):
    """Return an SVG in which text is text, to look for names in it."""
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, format="svg")
    return file.getvalue()


@pytest.fixture(scope="module")
def drawable():
    return every_display()


@pytest.fixture(scope="module")
def hostile():
    return every_display(names=HOSTILE, methods=tuple(HOSTILE[:6]))


def test_every_class_is_tested(drawable):
    assert sorted(drawable) == KINDS


@pytest.mark.parametrize("name", KINDS)
def test_plot_sets_axes_and_figure_and_returns_itself(drawable, name):
    shown = drawable[name]
    assert shown.plot() is shown
    assert shown.ax_.figure is shown.figure_
    assert len(repr(shown)) < 500
    assert name in repr(shown)
    if name in PANELS:
        assert shown.ax_ is shown.axes_[0]


@pytest.mark.parametrize("name", KINDS)
def test_draws_on_what_is_given(drawable, name):
    figure = Figure(figsize=(8, 6), layout="constrained")
    before = plt.get_fignums()
    shown = drawable[name]
    if name in PANELS:
        shown.plot(figure=figure)
        other = Figure(figsize=(14, 6))
        axes = other.subplots(3, 5)
        shown.plot(axes)
        assert shown.figure_ is other
        with pytest.raises(ValueError, match=r"plot\(axes\): .* needed, got 1"):
            shown.plot([axes[0, 0]])
    else:
        ax = figure.subplots()
        shown.plot(ax)
        assert shown.ax_ is ax
        assert shown.figure_ is figure
    assert plt.get_fignums() == before  # no window was opened besides


@pytest.mark.parametrize(
    "style", ["default", pytest.param("dark_background", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name == "CorrelationDisplay" else name
    for name in KINDS
])  # fmt: skip
def test_renders_in_every_format(drawable, name, style):
    with plt.style.context(style):
        figure = drawable[name].plot().figure_
        ink = figure.axes[0].xaxis.label.get_color()
        assert figure_bytes(figure, "png").startswith(b"\x89PNG")
        if style == "default":
            assert figure_bytes(figure, "pdf").startswith(b"%PDF")
            svg = figure_bytes(figure, "svg")
            assert svg.startswith(b"<?xml")
            assert len(svg) < 200_000
    # Text is in the ink of the axes or in a hue, never fixed black or white.
    for ax in figure.axes:
        for text in ax.texts:
            assert to_rgb(text.get_color()) in {to_rgb(ink), to_rgb(KEPT)}


def test_global_settings_stay_as_they_are(drawable):
    before = dict(matplotlib.rcParams)
    for shown in drawable.values():
        shown.plot()
    figure_bytes(shown.figure_, "svg")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_hostile_names_stay_text(hostile, name):
    shown = hostile[name].plot()
    svg = svg_with_words(shown.figure_)
    assert "<script" not in svg
    assert "\x00" not in svg


@pytest.mark.parametrize("name", HOSTILE)
def test_a_plain_name_is_one_short_line(name):
    assert plain("x" * 100 + "17").endswith("17")  # both ends are kept
    assert plain("alpha" + "x" * 100).startswith("alpha")
    assert plain("x" * 28) == "x" * 28
    text = plain(name)
    assert "\n" not in text
    assert 0 < len(text.replace("\\$", "$")) <= 28
    assert matplotlib.cbook.is_math_text(text) is False


def luminance(colour):
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("hue", [ALL, KEPT, GOOD, *HUES])
def test_hues_show_on_white_and_on_black(hue):
    light = luminance(hue)
    assert 1.05 / (light + 0.05) >= 3
    assert (light + 0.05) / 0.05 >= 3


def test_vector_files_of_many_members_stay_small():
    votes = some_votes(500, 60)
    shown = display.KappaErrorDisplay.from_votes(votes, np.arange(100)).plot()
    assert len(figure_bytes(shown.figure_, "svg")) < 300_000


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_numbers_give_the_same_bytes(drawable, kind):
    shown = drawable["KappaErrorDisplay"]
    first, second = (figure_bytes(shown.plot().figure_, kind) for _ in range(2))
    assert first == second


class TestStudyFigures:
    @pytest.mark.slow
    def test_every_figure_in_every_format(self, tmp_path):
        folder = tmp_path / "new" / "figures"
        paths = display.study_figures(some_results(), folder, ["svg", "pdf"])
        names = {path.stem for path in paths}
        assert names == {
            "critical-difference", "accuracy", "time", "space", "size",
            "diversity-correlation", "risk-and-error", "size-and-accuracy",
        }  # fmt: skip
        assert len(paths) == 2 * len(names)
        assert sorted(folder.iterdir()) == sorted(paths)
        assert not plt.get_fignums()
        again = display.study_figures(some_results(), tmp_path / "2", ["svg"])
        for path in again:
            assert path.read_bytes() == (folder / path.name).read_bytes()

    @pytest.mark.slow
    def test_only_what_fits(self, tmp_path):
        results = some_results(("EPBD",), n_data=1)
        names = {p.stem for p in display.study_figures(results, tmp_path, "svg")}
        assert not plt.get_fignums()
        assert names == {
            "accuracy", "time", "space", "size", "risk-and-error",
            "diversity-correlation",
        }  # fmt: skip

    def test_refusals(self, tmp_path):
        with pytest.raises(ValueError, match="use 'png' or 'svg' or 'pdf'"):
            display.study_figures(some_results(), tmp_path, ["gif"])
