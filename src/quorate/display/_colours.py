"""Colours and markers that every picture shares.

Hues follow Okabe and Ito, which people with any colour vision tell apart, shifted where
needed so that lines show on white as well as on black (at least 3 to 1). No picture
relies on hue alone: markers, dashes and hatches say the same in grey print.
Text and lines that belong to no group take the colour of the axes they are drawn on,
so that a picture is readable on light and on dark.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

ALL = "#808080"
"""All members, before pruning."""
KEPT = "#D55E00"
"""Members kept, after pruning."""
GOOD = "#2C87C8"
"""What helps."""
BAD = "#E69F00"
"""What hurts."""
# For groups that mean nothing by themselves; the n-th has the n-th marker too.
HUES = (GOOD, KEPT, "#009E73", "#C46C9C", "#C08400", ALL)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def text_colour(ax: "Axes") -> Any:
    """Return the colour in which the axes write: dark on light, or light on dark."""
    return ax.xaxis.label.get_color()


def fading(hue: str) -> "Colormap":
    """Return colours from almost clear to a full hue, for densities on any ground."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    clear, full = (*to_rgb(hue), 0.15), (*to_rgb(hue), 1.0)
    return LinearSegmentedColormap.from_list("fading", [clear, full], N=32)
