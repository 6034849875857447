"use strict";
// Smaller test sets: a slider over sizes that were computed beforehand, and what is still significant there.
(() => {
  const page = window.simstudyPage;
  const { element, number, drawing } = page;
  if (!drawing) return;
  const { Plot } = window;
  const { plot, short, key, centred } = drawing;
  const LETTER = 7;
  const HOLM = "var(--c0)", SINGLE = "var(--c2)", LOST = "var(--c1)", NEW = "var(--c3)", OTHER = "var(--c4)";
  // The size that the reader chose, whatever is drawn again.
  const chosen = new Map();
  const percent = (value) => `${Math.round(100 * value)} %`;

  // Sizes along the axis that have room for their numbers.
  function apart(sizes, width) {
    const kept = [];
    for (const size of [...sizes].sort((a, b) => b - a)) {
      if (!kept.length || Math.log(kept.at(-1) / size) > Math.log(sizes.at(-1) / sizes[0]) * (46 / width)) kept.push(size);
    }
    return kept;
  }

  const axis = (sizes, width) => ({
    type: "log", label: "first items of the test set", ...centred, ticks: apart(sizes.map((d) => d.n_items), width), tickFormat: (d) => number(d), grid: true,
  });

  function shares(sizes, at, width) {
    const lines = sizes.flatMap((d) => [
      { n: d.n_items, share: d.significant_holm / d.pairs, by: "Holm" },
      { n: d.n_items, share: d.significant / d.pairs, by: "not corrected" },
    ]);
    const colour = (d) => (d.by === "Holm" ? HOLM : SINGLE);
    return plot({
      width, height: 220, marginLeft: 46, marginRight: 20, marginBottom: 46, ariaLabel: "share of significant pairs by number of items",
      x: axis(sizes, width), y: { label: "significant pairs", domain: [0, 1], tickFormat: percent, grid: true, ticks: 5 },
      marks: [
        Plot.ruleX([sizes[at].n_items], { stroke: "var(--soft)", strokeDasharray: "4,3" }),
        Plot.line(lines, { x: "n", y: "share", z: "by", stroke: colour, strokeWidth: 1.8 }),
        Plot.dot(lines, { x: "n", y: "share", fill: colour, r: (d) => (d.n === sizes[at].n_items ? 5 : 3) }),
      ],
    });
  }

  function gains(sizes, at, width) {
    const colour = (d, k) => (k === at ? HOLM : "var(--soft)");
    return plot({
      width, height: 240, marginLeft: 46, marginRight: 20, marginBottom: 46, ariaLabel: "gain with its 95 % interval by number of items",
      x: axis(sizes, width), y: { label: "gain (95 % interval)", grid: true, nice: true },
      marks: [
        Plot.ruleY([0], { stroke: "var(--soft)", strokeDasharray: "4,3" }),
        Plot.ruleX(sizes.filter((d) => d.gain_low !== null), { x: "n_items", y1: "gain_low", y2: "gain_high", stroke: (d) => colour(d, sizes.indexOf(d)), strokeWidth: 1.8 }),
        Plot.dot(sizes, { x: "n_items", y: "gain", fill: colour, r: (d) => (d === sizes[at] ? 5 : 3.5) }),
      ],
    });
  }

  // Systems in the order of the whole, with their scores and ranks at this size, and what is significant of each pair.
  function matrix(systems, pairs, settings, at, width) {
    const n = systems.length, last = pairs.length ? pairs[0].at.length - 1 : 0;
    const score = (d) => d[`s${at}`];
    const sign = settings.lower ? 1 : -1;
    const order = systems.map((_, k) => k).sort((a, b) => sign * (score(systems[a]) - score(systems[b])));
    const rank = new Map(order.map((k, r) => [k, r + 1]));
    const told = systems.map((d, k) => `${score(d).toFixed(settings.decimals)}  ${rank.get(k) === k + 1 ? `#${k + 1}` : `#${k + 1} → #${rank.get(k)}`}`);
    const beside = LETTER * Math.max(...told.map((text) => text.length)) + 16;
    const margin = Math.min(LETTER * Math.max(...systems.map((d) => d.system.length)) + 14, width * 0.34);
    const cell = Math.max(4, Math.min(22, (width - margin - beside) / n));
    const fitting = Math.floor((margin - 10) / LETTER);
    const state = (d) => {
      const now = d.at[at], then = d.at[last];
      return now === "-" ? OTHER : now === "+" ? (then === "+" ? HOLM : NEW) : then === "+" ? LOST : "var(--none)";
    };
    const tall = Math.max(cell, 9.5);
    return plot({
      width: Math.round(margin + cell * n + beside), height: Math.round(tall * n + 16), marginLeft: margin, marginRight: beside, marginTop: 6, marginBottom: 8,
      ariaLabel: `what is significant of ${number(pairs.length)} pairs`,
      x: { domain: [0, n], axis: null }, y: { domain: [0, n], reverse: false, range: [6, 6 + tall * n], axis: null },
      marks: [
        Plot.rect(pairs, { x1: "a", x2: (d) => d.a + 1, y1: "b", y2: (d) => d.b + 1, fill: state, inset: 0.5,
          fillOpacity: (d) => (page.system === null || systems[d.a].system === page.system || systems[d.b].system === page.system ? 1 : 0.25) }),
        Plot.axisY(systems.map((_, k) => k + 0.5), { tickSize: 0, fontSize: Math.min(12, tall), tickFormat: (k) => short(systems[k - 0.5].system, fitting), label: null }),
        Plot.text(systems, { x: (_, k) => k, dx: 6, textAnchor: "start", y: (_, k) => k + 0.5, text: (_, k) => told[k], fontSize: Math.min(11.5, tall), fill: (_, k) => (rank.get(k) === k + 1 ? "var(--soft)" : "var(--ink)") }),
      ],
    });
  }

  function sentence(d, settings) {
    const first = `On the first ${d.label}`;
    if (settings.pair) {
      const interval = d.gain_low === null ? "" : ` (95 % interval ${d.gain_low.toFixed(2)} to ${d.gain_high.toFixed(2)})`;
      return `${first}: gain ${d.gain.toFixed(2)}${interval}, p ${d.p}; ${d.significant ? "significant" : "not significant"} at ${settings.alpha}.`;
    }
    const reach = d.reachable ? "" : " So few units cannot make any pair significant after this correction.";
    return `${first}: ${number(d.significant_holm)} of ${number(d.pairs)} pairs significant (Holm), ${number(d.significant)} without correction.${reach}`;
  }

  page.chart("sizes", (node, { sizes, pairs, systems }, settings, width) => {
    const last = sizes.length - 1;
    if (!chosen.has(settings)) chosen.set(settings, last);
    const drawn = element("div"), told = element("output", { class: "told" });
    const range = element("input", { type: "range", min: 0, max: last, step: 1 });
    const show = () => {
      const at = Number(range.value);
      chosen.set(settings, at);
      const text = sentence(sizes[at], settings);
      told.textContent = text;
      range.setAttribute("aria-valuetext", text);
      const parts = settings.pair ? [gains(sizes, at, width)] : [shares(sizes, at, Math.min(width, 620)), key([[HOLM, "Holm, for all pairs", "line"], [SINGLE, "not corrected", "line"]])];
      if (systems && systems.length > 2) {
        parts.push(matrix(systems, pairs, settings, at, width));
        parts.push(key([[HOLM, "significant"], [LOST, "significant on all items only"], [NEW, "significant on these items only"],
          [OTHER, "the other system is significantly better"], ["var(--none)", "not significant"]].map((entry) => [...entry, "bar"])));
        const rest = settings.left_out ? ` The first ${systems.length} systems are shown.` : "";
        parts.push(element("p", { class: "count" }, `At the right: score and rank on these items. An arrow leads from the rank on all items, if that is another one.${rest}`));
      }
      drawn.replaceChildren(...parts);
    };
    range.value = chosen.get(settings);
    range.addEventListener("input", show);
    node.append(element("label", { class: "slider" }, "Items ", range, ` ${number(sizes[0].n_items)} to ${number(sizes[last].n_items)}`), told, drawn);
    show();
  });
})();
