"""Reports in a real browser: quiet, readable and usable by everybody."""

from pathlib import Path

import pytest

WIDTHS = (320, 360, 768, 1440)
AUDIT = (Path(__file__).parent / "audit.js").read_text()

# What a focused element must have, and where it is among all elements.
FOCUS = """() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  return {
    place: [...document.querySelectorAll("*")].indexOf(at),
    tag: at.tagName,
    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
  };
}"""

TEXTS = "all => all.map((n) => n.textContent)"
SETTLED = "() => new Promise(f => requestAnimationFrame(() => setTimeout(f, 100)))"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("report", "width", "scheme"),
    [
        *(("plain_report", width, s) for width in WIDTHS for s in ("light", "dark")),
        ("unscored_report", 320, "light"),
        ("unscored_report", 1440, "dark"),
        ("hostile_report", 320, "dark"),
        ("hostile_report", 1440, "light"),
        ("summary_page", 320, "light"),
        ("summary_page", 1440, "dark"),
        ("study_page", 320, "light"),
        ("study_page", 768, "dark"),
        ("study_page", 1440, "dark"),
    ],
)
def test_passes_the_audit_without_asking_for_anything(
    request, visit, report, width, scheme
):
    path, _ = request.getfixturevalue(report)
    seen = visit(path, width, color_scheme=scheme)
    assert seen.page.evaluate(OVERFLOW) <= 0  # folded, as it comes
    unfold(seen.page)
    assert seen.page.evaluate(AUDIT) == []
    assert seen.page.evaluate(OVERFLOW) <= 0
    seen.assert_quiet()


def unfold(page):
    page.locator("details").evaluate_all(
        "all => all.forEach((n) => { n.open = true; })"
    )


def test_the_audit_finds_what_is_wrong(visit, plain_report, tmp_path):
    _, made = plain_report
    broken = (
        made.html.replace('lang="en"', "")
        .replace("<h3>Would more diversity", '<h5 id="short">Would more diversity')
        .replace("--soft: #565d69", "--soft: #b5b5b5")
        .replace('scope="row"', "")
        .replace('class="scroll" role="region"', 'class="scroll"')
        .replace('tabindex="0"', "")
    )
    copy = tmp_path / "broken.html"
    copy.write_text(broken)
    found = {line.split(":")[0] for line in visit(copy, 320).page.evaluate(AUDIT)}
    assert {
        "lang", "heading order", "duplicate id", "contrast", "th scope",
        "scroll region out of reach",
    } <= found  # fmt: skip


@pytest.mark.parametrize("report", ["plain_report", "hostile_report"])
def test_small_tables_are_lists_on_a_phone(request, visit, report):
    path, _ = request.getfixturevalue(report)
    page = visit(path, 360).page
    unfold(page)
    widths = "[n.querySelector('table').id, n.scrollWidth, n.clientWidth]"
    tables = page.locator(".scroll:has(table.stack)")
    found = tables.evaluate_all(f"all => all.map((n) => {widths})")
    assert {"classes", "savings"} <= {name for name, _, _ in found}
    assert [name for name, needs, has in found if needs > has + 1] == []
    before = "cell => getComputedStyle(cell, '::before')"
    row = page.locator("#savings tbody tr").first
    last = row.locator("td").last
    assert last.evaluate(f"{before}.content") == '"change by pruning"'
    # A short label beside a long text is not cut into letters.
    assert last.evaluate(f"{before}.overflowWrap") == "break-word"
    assert page.locator("#savings thead").is_hidden()
    wide = visit(path, 1440).page
    assert wide.locator("#savings thead").is_visible()
    assert row.get_attribute("role") == "row"


def column(page, table, place):
    rows = page.locator(f"#{table} tbody tr:visible")
    return rows.evaluate_all(f"rows => rows.map((row) => row.cells[{place}].innerText)")


def numbers(texts):
    return [float(text.split("\u202f")[0].replace("\u2212", "-")) for text in texts]


def test_tables_sort_by_number_and_by_text(visit, plain_report):
    page = visit(plain_report[0]).page
    page.get_by_role("button", name="Show all 24 rows").click()
    headers = page.locator("#members-table thead th")
    labels = [text.split("\u00a0")[0].strip() for text in headers.all_inner_texts()]
    accuracy, kept, pick = map(labels.index, ("accuracy alone", "kept?", "pick"))

    headers.nth(accuracy).get_by_role("button").click()
    assert headers.nth(accuracy).get_attribute("aria-sort") == "descending"
    found = numbers(column(page, "members-table", accuracy))
    assert found == sorted(found, reverse=True)
    assert len(set(found)) > 5
    headers.nth(accuracy).get_by_role("button").press("Enter")
    assert headers.nth(accuracy).get_attribute("aria-sort") == "ascending"
    assert numbers(column(page, "members-table", accuracy)) == sorted(found)

    headers.nth(kept).get_by_role("button").click()
    assert headers.nth(accuracy).get_attribute("aria-sort") is None
    words = column(page, "members-table", kept)
    assert words == sorted(words)
    assert {"kept", "dropped"} == set(words)

    for _ in range(2):  # what is missing stays below, both ways
        headers.nth(pick).get_by_role("button").click()
        picks = column(page, "members-table", pick)
        n_kept = sum(text != "\u2013" for text in picks)
        assert all(text == "\u2013" for text in picks[n_kept:])
        assert len(set(picks[:n_kept])) == n_kept > 1


def test_tables_filter(visit, plain_report):
    path, made = plain_report
    page = visit(path).page
    box = page.get_by_label("Filter rows by text").first
    rows = page.locator("#members-table tbody tr:visible")
    assert rows.count() == 20
    assert page.get_by_text("20 of 24 rows").is_visible()
    box.fill("KEPT")
    n_kept = made.data["pruning"]["n_kept"]
    assert rows.count() == n_kept
    assert page.get_by_text(f"{n_kept} of 24 rows").is_visible()
    box.fill("kept zebra")
    assert rows.count() == 0
    box.fill("")
    assert rows.count() == 20
    # The first of the order that the table is sorted by; the others on demand.
    kept = page.locator("#members-table thead button", has_text="pick")
    kept.click()
    kept.click()
    assert rows.first.locator("td").nth(1).inner_text() == "1"
    page.get_by_role("button", name="Show all 24 rows").click()
    assert rows.count() == 24
    assert page.locator(".more").count() == 0


def test_focus_is_visible_and_follows_the_page(visit, plain_report):
    page = visit(plain_report[0]).page
    unfold(page)
    places = []
    for _ in range(90):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["tag"] == "BODY":
            break
        assert focus["outline"], focus
        places.append(focus["place"])
    assert len(places) > 40
    assert places == sorted(places)


def test_the_skip_link_leads_to_the_content(visit, plain_report):
    page = visit(plain_report[0]).page
    page.keyboard.press("Tab")
    width = "link => link.getBoundingClientRect().width"
    assert page.locator(".skip").evaluate(width) > 50
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"


def style(page, selector, name):
    return page.locator(selector).first.evaluate(
        "(node, name) => getComputedStyle(node)[name]", name
    )


def test_dark_and_light_differ_and_pictures_follow(visit, plain_report):
    grounds, inks = [], []
    for scheme in ("light", "dark"):
        page = visit(plain_report[0], color_scheme=scheme).page
        grounds.append(style(page, "body", "backgroundColor"))
        inks.append(style(page, ".picture svg text", "fill"))
        assert inks[-1] == style(page, ".picture", "color")
    assert len(set(grounds)) == len(set(inks)) == 2


def test_print_is_light_whole_and_without_controls(visit, plain_report):
    seen = visit(plain_report[0], color_scheme="dark")
    page = seen.page
    page.emulate_media(media="print", color_scheme="dark")
    assert style(page, "body", "backgroundColor") == "rgb(255, 255, 255)"
    assert style(page, "h1", "color") == "rgb(0, 0, 0)"
    assert style(page, ".scroll", "overflow") == "visible"
    assert style(page, ".scroll", "maxHeight") == "none"
    for hidden in ("nav", ".filter", ".skip"):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator("#members-table tbody tr:visible").count() == 24
    assert page.evaluate(AUDIT) == []
    assert page.pdf(format="A4").startswith(b"%PDF")
    seen.assert_quiet()


def test_whole_without_scripts(visit, plain_report):
    seen = visit(plain_report[0], java_script_enabled=False)
    page = seen.page
    assert page.locator("#members-table tbody tr").count() == 24
    assert page.locator("button, input").count() == 0
    assert page.get_by_role("heading", name="What to do").is_visible()
    for step in plain_report[1].data["advice"]:
        assert page.get_by_text(step["title"], exact=True).is_visible()
    for line in plain_report[1].data["commands"]:
        assert page.get_by_text(line["code"], exact=True).is_visible()
    assert page.locator("#savings tbody tr").count() == 5
    why = page.locator("#members-table td.told")
    assert why.count() == 24
    assert why.first.is_visible()
    page.locator("#diversity summary").first.click()  # folds are the browser's own
    assert page.locator("#diversity-table").is_visible()
    seen.assert_quiet()


def test_a_command_is_copied_as_it_stands(visit, plain_report):
    allowed = ["clipboard-read", "clipboard-write"]
    page = visit(plain_report[0], permissions=allowed).page
    for line in plain_report[1].data["commands"]:
        page.get_by_role("button", name=f"Copy: {line['label']}").click()
        page.locator("#spoken", has_text="Copied").wait_for(state="attached")
        assert page.evaluate("navigator.clipboard.readText()") == line["code"]
        page.locator("#spoken", has_text="Copied").evaluate("n => n.textContent = ''")


def test_choosing_a_member_tells_why_it_stays_or_goes(visit, plain_report):
    path, made = plain_report
    seen = visit(path, 360)
    page = seen.page
    rows = {row["member"]: row for row in made.data["members"]}
    told = page.get_by_role("status").filter(has_text="Click a row")
    assert told.is_visible()
    assert page.locator("#members-table .told").first.is_hidden()
    told = page.locator("#members-table-told")
    tried = page.locator("#members-table tbody tr")
    page.get_by_role("button", name="Show all 24 rows").click()
    for place in (0, 23):  # kept ones come first
        row = tried.nth(place)
        name = row.locator("th").inner_text()
        row.locator("td").first.click()
        assert told.inner_text() == f"{name}: {rows[name]['why']}"
        box = told.bounding_box()
        assert 0 <= box["y"] <= 900 - box["height"] + 1  # pixels are rounded
    assert "Dropped: not picked" in told.inner_text()
    button = tried.first.locator("th button")
    button.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    name = tried.nth(1).locator("th").inner_text()
    assert told.inner_text() == f"{name}: {rows[name]['why']}"
    assert "Kept: " in told.inner_text()
    assert page.locator("#members-table [aria-current]").count() == 1
    assert page.locator("#members-table th button[tabindex='0']").count() == 1
    # Filtered and sorted, arrows go along the rows that are there.
    page.get_by_label("Filter rows by text").first.fill("dropped")
    page.locator("#members-table thead button").first.press("Enter")
    shown = page.locator("#members-table tbody tr:visible")
    shown.first.locator("th button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    name = shown.nth(1).locator("th").inner_text()
    assert told.inner_text() == f"{name}: {rows[name]['why']}"
    assert page.evaluate(OVERFLOW) <= 0
    seen.assert_quiet()


def test_research_is_folded_until_asked_for(visit, plain_report):
    page = visit(plain_report[0]).page
    for name in ("ensemble", "pairs", "diversity", "help", "glossary"):
        assert not page.locator(f"#{name} > details").get_attribute("open")
        assert page.locator(f"#{name} h2").is_visible()
    assert not page.locator("#diversity-table").is_visible()
    assert page.locator("#members-table").is_visible()
    page.get_by_role("navigation").get_by_role(
        "link", name="Diversity", exact=True
    ).click()
    page.locator("#diversity-table").wait_for(state="visible")
    page.emulate_media(media="print")
    for inside in ("#risk svg", "#glossary dl", "#reproduce pre"):
        assert page.locator(inside).first.is_visible(), inside
        height = "n => n.getBoundingClientRect().height"
        assert page.locator(inside).first.evaluate(height) > 20, inside


def test_scripts_that_are_not_its_own_are_refused(visit, plain_report, tmp_path):
    _, made = plain_report
    copy = tmp_path / "tampered.html"
    copy.write_text(
        made.html.replace(
            "</main>",
            "<script>alert(1)</script><img src='x' onerror='alert(2)'>"
            "<img src='http://example.org/x.png'></main>",
        )
    )
    seen = visit(copy)
    assert not [line for line in seen.complaints if line.startswith("dialog")]
    assert sum("Content Security Policy" in line for line in seen.complaints) >= 3
    assert {url: why for url, why in seen.failures if "example" in url} == {
        "http://example.org/x.png": "csp"
    }
    mark = seen.page.get_by_role("img", name="quorate logo")  # which is its own
    assert mark.evaluate("image => image.complete && image.naturalWidth") > 0


def test_hostile_names_stay_text(visit, hostile_report):
    path, made = hostile_report
    from_names = set(made.data["ensemble"]["feature_names"])
    seen = visit(path)
    page = seen.page
    title = made.data["title"]
    assert page.title().split() == title.split()  # browsers fold white space here
    assert page.locator("h1").evaluate("node => node.textContent") == title
    texts = page.locator("bdi").evaluate_all(TEXTS)
    names = {row["member"] for row in made.data["members"]}
    labels = {row["class"] for row in made.data["classes"]}
    source = set(made.data["reproduce"]["source"].values())
    assert len(names) == len(labels) == len(from_names) == 6
    assert names | labels | from_names | source <= set(texts)
    code = page.locator("pre code").evaluate_all(TEXTS)
    assert made.data["reproduce"]["shell"] in code
    # No element but those of the template.
    assert page.locator("main img, main b, main script").count() == 0
    assert page.locator("script").count() == 2
    embedded = page.locator("#report-data").evaluate("n => JSON.parse(n.textContent)")
    assert embedded == made.data
    seen.assert_quiet()


def test_the_study_page_sorts_and_stays_text(visit, study_page):
    path, made = study_page
    seen = visit(path)
    page = seen.page
    header = page.locator("#accuracies thead th").nth(2)
    name = header.locator("bdi").evaluate("n => n.textContent")
    assert name == made.data["methods"][1]
    header.get_by_role("button").click()
    means = [float(t.split("\u202f")[0]) for t in column(page, "accuracies", 2)]
    assert means == sorted(means, reverse=True)
    assert page.locator("#failures-table").inner_text().count("<script>") == 1
    seen.assert_quiet()


def test_a_notebook_shows_the_page_in_a_frame(visit, plain_report, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><p>cell</p>{plain_report[1]._repr_html_()}")
    page = visit(path).page
    frame = page.frame_locator("iframe")
    assert frame.get_by_role("heading", level=1).inner_text().startswith("RandomForest")
    frame.locator("#members-table thead button").first.click()
    assert style(page, "p", "fontFamily") != style(frame, "p", "fontFamily")
