"use strict";
// The page is whole without this script; it adds a slider, sorting, filters, reasons
// and tooltips.
(() => {
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const data = JSON.parse(document.getElementById("report-data").textContent);
  const spoken = document.getElementById("spoken");

  // The slider: every figure at the top, and the commands, for the size it is on.

  const makeSlider = (place, sizes) => {
    const last = sizes.members.length - 1;
    const input = make("input", { type: "range", id: "members-to-keep", min: 0, max: last, step: 1 });
    input.value = sizes.chosen;
    const figures = { keep: sizes.members, ...sizes.text };
    const commands = place.querySelector("#commands");
    const show = () => {
      const at = Number(input.value);
      // Who keeps all of them has nothing to do.
      commands.hidden = at === sizes.as_it_is;
      for (const shown of place.querySelectorAll("[data-figure]"))
        shown.textContent = figures[shown.dataset.figure][at];
      const told = ["members", "score"].filter((name) => figures[name]);
      input.setAttribute("aria-valuetext", told.map((name) => figures[name][at]).join(", "));
    };
    input.addEventListener("input", show);
    // Whoever moves it by keys on a small screen wants to see what it moves.
    const figuresShown = place.querySelector("#figures");
    input.addEventListener("keydown", () => figuresShown.scrollIntoView({ block: "nearest", behavior: "instant" }));
    const label = make("label", { htmlFor: input.id }, "Number of members to keep (drag, or use the arrow keys)");
    const ends = make("div", { className: "ends", ariaHidden: "true" },
      make("span", {}, String(sizes.members[0])), make("span", {}, String(sizes.members[last])));
    place.querySelector(".now").after(make("div", { className: "slide" }, label, input, ends));
    show();
  };

  const makeCopyable = (command) => {
    const code = command.querySelector("code");
    const button = make("button", { type: "button", className: "copy" }, "Copy");
    const caption = command.querySelector(".caption");
    button.setAttribute("aria-label", `Copy: ${caption.textContent}`);
    const say = (word) => {
      button.textContent = spoken.textContent = word;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        say("Copied");
      } catch {
        getSelection().selectAllChildren(code); // in a frame, or where that is forbidden
        say("Selected");
      }
    });
    caption.append(button);
  };

  const sizesPlace = document.getElementById("try");
  if (sizesPlace && data.sizes.members.length > 1) makeSlider(sizesPlace, data.sizes);
  for (const command of document.querySelectorAll(".command")) makeCopyable(command);

  // Folded parts open for who comes by a link, and for print.

  const folds = [...document.querySelectorAll("details")];
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && (target.querySelector(":scope > details.fold") ?? target.closest("details"));
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  for (const link of document.querySelectorAll("nav a")) link.addEventListener("click", () => setTimeout(openTarget));
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = folds.filter((fold) => !fold.open);
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });

  // Tables: a button in each header sorts, a box above filters.

  const collator = new Intl.Collator(undefined, { numeric: true });

  const valueOf = (cell) =>
    cell.dataset.value === undefined ? null : Number(cell.dataset.value);

  const compare = (a, b, numeric) => {
    if (!numeric) return collator.compare(a.textContent, b.textContent);
    return valueOf(a) - valueOf(b);
  };

  const sortBy = (table, header, direction) => {
    const place = header.cellIndex;
    const numeric = header.classList.contains("n");
    const body = table.tBodies[0];
    const missing = (row) => numeric && valueOf(row.cells[place]) === null;
    const rows = [...body.rows].sort((one, other) => {
      // What is missing stays at the end, whichever way the rest goes.
      if (missing(one) || missing(other)) return missing(one) - missing(other);
      return direction * compare(one.cells[place], other.cells[place], numeric);
    });
    body.append(...rows);
    table.dispatchEvent(new Event("sorted"));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  };

  const makeSortable = (table) => {
    for (const header of table.tHead.rows[0].cells) {
      const button = make("button", { type: "button" }, ...header.childNodes);
      button.addEventListener("click", () => {
        const sorted = header.getAttribute("aria-sort");
        // Numbers start with the largest: that is what people look for.
        const first = header.classList.contains("n") ? -1 : 1;
        const opposite = sorted === "ascending" ? -1 : 1;
        sortBy(table, header, sorted ? opposite : first);
      });
      header.append(button);
    }
  };

  const makeFilterable = (block, table) => {
    const count = make("output", {});
    const input = make("input", { type: "search", id: `${table.id}-filter` });
    count.htmlFor = input.id;
    const rows = [...table.tBodies[0].rows];
    const seen = (row) => [...row.cells].filter((cell) => !cell.matches(".told"));
    const texts = new Map(rows.map((row) =>
      [row, seen(row).map((cell) => cell.textContent).join(" ").toLowerCase()]));
    // Of a long table the first rows, in the order it is sorted by, until asked for more.
    let most = Number(block.dataset.rows) || rows.length;
    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !words.every((word) => texts.get(row).includes(word));
        const rest = !row.hidden && !words.length && shown >= most;
        row.classList.toggle("rest", rest);
        shown += !row.hidden && !rest;
      }
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    input.addEventListener("input", show);
    table.addEventListener("sorted", show);
    if (rows.length > most) {
      const more = make("button", { type: "button", className: "more" }, `Show all ${rows.length} rows`);
      more.addEventListener("click", () => {
        most = rows.length;
        more.remove();
        show();
        block.querySelector(".scroll").focus();
      });
      block.querySelector(".scroll").after(more);
    }
    const label = make("label", { htmlFor: input.id }, "Filter rows by text");
    block.querySelector(".scroll").before(
      make("div", { className: "filter" }, label, input, count)
    );
    show();
  };

  // A column of reasons: choosing a row tells its own below the table.

  const makeTelling = (block, table) => {
    const panel = make("p", { className: "told-here", id: `${table.id}-told` },
      "Click a row, or press Enter on it, to see why that member is kept or dropped.");
    panel.setAttribute("role", "status");
    table.classList.add("asks");
    block.querySelector(".scroll").after(panel);
    const rows = [...table.tBodies[0].rows];
    const buttonOf = (row) => row.cells[0].querySelector("button");
    const tell = (row) => {
      for (const other of rows) {
        other.toggleAttribute("aria-current", false);
        buttonOf(other).tabIndex = -1;
      }
      row.setAttribute("aria-current", "true");
      buttonOf(row).tabIndex = 0;
      const name = make("strong", {}, make("bdi", {}, row.cells[0].textContent));
      panel.classList.add("chosen");
      panel.replaceChildren(name, ": ", row.querySelector("td.told").textContent);
    };
    const step = (row, by) => {
      const shown = [...table.tBodies[0].rows].filter((other) => !other.matches("[hidden], .rest"));
      const next = shown[shown.indexOf(row) + by];
      if (!next) return;
      buttonOf(row).tabIndex = -1;
      buttonOf(next).tabIndex = 0;
      buttonOf(next).focus();
    };
    rows.forEach((row, place) => {
      const header = row.cells[0];
      // One stop for the Tab key; arrow keys go from row to row.
      const button = make("button", { type: "button", tabIndex: place ? -1 : 0 }, ...header.childNodes);
      header.append(button);
      row.addEventListener("click", () => tell(row));
      button.addEventListener("keydown", (event) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        step(row, by);
      });
    });
  };

  for (const block of document.querySelectorAll(".table")) {
    const table = block.querySelector("table");
    if (block.hasAttribute("data-sort")) makeSortable(table);
    if (table.tHead.querySelector(".told")) makeTelling(block, table);
    if (block.hasAttribute("data-filter")) makeFilterable(block, table);
  }

  // Pictures: the nearest point tells its values, to the pointer and to arrow keys.

  const tooltip = document.getElementById("tooltip");
  const marks = JSON.parse(document.getElementById("report-marks").textContent);
  const REACH = 28;

  const ringOf = (svg) => {
    const known = svg.querySelector(".ring");
    if (known) return known;
    const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    ring.setAttribute("class", "ring");
    ring.setAttribute("r", "6");
    svg.append(ring);
    return ring;
  };

  let shown = null; // the picture and the point that the tooltip tells of

  const hide = (picture) => {
    shown = null;
    tooltip.hidden = true;
    picture.querySelector(".ring")?.remove();
  };

  const show = (picture, point) => {
    shown = [picture, point];
    const [x, y, words] = point;
    const svg = picture.querySelector("svg");
    const ring = ringOf(svg);
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    tooltip.textContent = words;
    tooltip.hidden = false;
    const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    const box = tooltip.getBoundingClientRect();
    const left = Math.min(at.x + 12, document.documentElement.clientWidth - box.width - 4);
    const above = at.y - box.height - 12;
    tooltip.style.left = `${Math.max(4, left)}px`;
    tooltip.style.top = `${above < 4 ? at.y + 14 : above}px`;
  };

  const nearest = (picture, points, event) => {
    const matrix = picture.querySelector("svg").getScreenCTM();
    let best = null;
    let least = REACH;
    points.forEach(([x, y], place) => {
      const at = new DOMPoint(x, y).matrixTransform(matrix);
      const distance = Math.hypot(at.x - event.clientX, at.y - event.clientY);
      if (distance < least) [best, least] = [place, distance];
    });
    return best;
  };

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

  const makeReadable = (picture) => {
    const points = marks[picture.dataset.marks];
    let place = 0;
    const tell = (next) => {
      place = Math.max(0, Math.min(points.length - 1, next));
      show(picture, points[place]);
    };
    picture.setAttribute("aria-description", "Use the arrow keys to read its points");
    picture.addEventListener("pointermove", (event) => {
      const found = nearest(picture, points, event);
      if (found === null) hide(picture);
      else tell(found);
    });
    picture.addEventListener("pointerleave", () => hide(picture));
    picture.addEventListener("focus", () => {
      if (picture.matches(":focus-visible")) tell(place);
    });
    picture.addEventListener("blur", () => hide(picture));
    picture.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide(picture);
      const ends = { Home: 0, End: points.length - 1 };
      const next = ends[event.key] ?? place + STEPS[event.key];
      if (Number.isNaN(next)) return;
      event.preventDefault();
      tell(next);
      const [x] = points[place];
      const width = picture.querySelector("svg").viewBox.baseVal.width;
      picture.scrollLeft = (x / width) * picture.scrollWidth - picture.clientWidth / 2;
      show(picture, points[place]);
      spoken.textContent = points[place][2];
    });
  };

  for (const picture of document.querySelectorAll("[data-marks]")) makeReadable(picture);
  addEventListener("scroll", () => {
    if (!shown) return;
    // Focus scrolls to a picture, and the tooltip goes along; the pointer stays behind.
    if (shown[0] === document.activeElement) show(...shown);
    else hide(shown[0]);
  }, { passive: true });
})();
