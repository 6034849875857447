"use strict";
// Tables that sort, filter, show some rows at a time, copy as TSV, Markdown and LaTeX, and download as CSV.
(() => {
  const page = window.simstudyPage;
  const { element, number } = page;
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  // Rows that are shown first; of the table on the first screen; and rows that are printed at most.
  const FIRST = 15, LEADING = 10, PRINTED = 500;

  class DataTable {
    constructor(box, spec) {
      this.box = box;
      this.spec = spec;
      this.texts = spec.text.map(page.column);
      this.values = spec.values ? spec.values.map(page.column) : this.texts;
      this.n = this.texts.length ? this.texts[0].length : 0;
      this.first = box.closest(".leads") ? LEADING : FIRST;
      if (this.n <= this.first + 5) this.first = this.n;
      this.most = this.first;
      this.filter = "";
      this.sorted = null;
      this.descending = false;
      this.body = box.querySelector("tbody");
      this.count = box.querySelector(".count");
      if (!this.count) box.append((this.count = element("p", { class: "count" })));
      this.headers = [...box.querySelectorAll("thead th")];
      this.heads();
      this.controls();
      this.render();
      page.onSystem(() => this.render());
      window.addEventListener("beforeprint", () => { this.printing = true; this.render(); });
      window.addEventListener("afterprint", () => { this.printing = false; this.render(); });
    }

    heads() {
      this.headers.forEach((th, k) => {
        const name = th.textContent;
        if (!name.trim()) return;
        th.setAttribute("aria-sort", "none");
        // Of a table that goes over several printed pages, browsers repeat text in the headers but no buttons.
        th.replaceChildren(element("button", { type: "button", onclick: () => this.sort(k) }, name), element("span", { class: "printed" }, name));
      });
    }

    controls() {
      const above = element("div", { class: "controls" });
      if (this.n > 8) {
        const box = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
        box.addEventListener("input", () => { this.filter = box.value.trim().toLowerCase(); this.render(); });
        above.append(element("label", {}, "Filter ", box));
      }
      if (this.spec.pair && this.n > 1) {
        const names = [...new Set(this.spec.pair.flatMap((k) => this.texts[k]))];
        if (names.length > 2) above.append(page.chooser(names.sort(collator.compare)));
      }
      if (above.childNodes.length) this.box.prepend(above);
      this.more = element("button", { type: "button", onclick: () => this.grow() });
      this.told = element("span", { role: "status" });
      const copy = (name, write) =>
        element("button", { type: "button", onclick: () => this.copy(name, write) }, name);
      this.box.append(
        element("div", { class: "controls below" },
          this.more,
          element("span", { class: "copying" }, "Copy as ", copy("TSV", tsv), copy("Markdown", markdown), copy("LaTeX", latex),
            element("button", { type: "button", onclick: () => this.download() }, "Download CSV"), this.told)));
    }

    // The places of the rows that pass the filter and belong to the system that is looked at, in their order.
    order() {
      const words = this.filter.split(/\s+/).filter(Boolean);
      const own = this.spec.pair && page.system !== null ? this.spec.pair.map((k) => this.texts[k]) : null;
      const kept = [];
      for (let i = 0; i < this.n; i++) {
        if (own && own[0][i] !== page.system && own[1][i] !== page.system) continue;
        if (words.length) {
          const line = this.texts.map((column) => column[i]).join("\u0001").toLowerCase();
          if (!words.every((word) => line.includes(word))) continue;
        }
        kept.push(i);
      }
      if (this.sorted === null) return kept;
      const by = this.spec.by[this.sorted], texts = this.texts[this.sorted];
      const keys = by === null ? texts : this.values[by];
      const sign = this.descending ? -1 : 1;
      // What has no value comes last, whatever the direction; equal ones keep their order.
      const empty = (value) => value === null || value === "";
      return kept.sort((i, j) => {
        const a = keys[i], b = keys[j];
        if (empty(a) || empty(b)) return empty(a) - empty(b);
        return sign * (by === null ? collator.compare(a, b) : a - b);
      });
    }

    sort(k) {
      // A click, another one the other way round, a third one: the table's own order.
      if (this.sorted !== k) { this.sorted = k; this.descending = false; }
      else if (!this.descending) this.descending = true;
      else this.sorted = null;
      this.headers.forEach((th, i) => {
        if (th.hasAttribute("aria-sort")) {
          th.setAttribute("aria-sort", i !== this.sorted ? "none" : this.descending ? "descending" : "ascending");
        }
      });
      this.render();
    }

    grow() {
      this.most = this.most > this.first && this.most >= this.shown ? this.first : Math.max(100, this.most * 4);
      this.render();
    }

    render() {
      const order = this.order();
      this.shown = order.length;
      const most = this.printing ? PRINTED : this.most;
      this.body.replaceChildren(...order.slice(0, most).map((i) => this.row(i)));
      const rest = order.length - Math.min(most, order.length);
      const of = order.length < this.n ? ` that match, of ${number(this.n)}` : "";
      this.count.textContent = rest
        ? `${number(Math.min(most, order.length))} of ${number(order.length)} rows${of}`
        : order.length < this.n ? `${number(order.length)} ${order.length === 1 ? "row" : "rows"}${of}` : "";
      this.more.hidden = rest === 0 && this.most <= this.first;
      this.more.textContent = rest ? (this.most * 4 >= order.length ? "Show all" : "Show more") : "Show fewer";
    }

    row(i) {
      const { numeric, system } = this.spec;
      const row = element("tr");
      this.texts.forEach((column, k) => {
        const text = element("bdi", {}, column[i]);
        const cell = element(k === 0 ? "th" : "td", { scope: k === 0 ? "row" : null, class: numeric[k] ? "n" : null });
        if (k === system && hasPairs) {
          const on = page.system === column[i];
          cell.append(element("button", { type: "button", "aria-pressed": String(on), title: "Show its pairs",
            onclick: () => { page.select(column[i]); this.refocus(column[i]); } }, text));
        } else cell.append(text);
        row.append(cell);
      });
      return row;
    }

    // The button that was pressed is a new one after the rows are drawn again.
    refocus(name) {
      for (const button of this.body.querySelectorAll("button")) if (button.textContent === name) return button.focus();
    }

    // Cells as people read them: those of all rows that pass the filter.
    lines() {
      const order = this.order();
      return [this.spec.head, ...order.map((i) => this.texts.map((column) => column[i]))];
    }

    async copy(name, write) {
      const lines = this.lines();
      const done = await toClipboard(write(lines, this.spec.numeric));
      this.told.textContent = done ? `Copied ${number(lines.length - 1)} rows as ${name}.` : "The browser does not let a page copy.";
    }

    download() {
      const cells = [this.spec.names, ...this.order().map((i) => this.values.map((column) => column[i]))];
      const text = cells.map((line) => line.map(csvCell).join(",")).join("\n") + "\n";
      const link = element("a", { download: `${this.box.dataset.name || "table"}.csv` });
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      this.told.textContent = `Downloaded ${number(cells.length - 1)} rows.`;
    }
  }

  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = element("textarea", { class: "copied", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      const before = document.activeElement;
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (before) before.focus();
      return done;
    }
  }

  // What a spreadsheet would take for a formula has an apostrophe before it, as in the CSV files of simstudy.
  const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/, NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
  const plain = (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

  function csvCell(value) {
    if (value === null) return "";
    if (value === true || value === false) return value ? "True" : "False";
    const text = typeof value === "number" ? String(value) : plain(String(value));
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const tsv = (lines) => lines.map((line) => line.map((cell) => plain(cell.replace(/\s+/g, " "))).join("\t")).join("\n") + "\n";

  function markdown(lines, numeric) {
    const escaped = (cell) => cell.replace(/\s+/g, " ").replace(/[\\`*_[\]|~$<&]/g, "\\$&");
    const [head, ...body] = lines.map((line) => `| ${line.map(escaped).join(" | ")} |`);
    return [head, `|${numeric.map((right) => (right ? " ---: |" : " --- |")).join("")}`, ...body].join("\n") + "\n";
  }

  // As simstudy writes LaTeX itself: what TeX takes for something else, or what its usual fonts lack.
  const LATEX = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "`": "\\textasciigrave{}",
    "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", '"': "''", "⟨": "$\\langle$", "⟩": "$\\rangle$",
    "–": "--", "—": "---", "…": "\\dots{}", "−": "$-$", "×": "$\\times$", "≤": "$\\leq$", "≥": "$\\geq$", "≈": "$\\approx$",
    "√": "$\\surd$", "\u00a0": "~", "†": "$\\dagger$", "‡": "$\\ddagger$", "§": "\\S{}", "¶": "\\P{}",
  };
  const latexCell = (cell) =>
    [...cell.replace(/[\t\n\r]+/g, " ")].map((letter, k, all) =>
      // Two of these would become one character: "--" is a dash.
      (LATEX[letter] || ("&%$#_{}".includes(letter) ? `\\${letter}` : letter)) + ("-',".includes(letter) && all[k + 1] === letter ? "{}" : ""),
    ).join("").replace(/(\d) \\%/g, "$1\\,\\%");

  // Behind the end of the row before, a bracket or a star would be an option of it.
  const latexRow = (line) => `${/^[[*]/.test(line[0]) ? "{}" : ""}${line.map(latexCell).join(" & ")} \\\\`;

  function latex(lines, numeric) {
    // Names keep their hyphens.
    const signed = (cell, k) => (numeric[k] ? cell.replace(/(^|[\s(])-(?=[\d.])/g, "$1−") : cell);
    const [head, ...body] = lines.map((line) => latexRow(line.map(signed)));
    const columns = numeric.map((right) => (right ? "r" : "l")).join("");
    return [`\\begin{tabular}{${columns}}`, "\\toprule", head, "\\midrule", ...body, "\\bottomrule", "\\end{tabular}"].join("\n") + "\n";
  }

  const hasPairs = Object.values(page.data.tables).some((spec) => spec.pair);
  page.DataTable = DataTable;
  page.widget(() => {
    for (const box of document.querySelectorAll("[data-table]")) new DataTable(box, page.data.tables[box.dataset.table]);
  });
})();
