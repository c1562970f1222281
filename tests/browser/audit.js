// Returns a list of complaints about the page, in the manner of axe.
() => {
  const complaints = [];
  const blame = (rule, element, more = "") => {
    const where = element
      ? `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""}`
      : "page";
    complaints.push(`${rule}: ${where} ${more}`.trim());
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const visible = (element) => element.checkVisibility({ visibilityProperty: true });
  const nameOf = (element) => {
    const by = element.getAttribute("aria-labelledby");
    if (by) return by.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
    return (element.getAttribute("aria-label") ?? element.textContent).trim();
  };

  // The document
  if (!document.documentElement.lang) blame("lang", null);
  if (!document.title.trim()) blame("title", null);
  for (const selector of ["body > header", "nav", "main", "body > footer"])
    if (all(selector).length !== 1) blame("landmark", null, selector);
  for (const nav of all("nav")) if (!nameOf(nav)) blame("nav name", nav);
  const skip = document.querySelector("body a");
  if (!skip || !document.querySelector(skip.getAttribute("href"))?.matches("main"))
    blame("skip link", skip);

  // Headings
  const levels = all("h1, h2, h3, h4, h5, h6").map((heading) => [heading, Number(heading.tagName[1])]);
  if (levels.filter(([, level]) => level === 1).length !== 1) blame("one h1", null);
  levels.forEach(([heading, level], at) => {
    if (at > 0 && level > levels[at - 1][1] + 1) blame("heading order", heading);
    if (!heading.textContent.trim()) blame("empty heading", heading);
  });

  // Names and references
  const ids = all("[id]").map((element) => element.id);
  for (const id of ids) if (ids.filter((other) => other === id).length > 1) blame("duplicate id", null, id);
  for (const element of all("[aria-labelledby], [for], a[href^='#']"))
    for (const id of (element.getAttribute("aria-labelledby") ?? element.getAttribute("for") ?? element.getAttribute("href").slice(1)).split(/\s+/))
      if (!document.getElementById(id)) blame("dangling reference", element, id);
  for (const element of all("section, [role=region]")) if (!nameOf(element)) blame("region name", element);
  for (const element of all("a[href], button")) if (!nameOf(element)) blame("control name", element);
  for (const element of all("input, select, textarea"))
    if (!element.labels?.length && !element.getAttribute("aria-label")) blame("label", element);
  for (const element of all("img")) if (!element.alt) blame("alt", element);
  for (const element of all("[role=img]")) if (!element.getAttribute("aria-label")?.trim()) blame("alt", element);
  for (const element of all("svg"))
    if (!element.closest("[role=img]") && element.getAttribute("aria-hidden") !== "true") blame("svg", element);
  for (const figure of all("figure")) if (!figure.querySelector("figcaption")?.textContent.trim()) blame("figcaption", figure);

  // Tables
  for (const table of all("table")) {
    if (!nameOf(table)) blame("table name", table);
    for (const header of table.querySelectorAll("th")) if (!header.scope) blame("th scope", table, header.textContent);
    for (const row of table.tBodies[0].rows)
      if (row.cells.length !== table.tHead.rows[0].cells.length) blame("ragged row", table);
  }
  for (const sorted of all("[aria-sort]"))
    if (!["ascending", "descending", "none"].includes(sorted.getAttribute("aria-sort"))) blame("aria-sort", sorted);

  // Keyboard
  for (const element of all("[tabindex]")) if (element.tabIndex > 0) blame("tabindex", element);
  for (const element of all("body *")) {
    for (const attribute of element.attributes) if (/^on/i.test(attribute.name)) blame("inline handler", element);
    const { overflowX, overflowY } = getComputedStyle(element);
    const scrolls = (overflowX === "auto" && element.scrollWidth > element.clientWidth + 1) ||
      (overflowY === "auto" && element.scrollHeight > element.clientHeight + 1);
    if (scrolls && element.tabIndex < 0) blame("scroll region out of reach", element);
  }

  // Contrast of all text, 4.5 or 3 if it is large
  const painter = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    return painter.getImageData(0, 0, 1, 1).data;
  };
  const luminance = ([r, g, b]) => {
    const line = (part) => ((part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * line(r) + 0.7152 * line(g) + 0.0722 * line(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element)) continue;
    seen.add(element);
    if (element.closest("script, style, .hidden, .skip") || !visible(element)) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element.closest("svg") ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(ground(element))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      blame("contrast", element, `${ratio.toFixed(2)} ${element.textContent.slice(0, 40)}`);
  }
  return [...new Set(complaints)];
}
