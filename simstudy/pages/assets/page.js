"use strict";
// What all scripts of a page share: its data, the system that is looked at, and small parts of a page.
// Names are text: they become nodes of text and never markup.
window.simstudyPage = (() => {
  const data = JSON.parse(document.getElementById("simstudy-data").textContent);
  const listeners = [];
  const kinds = {};
  const widgets = [];
  let system = null;

  // A column as a list: repeated texts are there once.
  function column(encoded) {
    return Array.isArray(encoded) ? encoded : encoded.at.map((k) => encoded.of[k]);
  }

  // A table of a chart as a list of rows.
  function rows(table) {
    const names = Object.keys(table);
    const columns = names.map((name) => column(table[name]));
    const n = columns.length ? columns[0].length : 0;
    return Array.from({ length: n }, (_, i) => Object.fromEntries(names.map((name, k) => [name, columns[k][i]])));
  }

  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  // Look at one system, or at none; everything that knows of it follows.
  function select(name) {
    system = name === system ? null : name;
    for (const listener of listeners) listener(system);
  }

  // A box to select a system in, beside a chart or a table of pairs.
  function chooser(names) {
    const box = element("select", { onchange: () => select(box.value || null) });
    box.append(element("option", { value: "" }, "all systems"));
    for (const name of names) box.append(element("option", { value: name }, name));
    listeners.push((name) => { box.value = names.includes(name) ? name : ""; });
    return element("label", {}, "Pairs of ", box);
  }

  const number = (value) => value.toLocaleString("en-US");

  return {
    data, column, rows, element, select, chooser, number, kinds, widgets,
    get system() { return system; },
    // Call this with the system's name, or null, whenever another one is looked at.
    onSystem: (listener) => listeners.push(listener),
    // Name a way to draw: draw(node, rows by table, settings, width) fills the node.
    chart: (kind, draw) => { kinds[kind] = draw; },
    // A function that is called once when all scripts are there.
    widget: (start) => widgets.push(start),
  };
})();

document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("scripts");
  for (const start of window.simstudyPage.widgets) start();
});
