"""Photograph the report of examples/plot_06_report.py, for the gallery and the guide.

Run as ``python docs/screenshot.py`` after a change of how reports look, with chromium
and the dependency group "browser"; the picture is committed, the build needs neither.
"""

import runpy
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "_static" / "report.png"
WIDTH, HEIGHT = 1000, 700
COLOURS = 64


def main() -> None:
    """Write the picture."""
    made = runpy.run_path(str(HERE.parent / "examples" / "plot_06_report.py"))["page"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        made.save(path)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(path.as_uri())
        # What to do fills the picture.
        page.locator("h2").first.evaluate(
            "node => node.scrollIntoView({behavior: 'instant'})"
        )
        page.screenshot(path=PICTURE)
        browser.close()
    with Image.open(PICTURE) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
