"""Check that every link inside the built site leads somewhere, anchors included.

Run as ``python docs/check_links.py docs/_build/html``. Links to other sites are not
followed: the build must not need the network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag points to and what points at it."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            if value and name in ("id", "name"):
                self.anchors.add(value)


def main(folder: Path) -> int:
    """Print the broken links of the site in a folder; return how many there are."""
    # What lies in _static is templates of the theme, not pages.
    files = [p for p in sorted(folder.rglob("*.html")) if "_static" not in p.parts]
    pages = {p.resolve(): Page(p.read_text()) for p in files}
    n_links = broken = 0
    for path, page in pages.items():
        for link in page.links:
            address, anchor = urldefrag(link)
            if urlsplit(link).scheme or address.startswith("//"):
                continue
            n_links += 1
            local = unquote(urlsplit(address).path)
            target = (path.parent / local).resolve() if local else path
            known = pages.get(target)
            if not target.exists() or (known and unquote(anchor) not in known.anchors):
                print(f"{path.relative_to(folder.resolve())}: {link} leads nowhere")
                broken += 1
    print(f"{len(pages)} pages, {n_links} links inside the site, {broken} broken")
    return broken


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]))))
