"use strict";
// The page is whole without this script; it adds sorting, filters, reasons and copying.
(() => {
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const spoken = document.getElementById("spoken");

  // Commands that can be copied.

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
})();
