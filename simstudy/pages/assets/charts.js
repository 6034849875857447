"use strict";
// Charts in the places of pictures: drawn by Observable Plot from the page's data, again whenever a system is chosen.
(() => {
  const page = window.simstudyPage;
  const { element } = page;
  const Plot = window.Plot;
  if (!Plot) return;
  const COLOURS = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)"];
  const BLUE = "var(--c0)", ORANGE = "var(--c1)", REFERENCE = { stroke: "var(--soft)", strokeDasharray: "4,3" };
  const LETTER = 7;
  // A label below the numbers of an axis.
  const centred = { labelAnchor: "center", labelArrow: "none", labelOffset: 38 };

  // An image with a name; its parts have none for readers of screens.
  function plot(options) {
    const figure = Plot.plot({ className: "plot", style: { fontSize: "12px", overflow: "visible" }, ...options });
    figure.setAttribute("role", "img");
    for (const part of figure.querySelectorAll("[aria-label]")) {
      part.dataset.mark = part.getAttribute("aria-label");
      part.removeAttribute("aria-label");
    }
    return figure;
  }
  const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

  function key(entries) {
    return element("ul", { class: "key" }, ...entries.map(([colour, text, shape = "dot"]) => {
      const mark = element("span", { class: `mark ${shape}` });
      mark.style.setProperty("--own", colour);
      return element("li", {}, mark, element("bdi", {}, text));
    }));
  }

  page.drawing = { plot, short, key, centred };

  // A line below a chart that names what the pointer or the keyboard is at.
  function teller(node, hint) {
    const line = element("p", { class: "told", role: "status" }, hint);
    node.append(line);
    return (text) => { line.textContent = text || hint; };
  }

  const pairText = (d) => [
    `${d.a} over ${d.b}`,
    `gain ${d.gain_text}${d.interval ? ` (95 % interval ${d.interval})` : ""}`,
    `p ${d.p}${d.holm ? `, Holm ${d.holm}` : ""}`,
  ];
  const ofSystem = (d, name) => name === null || d.a === name || d.b === name;

  // Gain against confidence: a point for each pair.
  page.chart("gain_confidence", (node, { pairs, curve }, settings, width) => {
    const relations = settings.relations;
    const colour = new Map(relations.map((name, k) => [name, COLOURS[k % COLOURS.length]]));
    const drawn = pairs.filter((d) => d.gain <= settings.end).sort((a, b) => a.gain - b.gain);
    const lit = drawn.filter((d) => ofSystem(d, page.system)), dim = drawn.filter((d) => !ofSystem(d, page.system));
    const r = drawn.length > 2000 ? 2 : drawn.length > 500 ? 2.6 : 3.5;
    const dots = (rows, opacity) => Plot.dot(rows, { x: "gain", y: "confidence", fill: (d) => colour.get(d.relation), r, fillOpacity: opacity });
    const figure = plot({
      width, height: Math.min(440, Math.max(280, width * 0.55)), marginLeft: 50, marginRight: 20, marginBottom: 46, ariaLabel: settings.label,
      x: { label: settings.x, domain: [0, settings.end], nice: false, ticks: Math.max(3, Math.floor(width / 90)), ...centred },
      y: { label: settings.y, domain: [settings.lowest, 1.005], ticks: 6, tickFormat: (d) => d.toFixed(1) },
      marks: [
        Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
        page.system === null && curve.length ? Plot.areaY(curve, { x: "gain", y1: "low", y2: "high", z: "relation", fill: (d) => colour.get(d.relation), fillOpacity: 0.13 }) : null,
        Plot.ruleY([0.95], REFERENCE),
        dots(dim, 0.12), dots(lit, page.system === null ? (drawn.length > 700 ? 0.35 : 0.6) : 0.9),
        page.system === null && curve.length ? Plot.line(curve, { x: "gain", y: "confidence", z: "relation", stroke: (d) => colour.get(d.relation), strokeWidth: 2 }) : null,
        Plot.text([[settings.end, 0.95]], { text: ["p = 0.05"], textAnchor: "end", dy: 10, fill: "var(--soft)" }),
        Plot.dot(lit, Plot.pointer({ x: "gain", y: "confidence", stroke: "var(--ink)", strokeWidth: 2, r: r + 2.5, maxRadius: 30 })),
      ],
    });
    node.append(figure);
    if (relations.length > 1) node.append(key(relations.map((name) => [colour.get(name), name])));
    tellPairs(node, figure, lit, (d) => [d.gain, d.confidence]);
  });

  // What the pointer is at is named below; the arrow keys go from point to point; a click chooses a system.
  function tellPairs(node, figure, rows, place) {
    const tell = teller(node, "Point at a pair, or use the arrow keys, to read its numbers. Click a point to light up the pairs of its better system.");
    const tip = element("div", { class: "tip", "aria-hidden": "true", hidden: true });
    node.append(tip);
    const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [name, value] of Object.entries({ r: 7, fill: "none", stroke: "var(--ink)", "stroke-width": 2 })) ring.setAttribute(name, value);
    const scales = [figure.scale("x"), figure.scale("y")];
    let at = -1;
    const show = (d) => {
      tell(d ? pairText(d).join("; ") : "");
      tip.hidden = !d;
      if (!d) return;
      tip.replaceChildren(...pairText(d).map((text) => element("div", {}, text)));
      const box = figure.getBoundingClientRect(), own = node.getBoundingClientRect();
      const scale = box.width / figure.viewBox.baseVal.width;
      const [x, y] = place(d).map((value, k) => scales[k].apply(value) * scale);
      const left = x + box.left - own.left;
      tip.style.left = `${Math.max(0, Math.min(left + 12, own.width - tip.offsetWidth))}px`;
      tip.style.top = `${y + box.top - own.top + (y > 110 ? -tip.offsetHeight - 8 : 14)}px`;
    };
    figure.addEventListener("input", () => { ring.remove(); show(figure.value); });
    figure.addEventListener("click", () => { if (figure.value) page.select(page.system === figure.value.a ? figure.value.b : figure.value.a); });
    figure.setAttribute("tabindex", "0");
    figure.addEventListener("blur", () => { ring.remove(); show(null); });
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && at >= 0) return page.select(rows[at].a);
      if (event.key === "Escape") { at = -1; ring.remove(); return show(null); }
      if (!step || !rows.length) return;
      event.preventDefault();
      at = (at + step + rows.length) % rows.length;
      const [x, y] = place(rows[at]).map((value, k) => scales[k].apply(value));
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      figure.append(ring);
      show(rows[at]);
    });
  }

  // Scores with intervals, and beside them the confidence sets of ranks.
  page.chart("leaderboard", (node, { systems }, settings, width) => {
    const names = systems.map((d) => d.system);
    const label = Math.min(30, Math.max(...names.map((name) => name.length)));
    const narrow = width < 620;
    const row = systems.length > 40 ? 13 : 20;
    const margin = Math.min(LETTER * label + 14, width * 0.42);
    const colour = (d) => (d.may_be_best ? ORANGE : BLUE);
    const faded = (d) => (page.system === null || d.system === page.system ? 1 : 0.3);
    const left = narrow ? width : Math.round((width - margin) * 0.46 + margin), right = narrow ? width : width - left;
    const fitting = Math.floor((margin - 12) / LETTER);
    const common = { height: row * names.length + 54, marginTop: 8, marginBottom: 46 };
    const y = { type: "band", domain: names, label: null, tickSize: 0, tickFormat: (name) => short(name, fitting), padding: 0.3 };
    const scores = plot({
      ...common, width: left, marginLeft: margin, marginRight: 16, y, ariaLabel: `${settings.x} of each system with its interval`,
      x: { label: settings.x, nice: true, ticks: 5, grid: true, ...centred },
      marks: [
        Plot.ruleY(systems, { y: "system", x1: "low", x2: "high", stroke: colour, strokeWidth: 1.6, strokeOpacity: faded }),
        Plot.dot(systems, { y: "system", x: "score", fill: colour, r: row > 15 ? 4 : 3, fillOpacity: faded, title: (d) => d.title }),
      ],
    });
    const ranks = plot({
      ...common, width: right, marginLeft: narrow ? margin : 12, marginRight: 16, y: narrow ? y : { ...y, axis: null },
      ariaLabel: "confidence set for the rank of each system",
      x: { label: settings.ranks, domain: [0.4, settings.furthest + 0.6], ticks: Math.min(settings.furthest, 8), tickFormat: (d) => (Number.isInteger(d) ? String(d) : ""), grid: true, ...centred },
      marks: [
        Plot.barX(systems, { y: "system", x1: (d) => d.rank_low - 0.4, x2: (d) => d.rank_high + 0.4, fill: colour, fillOpacity: (d) => 0.35 * faded(d), title: (d) => d.title }),
        Plot.tickX(systems, { y: "system", x: "rank", stroke: "var(--ink)", strokeWidth: 2, strokeOpacity: faded }),
      ],
    });
    node.append(element("div", { class: "beside" }, scores, ranks));
    const best = new Set(systems.map((d) => d.may_be_best));
    node.append(key([
      ...(best.has(true) ? [[ORANGE, "may be the best", "bar"]] : []), ...(best.has(false) ? [[BLUE, "other systems", "bar"]] : []),
      ["var(--ink)", "rank by score", "tick"],
    ]));
  });

  // From the lowest to the highest end of intervals, 0 and the margin among them.
  function extent(rows, margin) {
    const ends = rows.flatMap((d) => [d.gain, d.low, d.high]).filter((value) => value !== null);
    return [Math.min(0, -margin, ...ends), Math.max(0, margin, ...ends)];
  }

  // Scores, best first, and beside them a line for each group with a dot at every member.
  page.chart("groups", (node, { systems, groups }, settings, width) => {
    const names = systems.map((d) => d.system), n = names.length;
    const margin = Math.min(LETTER * Math.min(30, Math.max(...names.map((name) => name.length))) + 14, width * 0.42);
    const fitting = Math.floor((margin - 12) / LETTER), row = n > 40 ? 13 : 20;
    const lanes = Math.min(settings.lanes * 16 + 24, width * 0.45), scores = Math.min(420, width - margin - lanes);
    const common = { height: row * n + 54, marginTop: 8, marginBottom: 46 };
    const faded = (d) => (page.system === null || d.system === page.system ? 1 : 0.3);
    const lit = (d) => (page.system === null || d.members.split(" ").some((k) => names[k] === page.system) ? 1 : 0.2);
    const left = plot({
      ...common, width: Math.round(margin + scores), marginLeft: margin, marginRight: 12, ariaLabel: settings.label,
      x: { label: settings.x, nice: true, ticks: 5, grid: true, ...centred },
      y: { type: "point", padding: 0.5, domain: names, label: null, tickSize: 0, tickFormat: (name) => short(name, fitting) },
      marks: [Plot.dot(systems, { y: "system", x: "score", fill: "var(--ink)", r: row > 15 ? 4 : 3, fillOpacity: faded, title: (d) => `${d.system}: ${d.score}` })],
    });
    const middle = (k) => names[k];
    const right = plot({
      ...common, width: Math.round(lanes), marginLeft: 4, marginRight: 4, ariaLabel: "groups",
      x: { domain: [-0.7, Math.max(settings.lanes, 1) - 0.3], label: "groups", ticks: [], ...centred }, y: { domain: names, axis: null, type: "point", padding: 0.5 },
      marks: [
        Plot.link(groups, { x1: "lane", x2: "lane", y1: (d) => middle(d.first), y2: (d) => middle(d.last), stroke: (d) => COLOURS[d.group % 4], strokeWidth: 1.5, strokeOpacity: lit }),
        Plot.dot(groups.flatMap((d) => d.members.split(" ").map((k) => ({ ...d, k }))), { x: "lane", y: (d) => middle(d.k), r: row > 15 ? 4 : 3, fill: (d) => COLOURS[d.group % 4], fillOpacity: lit }),
      ],
    });
    node.append(element("div", { class: "beside whole" }, left, right));
  });

  // Gains with intervals, one below the other.
  page.chart("intervals", (node, { rows }, settings, width) => {
    const names = rows.map((_, k) => k);
    const label = Math.min(52, Math.max(...rows.map((d) => d.name.length)));
    const margin = Math.min(LETTER * label + 14, width * 0.5), fitting = Math.floor((margin - 12) / LETTER);
    const known = rows.map((d, k) => ({ ...d, k }));
    const colour = (d) => (d.marked ? BLUE : "var(--soft)");
    node.append(plot({
      width, height: 20 * rows.length + 60, marginTop: 8, marginLeft: margin, marginRight: 20, marginBottom: 46, ariaLabel: settings.label,
      x: { label: settings.x, domain: extent(known, settings.margin || 0), nice: true, grid: true, ticks: Math.max(3, Math.floor((width - margin) / 80)), ...centred },
      y: { domain: names, label: null, tickSize: 0, tickFormat: (k) => short(rows[k].name, fitting) },
      marks: [
        Plot.ruleX([0], REFERENCE),
        settings.margin ? Plot.ruleX([-settings.margin, settings.margin], { stroke: ORANGE, strokeDasharray: "2,3" }) : null,
        Plot.ruleY(known.filter((d) => d.low !== null), { y: "k", x1: "low", x2: "high", stroke: colour, strokeWidth: 1.6 }),
        Plot.dot(known, { y: "k", x: "gain", fill: colour, r: 4, title: (d) => `${d.name}: ${d.title}` }),
      ],
    }));
    const marked = new Set(rows.map((d) => d.marked));
    node.append(key([
      ...(marked.has(true) ? [[BLUE, settings.marked]] : []), ...(marked.has(false) ? [["var(--soft)", settings.others]] : []),
      ...(settings.margin ? [[ORANGE, `margin ${settings.margin}`, "line"]] : []),
    ]));
  });

  // p of every pair, a cell each; groups of systems that do not differ are lines at the right.
  page.chart("matrix", (node, { systems, pairs, groups }, settings, width) => {
    const n = systems.length, names = systems.map((d) => d.system);
    const label = Math.min(26, Math.max(...names.map((name) => name.length)));
    const lanes = settings.lanes;
    const margin = Math.min(LETTER * label + 14, width * 0.34), fitting = Math.floor((margin - 10) / LETTER);
    // Small cells have no names beside them; a narrow screen scrolls instead.
    const cell = Math.max(n <= 40 ? 11 : 6, Math.min(26, (width - margin - 16) / (n + lanes * 0.7 + 1.5)));
    const step = 0.7, end = n + 0.5 + lanes * step;
    const ticks = cell >= 11 ? names.map((_, k) => k) : [];
    const at = (k) => k + 0.5;
    const opacity = (d) => (ofSystem(d, page.system) ? 1 : 0.2);
    const shade = (d) => {
      const depth = d.significant ? Math.min(1, Math.log(settings.alpha / Math.max(d.p_value, 1e-4 * settings.alpha)) / Math.log(1e4)) : 0;
      return d.significant ? 0.4 + 0.6 * depth : 1;
    };
    const figure = plot({
      width: Math.round(margin + cell * end + 16), height: Math.round(cell * n + margin + 16), marginLeft: margin, marginTop: margin, marginRight: 12, marginBottom: 8,
      ariaLabel: settings.label,
      x: { domain: [0, end], axis: null }, y: { domain: [0, n], reverse: false, axis: null, range: [margin, margin + cell * n] },
      marks: [
        Plot.rect(pairs, { x1: (d) => d.column, x2: (d) => d.column + 1, y1: (d) => d.row, y2: (d) => d.row + 1, inset: cell > 8 ? 0.6 : 0.2,
          fill: (d) => (d.significant ? BLUE : "var(--none)"), fillOpacity: (d) => shade(d) * opacity(d) }),
        cell >= 22 ? Plot.text(pairs.filter((d) => d.p_value >= 0.001), { x: (d) => at(d.column), y: (d) => at(d.row), text: "p_short", fontSize: 9, fill: "var(--ink)", fillOpacity: opacity }) : null,
        Plot.link(groups, { x1: (d) => n + 0.6 + d.lane * step, x2: (d) => n + 0.6 + d.lane * step, y1: (d) => at(d.first), y2: (d) => at(d.last), stroke: (d) => COLOURS[d.group % 4], strokeWidth: 1.5 }),
        Plot.dot(groups.flatMap((d) => d.members.split(" ").map((k) => ({ ...d, k: Number(k) }))), { x: (d) => n + 0.6 + d.lane * step, y: (d) => at(d.k), r: Math.min(3.2, cell / 3), fill: (d) => COLOURS[d.group % 4] }),
        Plot.text(ticks, { x: 0, y: at, text: (k) => short(names[k], fitting), textAnchor: "end", dx: -6, fontWeight: (k) => (names[k] === page.system ? "bold" : "normal"), fontSize: Math.min(12, cell) }),
        Plot.text(ticks, { x: at, y: 0, text: (k) => short(names[k], fitting), textAnchor: "start", rotate: -90, dy: -6, fontWeight: (k) => (names[k] === page.system ? "bold" : "normal"), fontSize: Math.min(12, cell) }),
        Plot.rect(pairs, Plot.pointer({ x1: (d) => d.column, x2: (d) => d.column + 1, y1: (d) => d.row, y2: (d) => d.row + 1, px: (d) => at(d.column), py: (d) => at(d.row), stroke: "var(--ink)", strokeWidth: 2, fill: "none", maxRadius: cell })),
      ],
    });
    node.append(element("div", { class: "wide" }, figure));
    node.append(key([[BLUE, settings.significant, "bar"], ["var(--none)", "not significant", "bar"], ...(groups.length ? [["var(--ink)", settings.groups, "line"]] : [])]));
    tellPairs(node, figure, pairs, (d) => [at(d.column), at(d.row)]);
  });

  // Power, and the minimum detectable gain, by the number of items: lines with bands, side by side.
  page.chart("plan", (node, { power, gains, planned }, settings, width) => {
    const relations = [...new Set(gains.map((d) => d.relation))];
    const colour = new Map(relations.map((name, k) => [name, COLOURS[k % COLOURS.length]]));
    const of = (d) => colour.get(d.relation);
    const half = power.length && width > 680 ? Math.floor(width / 2) - 8 : width;
    const curve = (lines, y, marks) => plot({
      width: half, height: Math.min(360, Math.max(260, half * 0.62)), marginLeft: 56, marginRight: 28, y, ariaLabel: `${y.label} by the number of items`,
      x: { type: "log", label: "items", grid: true, ticks: Math.max(2, Math.floor(half / 120)), tickFormat: (d) => d.toLocaleString("en-US") },
      marks: [
        Plot.areaY(lines, { x: "n_items", y1: "low", y2: "high", z: "relation", fill: of, fillOpacity: 0.16 }),
        Plot.line(lines, { x: "n_items", y: "value", z: "relation", stroke: of, strokeWidth: 2 }),
        ...marks,
        Plot.tip(lines, Plot.pointer({ x: "n_items", y: "value", title: "title", fill: "var(--paper)", fontSize: 12 })),
      ],
    });
    const both = element("div", { class: "beside" });
    if (power.length) {
      both.append(curve(power, { label: settings.power_label, domain: [0, 1], tickFormat: (d) => `${Math.round(100 * d)} %`, grid: true }, [
        Plot.ruleY([settings.power], REFERENCE),
        Plot.dot(planned, { x: "n_items", y: () => settings.power, fill: of, r: 4.5 }),
        Plot.text(planned, { x: "n_items", y: () => settings.power, text: (d) => page.number(d.n_items), dx: 8, dy: 12, textAnchor: "start", fill: "var(--ink)" }),
      ]));
    }
    both.append(curve(gains, { type: "log", label: settings.gain_label, grid: true, ticks: 4, tickFormat: (d) => String(Number(d.toPrecision(3))) }, [
      Plot.dot(gains, { x: "n_items", y: "value", fill: of, r: 3 }),
    ]));
    node.append(both);
    if (relations.length > 1) node.append(key(relations.map((name) => [colour.get(name), name, "line"])));
  });

  function place(box) {
    const found = page.data.charts[box.dataset.chart];
    const draw = found && page.kinds[found.kind];
    if (!draw) return;
    const tables = Object.fromEntries(Object.entries(found.tables).map(([name, table]) => [name, page.rows(table)]));
    const node = element("div", { class: `chart ${found.kind}` });
    box.append(node);
    let width = 0;
    const again = () => {
      node.replaceChildren();
      // The picture stays where a browser cannot draw the chart.
      try {
        draw(node, tables, found.settings, Math.max(260, Math.floor(width)));
        box.classList.add("drawn");
      } catch (error) {
        node.replaceChildren();
        box.classList.remove("drawn");
        console.error(error);
      }
    };
    page.onSystem(again);
    new ResizeObserver(([entry]) => {
      if (Math.abs(entry.contentRect.width - width) < 2) return;
      width = entry.contentRect.width;
      again();
    }).observe(box);
  }

  page.widget(() => {
    for (const box of document.querySelectorAll("[data-chart]")) place(box);
  });
})();
