"use strict";
// Charts in the places of pictures: drawn by Observable Plot from the page's data, again whenever a system is chosen.
(() => {
  const page = window.simstudyPage;
  const { element, drawing } = page;
  if (!drawing) return;
  const { Plot } = window;
  const { plot, rows, columnNumbers, key, centred } = drawing;
  const COLOURS = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)"];
  const BLUE = "var(--c0)", ORANGE = "var(--c1)", REFERENCE = { stroke: "var(--soft)", strokeDasharray: "4,3" };
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
        // The ring around the pair that the pointer is at is that of the keyboard.
        Plot.dot(lit, Plot.pointer({ x: "gain", y: "confidence", stroke: "none", maxRadius: 30 })),
      ],
    });
    node.append(figure);
    if (relations.length > 1) node.append(key(relations.map((name) => [colour.get(name), name])));
    tellPairs(node, figure, lit, (d) => [d.gain, d.confidence]);
  });

  // What the pointer is at is named below; the arrow keys go from point to point; a click chooses a system.
  function tellPairs(node, figure, pairs, place) {
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
      if (!d) return ring.remove();
      tip.replaceChildren(...pairText(d).map((text) => element("div", {}, text)));
      const box = figure.getBoundingClientRect(), own = node.getBoundingClientRect();
      const scale = box.width / figure.viewBox.baseVal.width;
      const [x, y] = place(d).map((value, k) => scales[k].apply(value));
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      figure.append(ring);
      const left = x * scale + box.left - own.left;
      tip.style.left = `${Math.max(0, Math.min(left + 12, own.width - tip.offsetWidth))}px`;
      tip.style.top = `${y * scale + box.top - own.top + (y > 110 ? -tip.offsetHeight - 8 : 14)}px`;
    };
    figure.addEventListener("input", () => show(figure.value));
    figure.addEventListener("click", () => { if (figure.value) page.select(page.system === figure.value.a ? figure.value.b : figure.value.a); });
    figure.setAttribute("tabindex", "0");
    figure.addEventListener("blur", () => show(null));
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && at >= 0) return page.select(pairs[at].a);
      if (event.key === "Escape") { at = -1; return show(null); }
      if (!step || !pairs.length) return;
      event.preventDefault();
      at = (at + step + pairs.length) % pairs.length;
      show(pairs[at]);
    });
  }

  // Scores with intervals, and beside them the confidence sets of ranks.
  page.chart("leaderboard", (node, { systems }, settings, width) => {
    const narrow = width < 620;
    const least = systems.length > 40 ? 13 : 20, bar = 0.7 * least;
    const named = rows(systems.map((d) => d.system), { room: width * 0.42, least, above: width * (narrow ? 1 : 0.46) });
    const colour = (d) => (d.may_be_best ? ORANGE : BLUE);
    const faded = (d) => (page.system === null || d.system === page.system ? 1 : 0.3);
    const left = narrow ? width : Math.round((width - named.margin) * 0.46 + named.margin), right = narrow ? width : width - left;
    const common = { height: named.end + 46, marginTop: 8, marginBottom: 46, y: named.y };
    const scores = plot({
      ...common, width: left, marginLeft: named.margin, marginRight: 16, ariaLabel: `${settings.x} of each system with its interval`,
      x: { label: settings.x, nice: true, ticks: 5, grid: true, ...centred },
      marks: [
        Plot.ruleY(systems, { y: middle, x1: "low", x2: "high", stroke: colour, strokeWidth: 1.6, strokeOpacity: faded }),
        Plot.dot(systems, { y: middle, x: "score", fill: colour, r: least > 15 ? 4 : 3, fillOpacity: faded, title: (d) => d.title }),
        ...named.marks,
      ],
    });
    const ranks = plot({
      ...common, width: right, marginLeft: narrow ? named.margin : 12, marginRight: 16, ariaLabel: "confidence set for the rank of each system",
      x: { label: settings.ranks, domain: [0.4, settings.furthest + 0.6], ticks: Math.min(settings.furthest, 8), tickFormat: (d) => (Number.isInteger(d) ? String(d) : ""), grid: true, ...centred },
      marks: [
        Plot.ruleY(systems, { y: middle, x1: (d) => d.rank_low - 0.4, x2: (d) => d.rank_high + 0.4, stroke: colour, strokeWidth: bar, strokeOpacity: (d) => 0.35 * faded(d), title: (d) => d.title }),
        Plot.ruleX(systems, { x: "rank", y1: middle, y2: middle, inset: -bar / 2, stroke: "var(--ink)", strokeWidth: 2, strokeOpacity: faded }),
        ...(narrow ? named.marks : []),
      ],
    });
    node.append(element("div", { class: "beside" }, scores, ranks));
    const best = new Set(systems.map((d) => d.may_be_best));
    node.append(key([
      ...(best.has(true) ? [[ORANGE, "may be the best", "bar"]] : []), ...(best.has(false) ? [[BLUE, "other systems", "bar"]] : []),
      ["var(--ink)", "rank by score", "tick"],
    ]));
  });

  // The middle of a row.
  const middle = (_, k) => k + 0.5;

  // A line for each group, with a dot at every member.
  const membersOf = (d) => d.members.split(" ").map(Number);
  function groupLines(groups, lane, r, lit = () => 1) {
    const colour = (d) => COLOURS[d.group % 4];
    return [
      Plot.link(groups, { x1: lane, x2: lane, y1: (d) => d.first + 0.5, y2: (d) => d.last + 0.5, stroke: colour, strokeWidth: 1.5, strokeOpacity: lit }),
      Plot.dot(groups.flatMap((d) => membersOf(d).map((k) => ({ ...d, k }))), { x: lane, y: (d) => d.k + 0.5, r, fill: colour, fillOpacity: lit }),
    ];
  }

  // From the lowest to the highest end of intervals, 0 and the margin among them.
  function extent(gains, margin) {
    const ends = gains.flatMap((d) => [d.gain, d.low, d.high]).filter((value) => value !== null);
    return [Math.min(0, -margin, ...ends), Math.max(0, margin, ...ends)];
  }

  // Scores, best first, and beside them a line for each group with a dot at every member.
  page.chart("groups", (node, { systems, groups }, settings, width) => {
    const least = systems.length > 40 ? 13 : 20, r = least > 15 ? 4 : 3;
    const lanes = Math.min(settings.lanes * 16 + 24, width * 0.45);
    const named = rows(systems.map((d) => d.system), { room: width * 0.42, least, above: width - lanes });
    const scores = Math.min(420, width - named.margin - lanes);
    const common = { height: named.end + 46, marginTop: 8, marginBottom: 46, y: named.y };
    const faded = (d) => (page.system === null || d.system === page.system ? 1 : 0.3);
    const lit = (d) => (page.system === null || membersOf(d).some((k) => systems[k].system === page.system) ? 1 : 0.2);
    const left = plot({
      ...common, width: Math.round(named.margin + scores), marginLeft: named.margin, marginRight: 12, ariaLabel: settings.label,
      x: { label: settings.x, nice: true, ticks: 5, grid: true, ...centred },
      marks: [
        Plot.dot(systems, { y: middle, x: "score", fill: "var(--ink)", r, fillOpacity: faded, title: (d) => `${d.system}: ${d.score}` }),
        ...named.marks,
      ],
    });
    const right = plot({
      ...common, width: Math.round(lanes), marginLeft: 4, marginRight: 4, ariaLabel: "groups",
      x: { domain: [-0.7, Math.max(settings.lanes, 1) - 0.3], label: "groups", ticks: [], ...centred },
      marks: groupLines(groups, (d) => d.lane, r, lit),
    });
    node.append(element("div", { class: "beside whole" }, left, right));
  });

  // Gains with intervals, one below the other.
  page.chart("intervals", (node, { rows: gains }, settings, width) => {
    const named = rows(gains.map((d) => d.name), { room: width * 0.5, least: 20, above: width });
    const colour = (d) => (d.marked ? BLUE : "var(--soft)");
    node.append(plot({
      width, height: named.end + 52, marginTop: 8, marginLeft: named.margin, marginRight: 20, marginBottom: 46, ariaLabel: settings.label, y: named.y,
      x: { label: settings.x, domain: extent(gains, settings.margin || 0), nice: true, grid: true, ticks: Math.max(3, Math.floor((width - named.margin) / 80)), ...centred },
      marks: [
        Plot.ruleX([0], REFERENCE),
        settings.margin ? Plot.ruleX([-settings.margin, settings.margin], { stroke: ORANGE, strokeDasharray: "2,3" }) : null,
        Plot.ruleY(gains, { y: middle, x1: "low", x2: "high", stroke: colour, strokeWidth: 1.6 }),
        Plot.dot(gains, { y: middle, x: "gain", fill: colour, r: 4, title: (d) => `${d.name}: ${d.title}` }),
        ...named.marks,
      ],
    }));
    const marked = new Set(gains.map((d) => d.marked));
    node.append(key([
      ...(marked.has(true) ? [[BLUE, settings.marked]] : []), ...(marked.has(false) ? [["var(--soft)", settings.others]] : []),
      ...(settings.margin ? [[ORANGE, `margin ${settings.margin}`, "line"]] : []),
    ]));
  });

  // p of every pair, a cell each; groups of systems that do not differ are lines at the right.
  page.chart("matrix", (node, { systems, pairs, groups }, settings, width) => {
    const n = systems.length, names = systems.map((d) => d.system);
    const { lanes } = settings, step = 0.7, end = n + 0.5 + lanes * step;
    const cellBeside = (margin) => Math.max(n <= 40 ? 11 : 6, Math.min(26, (width - margin - 16) / (n + lanes * step + 1.5)));
    // Names that have room in one line stand beside rows and above columns; else columns have the numbers of the rows.
    let named = rows(names, { room: width * 0.34, least: 12, numbers: true });
    const numbers = named.folded || cellBeside(named.margin) < 11, top = numbers ? 24 : named.margin;
    const cell = cellBeside(named.margin);
    named = rows(names, { room: width * 0.34, least: Math.max(cell, 12), top, numbers });
    const { margin } = named;
    const at = (k) => k + 0.5;
    const opacity = (d) => (ofSystem(d, page.system) ? 1 : 0.2);
    const shade = (d) => {
      const depth = d.significant ? Math.min(1, Math.log(settings.alpha / Math.max(d.p_value, 1e-4 * settings.alpha)) / Math.log(1e4)) : 0;
      return d.significant ? 0.4 + 0.6 * depth : 1;
    };
    const figure = plot({
      width: Math.round(margin + cell * end + 16), height: Math.round(named.end + 20), marginLeft: margin, marginTop: top, marginRight: 12, marginBottom: 20,
      ariaLabel: settings.label, x: { domain: [0, end], axis: null }, y: named.y,
      marks: [
        Plot.rect(pairs, { x1: (d) => d.column, x2: (d) => d.column + 1, y1: (d) => d.row, y2: (d) => d.row + 1, inset: cell > 8 ? 0.6 : 0.2,
          fill: (d) => (d.significant ? BLUE : "var(--none)"), fillOpacity: (d) => shade(d) * opacity(d) }),
        cell >= 22 ? Plot.text(pairs.filter((d) => d.p_value >= 0.001), { x: (d) => at(d.column), y: (d) => at(d.row), text: "p_short", fontSize: 9, fill: "var(--ink)", fillOpacity: opacity }) : null,
        ...groupLines(groups, (d) => n + 0.6 + d.lane * step, Math.min(3.2, cell / 3)),
        ...named.marks,
        ...(numbers ? columnNumbers(n, cell) : [Plot.text(names, { x: (_, k) => at(k), frameAnchor: "top", text: (name) => name, textAnchor: "start", rotate: -90, dy: -6,
          fontWeight: (name) => (name === page.system ? "bold" : "normal"), fontSize: Math.min(12, cell), ariaDescription: "columns" })]),
      ],
    });
    // What the pointer is in, not what is closest: cells are high beside a name of several lines.
    const cells = new Map(pairs.map((d) => [`${d.column} ${d.row}`, d]));
    const point = (event) => {
      const box = figure.getBoundingClientRect(), scale = figure.viewBox.baseVal.width / box.width;
      const [column, row] = [["x", event.clientX - box.left], ["y", event.clientY - box.top]].map(([name, pixels]) => Math.floor(figure.scale(name).invert(pixels * scale)));
      figure.value = cells.get(`${column} ${row}`) || null;
      figure.dispatchEvent(new Event("input"));
    };
    figure.addEventListener("pointermove", point);
    figure.addEventListener("pointerleave", point);
    node.append(element("div", { class: "wide" }, figure), ...named.list);
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
      width: half, height: Math.min(360, Math.max(260, half * 0.62)), marginLeft: 56, marginRight: 28, y, ariaLabel: `${y.label} by the number of ${settings.items}`,
      x: { type: "log", label: settings.items, grid: true, ticks: Math.max(2, Math.floor(half / 120)), tickFormat: (d) => d.toLocaleString("en-US") },
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
