"use strict";
// Two systems side by side, item by item: which items decide the gain, with their texts.
// All texts are untrusted: they become nodes of text.
(() => {
  const page = window.simstudyPage;
  const { element, number } = page;
  const FIRST = 5, MORE = 20, LONG = 420, MOST_WORDS = 700;

  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
  const numbers = (text, size) => new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[size](bytes(text));

  // The place of a pair i < j among all pairs of n systems.
  const placeOf = (i, j, n) => (i * (2 * n - i - 1)) / 2 + j - i - 1;

  class Items {
    constructor(box, data, part) {
      this.box = box;
      this.data = data;
      this.part = part;
      this.items = numbers(data.items, data.wide ? 4 : 2);
      this.parts = numbers(data.parts, 2);
      this.scores = data.scores && numbers(data.scores.at, data.scores.bytes);
      this.starts = [0];
      data.wins.forEach((wins, p) => this.starts.push(this.starts[p] + wins + data.losses[p]));
      this.a = 0;
      this.b = 1;
      this.which = "all";
      this.most = FIRST;
      this.controls();
      this.render();
    }

    controls() {
      const { systems } = this.data;
      const box = (label, side) => {
        const select = element("select", { onchange: () => this.choose({ [side]: select.selectedIndex }, true) },
          ...systems.map((name) => element("option", {}, name)));
        this[`${side}Box`] = select;
        return element("label", {}, `${label} `, select);
      };
      const swap = element("button", { type: "button", onclick: () => this.choose({ a: this.b, b: this.a }, true) }, "Swap");
      this.filters = element("div", { class: "filters", role: "group", "aria-label": "Items to show" });
      this.told = element("p", { class: "count", role: "status" });
      this.list = element("ol", { class: "items" });
      this.more = element("button", { type: "button", onclick: () => { this.most += MORE; this.render(); } });
      this.box.append(
        element("div", { class: "controls" }, box("System", "a"), swap, box("against", "b")),
        this.filters, this.told, this.list, element("div", { class: "controls below" }, this.more));
    }

    // Look at another pair; asked by the reader, the address names it.
    choose({ a = this.a, b = this.b }, asked = false) {
      if (a === b) [a, b] = [a, a === this.a ? this.a : this.b];
      if (a === b) b = a === 0 ? 1 : 0;
      [this.a, this.b] = [a, b];
      this.most = FIRST;
      if (asked) history.replaceState(null, "", address(this.part, a, b));
      this.render();
    }

    // What is listed of the pair, largest contributions first: [place of the item, contribution for the first system].
    listed() {
      const { systems, wins, losses, top } = this.data;
      const swapped = this.a > this.b;
      const p = placeOf(Math.min(this.a, this.b), Math.max(this.a, this.b), systems.length);
      const rows = [];
      for (let k = 0; k < wins[p] + losses[p]; k++) {
        const size = (this.parts[this.starts[p] + k] / 65535) * top[p];
        rows.push([this.items[this.starts[p] + k], (k < wins[p]) !== swapped ? size : -size]);
      }
      const [won, lost, tied] = this.data.counts.slice(0, 3).map((_, k) => this.data.counts[k * wins.length + p]);
      const kept = rows.filter(([, part]) => this.which === "all" || (part > 0) === (this.which === "wins"));
      kept.sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]) || one[0] - other[0]);
      return { rows: kept, all: rows.length, wins: swapped ? lost : won, losses: swapped ? won : lost, ties: tied,
        gain: swapped ? -this.data.gains[p] : this.data.gains[p], top: top[p] };
    }

    render() {
      const { data } = this;
      const found = this.listed();
      const one = data.systems[this.a];
      this.aBox.selectedIndex = this.a;
      this.bBox.selectedIndex = this.b;
      const choices = data.battles ? [
        ["all", `All ${number(found.wins + found.losses)} that count`],
        ["wins", `${number(found.wins)} in favour of ${one}`],
        ["losses", `${number(found.losses)} against`],
      ] : [
        ["all", `All ${number(found.wins + found.losses)} that differ`],
        ["wins", `${number(found.wins)} wins of ${one}`],
        ["losses", `${number(found.losses)} losses`],
      ];
      this.filters.replaceChildren(
        ...choices.map(([which, text]) => element("button", { type: "button", "aria-pressed": String(which === this.which),
          onclick: () => { this.which = which; this.most = FIRST; this.render(); this.filters.querySelector("[aria-pressed=true]").focus(); } },
          element("bdi", {}, text))),
        element("span", {}, `${number(found.ties)} ${data.battles ? "without weight" : found.ties === 1 ? "tie" : "ties"}`));
      const most = Math.min(this.most, found.rows.length);
      const unit = data.points ? " points" : "";
      const gain = `Gain of ${one} over ${data.systems[this.b]}: ${this.signed(found.gain, data.decimals.gain)}${unit}.`;
      const rest = found.all < found.wins + found.losses
        ? ` This page has at most ${number(data.most)} of each side.` : "";
      const others = data.left_out ? ` Systems can be chosen among the first ${data.systems.length}.` : "";
      this.told.textContent = found.rows.length
        ? `${gain} Below: ${number(most)} of ${number(found.rows.length)} items, the largest contributions first.${rest}${others}`
        : `${gain} No such item.`;
      this.list.replaceChildren(...found.rows.slice(0, most).map((row) => this.item(row, found)));
      this.more.hidden = most >= found.rows.length;
      this.more.textContent = "Show more";
    }

    signed(value, decimals) {
      const text = Math.abs(value).toFixed(Math.max(0, decimals));
      return Number(text) === 0 && value !== 0 ? `${value < 0 ? "−" : "+"}${Math.abs(value).toPrecision(2)}` : value === 0 ? text : value < 0 ? `−${text}` : `+${text}`;
    }

    item([item, part], { top }) {
      const { data } = this;
      const about = Object.entries(data.about).map(([name, column]) => [name, column.of[column.at[item]]]).filter(([, text]) => text);
      const bar = element("span", { class: part > 0 ? "amount win" : "amount loss", "aria-hidden": "true" });
      bar.style.setProperty("--size", top ? Math.abs(part) / top : 0);
      const head = element("p", { class: "about" },
        element("strong", {}, element("bdi", {}, data.ids[item])),
        ...about.map(([name, text]) => element("span", {}, `${name} `, element("bdi", {}, text))),
        element("span", { class: "contribution" }, bar, `${data.battles ? (part > 0 ? "in favour" : "against") : part > 0 ? "win" : "loss"}, contribution ${this.signed(part, data.decimals.part)}`));
      return element("li", {}, head, ...this.texts(item));
    }

    texts(item) {
      const known = this.data.texts && this.data.texts.of[item];
      const sides = [this.a, this.b].map((k) => ({ name: this.data.systems[k], score: this.score(k, item), text: known ? known[k] : undefined }));
      const [first, second] = sides.map((side) => this.whole(side.text));
      const marked = first !== null && second !== null ? differing(first, second) : [null, null];
      const above = [["Input", known && known["-2"]], ["Reference", known && known["-1"]]]
        .filter(([, text]) => text !== undefined && text !== null && text !== false)
        .map(([name, text]) => this.said(name, null, text, null));
      const both = sides.map((side, k) => this.said(side.name, side.score, side.text, marked[k]));
      return [...above, element("div", { class: "both" }, ...both)];
    }

    whole(text) {
      return text === undefined ? null : Array.isArray(text) ? text[0] : text;
    }

    score(k, item) {
      if (!this.scores) return null;
      const level = this.scores[k * this.data.ids.length + item];
      return level ? this.data.scores.of[level - 1] : null;
    }

    said(name, score, text, marks) {
      const head = element("p", { class: "name" }, element("bdi", {}, name), score === null ? "" : `: ${Number(score.toPrecision(4))}`);
      const node = element("div", { class: "said" }, head);
      if (text === undefined) {
        if (this.data.texts) node.append(element("p", { class: "none" }, "This page has no room for this text."));
        return node;
      }
      const content = this.whole(text);
      const body = element("blockquote", { dir: "auto" });
      if (content.trim() === "") body.append(element("em", {}, "empty"));
      else if (marks === null) body.textContent = content;
      else body.append(...marks.map(([piece, differs]) => (differs ? element("mark", {}, piece) : piece)));
      node.append(body);
      if (Array.isArray(text)) node.append(element("p", { class: "none" }, `Cut here: the whole text has ${number(text[1])} characters.`));
      if (content.length > LONG) {
        body.classList.add("long");
        const open = element("button", { type: "button", "aria-expanded": "false", onclick: () => {
          const long = body.classList.toggle("long");
          open.setAttribute("aria-expanded", String(!long));
          open.textContent = long ? all : "Show less";
        } });
        const all = `Show all ${number(content.length)} characters`;
        open.textContent = all;
        node.append(element("div", { class: "controls below" }, open));
      }
      return node;
    }
  }

  // Pieces of two texts with whether they differ: words that are not in the longest run that both have in order.
  // Nothing is marked where most words differ, or where there are too many.
  function differing(one, other) {
    const [a, b] = [one, other].map((text) => text.split(/(\s+)/).filter(Boolean));
    const words = [a, b].map((pieces) => pieces.map((piece, k) => [piece, k]).filter(([piece]) => piece.trim()));
    const [n, m] = words.map((list) => list.length);
    if (n === 0 || m === 0 || n > MOST_WORDS || m > MOST_WORDS) return [null, null];
    const lengths = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        lengths[i][j] = words[0][i][0] === words[1][j][0] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
      }
    }
    if (lengths[0][0] < 0.25 * Math.max(n, m) || (lengths[0][0] === n && n === m)) return [null, null];
    const same = [new Set(), new Set()];
    for (let i = 0, j = 0; i < n && j < m;) {
      if (words[0][i][0] === words[1][j][0]) { same[0].add(words[0][i++][1]); same[1].add(words[1][j++][1]); }
      else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
      else j++;
    }
    return [a, b].map((pieces, side) => pieces.map((piece, k) => [piece, piece.trim() !== "" && !same[side].has(k)]));
  }

  // Pages inside a page have browsers of their own, which go with the tables of that part: "p0s3" is of part "p0".
  const partOf = (key) => key.replace(/s\d+$/, "");
  const specs = new Map(Object.entries(page.data.widgets).filter(([, one]) => one.kind === "items")
    .map(([key, one]) => [partOf(key), { one, place: new Map(one.systems.map((name, k) => [name, k])) }]));
  const browsers = new Map();
  const address = (part, a, b) => `#items?${part ? `in=${part}&` : ""}a=${a}&b=${b}`;

  // "#items?a=0&b=3" names two systems by their places.
  function goTo(hash) {
    const found = /^#items\?(?:in=(\w+)&)?a=(\d+)&b=(\d+)$/.exec(hash);
    const browser = found && browsers.get(found[1] || "");
    if (!browser) return;
    const [a, b] = [Number(found[2]), Number(found[3])];
    if (a === b || Math.max(a, b) >= browser.data.systems.length) return;
    browser.choose({ a, b });
    browser.box.closest("section").scrollIntoView();
    browser.aBox.focus({ preventScroll: true });
  }

  // Rows of tables of pairs have a link to the items of their pair.
  const row = page.DataTable.prototype.row;
  page.DataTable.prototype.row = function (i) {
    const node = row.call(this, i);
    const part = partOf(this.box.dataset.table), own = specs.get(part);
    const pair = own && this.spec.pair && this.spec.pair.map((k) => this.texts[k][i]);
    if (pair && pair.every((name) => own.place.has(name))) {
      node.lastChild.append(" ", element("a", { class: "to-items", href: address(part, ...pair.map((name) => own.place.get(name))),
        "aria-label": `Items that decide between ${pair[0]} and ${pair[1]}` }, "items"));
    }
    return node;
  };

  page.widget(() => {
    for (const box of document.querySelectorAll("[data-widget]")) {
      const part = partOf(box.dataset.widget), own = specs.get(part);
      if (!own || page.data.widgets[box.dataset.widget] !== own.one) continue;
      browsers.set(part, new Items(box, own.one, part));
      box.classList.add("drawn");
    }
    window.addEventListener("hashchange", () => goTo(location.hash));
    goTo(location.hash);
  });
})();
