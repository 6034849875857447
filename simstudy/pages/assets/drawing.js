"use strict";
// What all charts share: an image with a name, its key, and names beside rows. No name is cut: it goes on in another line.
(() => {
  const page = window.simstudyPage;
  const { element } = page;
  const { Plot } = window;
  if (!Plot) return;
  // A label below the numbers of an axis.
  const centred = { labelAnchor: "center", labelArrow: "none", labelOffset: 38 };
  // Pixels of letters, from line to line, and between a name and the frame; lines of names beside rows, on average.
  const SIZE = 12, LINE = 13, GAP = 8, MOST_LINES = 5;
  // A name may go on in the next line after one of these, as in a terminal.
  const BREAKS = " _-/.:,;=|@";
  const letters = new Intl.Segmenter("en");
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `bold ${SIZE}px system-ui, sans-serif`;
  const widths = new Map();

  // The width of a letter in bold: a name that is looked at has no less room than the others.
  function widthOf(letter) {
    if (!widths.has(letter)) widths.set(letter, pen.measureText(letter).width);
    return widths.get(letter);
  }
  const lineWidth = (line, size) => ([...letters.segment(line)].reduce((sum, d) => sum + widthOf(d.segment), 0) * size) / SIZE;

  // A name in lines of at most so many pixels. They end at a space, or after a sign, unless they were much shorter then;
  // else anywhere.
  function folded(name, room, size = SIZE) {
    const lines = [];
    let rest = [...letters.segment(name)].map((d) => d.segment);
    while (rest.length) {
      let end = 1;
      for (let sum = widthOf(rest[0]); end < rest.length && ((sum += widthOf(rest[end])) * size) / SIZE <= room;) end++;
      if (end < rest.length) {
        for (const signs of [" ", BREAKS]) {
          const found = rest.slice(0, end).findLastIndex((letter) => signs.includes(letter));
          if (found + 1 > end / 3) { end = found + 1; break; }
        }
      }
      lines.push(rest.slice(0, end).join("").trimEnd());
      rest = rest.slice(end);
    }
    return lines;
  }

  // An image with a name; its parts have none for readers of screens. A long label of the x axis takes several lines.
  function plot({ width, height, x, marginLeft = 40, marginRight = 20, marginBottom = 30, ...options }) {
    const label = x.label ? folded(x.label, width - marginLeft - marginRight + 2 * Math.min(marginLeft, marginRight)) : [];
    const more = x.labelAnchor === "center" ? Math.max(0, label.length - 1) * SIZE : 0;
    const figure = Plot.plot({
      className: "plot", style: { fontSize: `${SIZE}px`, overflow: "visible" },
      width, height: height + more, marginLeft, marginRight, marginBottom: marginBottom + more,
      x: more ? { ...x, label: label.join("\n"), labelOffset: x.labelOffset + more } : x, ...options,
    });
    figure.setAttribute("role", "img");
    for (const part of figure.querySelectorAll("[aria-label]")) {
      part.dataset.mark = part.getAttribute("aria-description") || part.getAttribute("aria-label");
      for (const name of ["aria-label", "aria-description"]) part.removeAttribute(name);
    }
    return figure;
  }

  // Names of rows: row k goes from k to k + 1 on the scale y, and has its marks at k + 0.5. Names stand beside rows, in at
  // most `room` pixels, of which `margin` are needed; a row is as high as its name, at least `least` pixels. Names that
  // are too long for that stand above their rows, in `above` pixels; in a matrix, which has `numbers`, in a list below it.
  function rows(names, { room, least, above, top = GAP, numbers = false }) {
    const size = Math.min(SIZE, least), line = (LINE * size) / SIZE;
    const aside = GAP + (numbers ? lineWidth(String(names.length), size) + 6 : 0);
    const folding = (most) => (name) => {
      const fold = (part) => folded(part, most, size);
      // The two names of a pair begin lines of their own, unless one line holds both.
      return fold(name).length > 1 ? name.split(/(?<= – )/).flatMap(fold) : [name];
    };
    let lines = names.map(folding(room - aside));
    const long = lines.flat().length > MOST_LINES * lines.length, over = long && !numbers;
    if (over) lines = names.map(folding(above));
    const domain = [0], range = [top];
    lines.forEach((own, k) => {
      const high = long && numbers ? 0 : own.length > 1 || over ? own.length * line + 6 : 0, start = range.at(-1);
      const row = over ? high + least : Math.max(least, high);
      domain.push(k + 0.5, k + 1);
      range.push(start + (over ? high - 6 + least / 2 : row / 2), start + row);
    });
    const margin = over ? GAP : Math.ceil(aside + (long ? 0 : Math.max(...lines.flat().map((own) => lineWidth(own, size)))) + 4);
    const write = (text, ariaDescription, options) => Plot.text(names, {
      text, ariaDescription, frameAnchor: "left", textAnchor: "end", y: (_, k) => k + 0.5, fontSize: size, lineHeight: LINE / SIZE,
      fontWeight: (name) => (name === page.system ? "bold" : "normal"), ...options,
    });
    const place = over ? { y: (_, k) => k, textAnchor: "start", lineAnchor: "top", dx: 1 - margin, dy: 2, stroke: "var(--paper)", strokeWidth: 4, fill: "currentColor" } : { dx: -aside };
    return {
      margin, folded: long || lines.some((own) => own.length > 1), end: range.at(-1), y: { type: "linear", domain, range, label: null, axis: null },
      marks: [long && numbers ? null : write((_, k) => lines[k].join("\n"), "names", place), numbers ? write((_, k) => String(k + 1), "numbers", { dx: -GAP }) : null],
      list: long && numbers ? [element("ol", { class: "names" }, ...names.map((name) => element("li", {}, element("bdi", {}, name))))] : [],
    };
  }

  // Numbers above and below the columns of a matrix: all of them, or each fifth if columns are narrow.
  function columnNumbers(n, cell) {
    const every = cell < 1.4 * lineWidth(String(n), 10) ? 5 : 1;
    const kept = Array.from({ length: n }, (_, k) => k).filter((k) => (k + 1) % every === 0);
    return [["top", -GAP], ["bottom", GAP]].map(([frameAnchor, dy]) => Plot.text(kept, {
      x: (k) => k + 0.5, frameAnchor, dy, text: (k) => String(k + 1), fontSize: 10, fill: "var(--soft)", ariaDescription: "columns",
    }));
  }

  function key(entries) {
    return element("ul", { class: "key" }, ...entries.map(([colour, text, shape = "dot"]) => {
      const mark = element("span", { class: `mark ${shape}` });
      mark.style.setProperty("--own", colour);
      return element("li", {}, mark, element("bdi", {}, text));
    }));
  }

  page.drawing = { plot, rows, columnNumbers, key, centred };
})();
