// The planning calculator: the closed forms of simstudy.planning for accuracy and for means, in plain JavaScript.
// tests/browser/test_calculator.py holds its answers against simstudy.plan.
"use strict";

const simstudyPlan = (() => {
  const MOST_ITEMS = 10_000_000;
  // As in simstudy/planning: outcomes are summed up to so many discordant items; nodes over the standard error.
  const EXACT = 5000, ALL = 64, NODES = 200, DIP = 0.005, DIPS = 60, MANY_FLIPS = 1000;

  // Distributions.

  const LANCZOS = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];

  function logGamma(x) {
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
    let sum = LANCZOS[0];
    for (let i = 1; i < 9; i++) sum += LANCZOS[i] / (x - 1 + i);
    const t = x + 6.5;
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
  }

  // Below x, of a gamma variable of shape a: by its series, or by Lentz's continued fraction of what is above.
  function gammaBelow(a, x) {
    if (x <= 0) return 0;
    const front = Math.exp(a * Math.log(x) - x - logGamma(a));
    if (x < a + 1) {
      let term = 1 / a, sum = term;
      for (let n = 1; term > sum * 1e-16; n++) sum += term *= x / (a + n);
      return front * sum;
    }
    return 1 - front * gammaFraction(a, x);
  }

  function gammaFraction(a, x) {
    let b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (let i = 1; i < 100000; i++) {
      const an = -i * (i - a);
      b += 2;
      d = 1 / (an * d + b);
      c = b + an / c;
      h *= d * c;
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return h;
  }

  function normalBelow(z) {
    const half = (z * z) / 2;
    const tail = half < 1.5 ? 0.5 * (1 - gammaBelow(0.5, half))
      : 0.5 * Math.exp(0.5 * Math.log(half) - half - logGamma(0.5)) * gammaFraction(0.5, half);
    return z < 0 ? tail : 1 - tail;
  }

  // The value that a standard normal is below with this probability: Newton's steps, on the tail's logarithm.
  function normalQuantile(p) {
    if (p > 0.5) return -normalQuantile(1 - p);
    let z = p < 0.1 ? -Math.sqrt(-2 * Math.log(p)) : 0;
    for (let i = 0; i < 100; i++) {
      const below = normalBelow(z), density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
      const step = (Math.log(below / p) * below) / density;
      z -= step;
      if (Math.abs(step) < 1e-13) break;
    }
    return z;
  }

  function betaBelow(a, b, x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
    return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
  }

  function betaFraction(a, b, x) {
    let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1)), h = d;
    for (let m = 1; m < 100000; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / (1 + even * d);
      c = 1 + even / c;
      h *= d * c;
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / (1 + odd * d);
      c = 1 + odd / c;
      h *= d * c;
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return h;
  }

  // Of `of` fair or unfair coins at least so many.
  function atLeast(least, of, share) {
    if (least <= 0) return 1;
    return least > of ? 0 : betaBelow(least, of - least + 1, share);
  }

  // The value that Student's t is above with this probability.
  function tCut(tail, df) {
    if (tail <= 0) return Infinity;
    const z = -normalQuantile(tail);
    if (df > 1000) return z + (z ** 3 + z) / (4 * df) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df * df);
    let low = 0, high = 1;
    const above = (t) => betaBelow(df / 2, 0.5, df / (df + t * t)) / 2;
    while (above(high) > tail) high *= 2;
    for (let i = 0; i < 200 && high - low > 1e-13 * high; i++) {
      const middle = (low + high) / 2;
      if (above(middle) > tail) low = middle;
      else high = middle;
    }
    return high;
  }

  // The estimated standard error over the true one, at equally likely places.
  const nodesKnown = new Map();
  function chiNodes(df) {
    if (!nodesKnown.has(df)) {
      if (nodesKnown.size > 500) nodesKnown.clear();
      const nodes = [];
      for (let i = 0; i < NODES; i++) nodes.push(Math.sqrt(chiSquareQuantile((i + 0.5) / NODES, df) / df));
      nodesKnown.set(df, nodes);
    }
    return nodesKnown.get(df);
  }

  function chiSquareQuantile(p, df) {
    const z = normalQuantile(p);
    if (df > 400) {
      const root = Math.sqrt(2 * df);
      return df + z * root + (2 / 3) * (z * z - 1) + (z ** 3 - 7 * z) / (9 * root)
        - (6 * z ** 4 + 14 * z * z - 32) / (405 * df) + (9 * z ** 5 + 256 * z ** 3 - 433 * z) / (4860 * df * root);
    }
    const a = df / 2;
    let low = 0, high = Math.max(1, a);
    while (gammaBelow(a, high) < p) high *= 2;
    let x = Math.min(high, Math.max(1e-12, a * Math.max(1e-4, 1 - 1 / (9 * a) + z / (3 * Math.sqrt(a))) ** 3));
    for (let i = 0; i < 200; i++) {
      const off = gammaBelow(a, x) - p;
      if (off > 0) high = x;
      else low = x;
      const next = x - off / Math.exp((a - 1) * Math.log(x) - x - logGamma(a));
      const inside = next > low && next < high ? next : (low + high) / 2;
      if (Math.abs(inside - x) < 1e-13 * x) break;
      x = inside;
    }
    return 2 * x;
  }

  // The test.

  function levelOf(question) {
    const tail = question.alpha / question.comparisons / (question.alternative === "two-sided" ? 2 : 1);
    const attainable = (n) => {
      const outcomes = tail * 2 ** Math.min(n, 1000);
      return n >= 1000 || outcomes > MANY_FLIPS ? tail : Math.floor(outcomes) / 2 ** n;
    };
    return { tail, attainable };
  }

  // Right and wrong answers: McNemar's exact test of the discordant items.
  function answersDiffer(disagreement, largest, level) {
    const z = -normalQuantile(level.tail), needed = [];

    // The least wins among so many discordant items that fair coins have with the tail's probability at most.
    function leastWins(of) {
      if (needed[of] === undefined) {
        let least = Math.max(0, Math.floor(of / 2 + (z * Math.sqrt(of)) / 2));
        while (atLeast(least, of, 0.5) > level.tail) least++;
        while (least > 0 && atLeast(least - 1, of, 0.5) <= level.tail) least--;
        needed[of] = least;
      }
      return needed[of];
    }

    function power(gain, n) {
      const share = gain / 100;
      if (n * disagreement > EXACT) {
        const cut = z * Math.sqrt(disagreement / n), spread = Math.sqrt((disagreement - share * share) / n);
        return normalBelow((share - cut) / spread);
      }
      const reach = 6.5 * Math.sqrt(n * disagreement * (1 - disagreement)) + 25;
      const first = n <= ALL ? 0 : Math.max(0, Math.trunc(n * disagreement - reach));
      const last = n <= ALL ? n : Math.min(n, Math.trunc(n * disagreement + reach));
      const better = Math.min((1 + share / disagreement) / 2, 1), ways = logGamma(n + 1);
      let sum = 0;
      for (let d = first; d <= last; d++) {
        const log = ways - logGamma(d + 1) - logGamma(n - d + 1) + xLog(d, disagreement) + xLog(n - d, 1 - disagreement);
        sum += Math.exp(log) * atLeast(leastWins(d), d, better);
      }
      return Math.min(sum, 1);
    }

    return { power, largest, sd: 100 * Math.sqrt(disagreement) };
  }

  const xLog = (x, y) => (x === 0 ? 0 : x * Math.log(y));

  // Scores whose difference on an item has this standard deviation: sign flips, as the t test at a level that they have.
  function scoresDiffer(sd, level) {
    function power(gain, n) {
      const tail = level.attainable(n);
      if (tail === 0) return 0;
      if (tail === 0.5 ** n) return normalBelow(gain / sd) ** n;
      const df = Math.max(n - 1, 1), cut = tCut(tail, df), shift = (gain * Math.sqrt(n)) / sd;
      let sum = 0;
      for (const node of chiNodes(df)) sum += normalBelow(shift - cut * node);
      return sum / NODES;
    }
    return { power, largest: Infinity, sd };
  }

  // Solving.

  function leastSize(powerAt, wanted) {
    const power = wanted - 1e-12;
    let low = 1, high = 2;
    while (powerAt(high) < power) {
      if (high === MOST_ITEMS) return null;
      low = high;
      high = Math.min(2 * high, MOST_ITEMS);
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (powerAt(middle) >= power) high = middle;
      else low = middle;
    }
    // Power goes up in steps: the last dip, of so many sizes just above, by more than is promised.
    for (let i = DIPS - 1; i >= 0; i--) {
      const n = Math.floor(high + ((0.05 * high + 20) * i) / (DIPS - 1));
      if (powerAt(n) < power - DIP) return n + 1;
    }
    return high;
  }

  function detectable(differ, n, power, level) {
    if (level.attainable(n) === 0) return null;
    const guess = ((tCut(level.tail, Math.max(n - 1, 1)) + normalQuantile(power)) * differ.sd) / Math.sqrt(n);
    let low = 0, high = Math.min(differ.largest, 1.1 * guess);
    while (high < differ.largest && differ.power(high, n) < power) {
      low = high;
      high = Math.min(1.5 * high, differ.largest);
    }
    if (differ.power(high, n) < power) return null;
    for (let i = 0; i < 100 && high - low > 1e-7 * high; i++) {
      const middle = (low + high) / 2;
      if (differ.power(middle, n) < power) low = middle;
      else high = middle;
    }
    return high;
  }

  function check(holds, message) {
    if (!holds) throw new RangeError(message);
  }

  function differenceOf(question, gain, level) {
    if (question.metric === "accuracy") {
      const { score, agreement } = question;
      check(score >= 0 && score <= 100, `score must be from 0 to 100, not ${score}`);
      check(score + gain <= 100, `gain must be at most ${100 - score} where the score is ${score} %, not ${gain}`);
      const worse = score / 100, better = (score + gain) / 100;
      const low = 1 - Math.min(worse + better, 2 - worse - better), high = 1 - (better - worse);
      const range = `agreement must be from ${+low.toFixed(6)} to ${+high.toFixed(6)}, not ${agreement}`;
      check(agreement >= low - 1e-12 && agreement <= high + 1e-12, range);
      check(agreement < 1, `agreement must be below 1, not ${agreement}`);
      const disagreement = 1 - agreement;
      const most = Math.max(2 * (100 - score) - 100 * disagreement, gain);
      return answersDiffer(disagreement, Math.min(100 * disagreement, most), level);
    }
    const { sd } = question;
    check(sd > 0 && sd < Infinity, `standard deviation must be above 0, not ${sd}`);
    return scoresDiffer(sd, level);
  }

  function checked(question) {
    const { alpha, power, comparisons } = question;
    check(alpha > 0 && alpha < 1, `alpha must be above 0 and below 1, not ${alpha}`);
    check(Number.isInteger(comparisons) && comparisons >= 1, `comparisons must be a whole number from 1 on, not ${comparisons}`);
    const level = levelOf(question);
    check(power > level.tail && power < 1, `power must be above ${level.tail} and below 1, not ${power}`);
    return level;
  }

  // How many items detect a true gain, and which true gain so many items detect (null: no number).
  function items(question) {
    const level = checked(question), { gain } = question;
    check(gain > 0, `gain must be above 0, not ${gain}`);
    const differ = differenceOf(question, gain, level);
    return leastSize((n) => differ.power(gain, n), question.power);
  }

  function minimumDetectableGain(question) {
    const level = checked(question), n = question.items;
    check(Number.isInteger(n) && n >= 2 && n <= MOST_ITEMS, `items must be a whole number from 2 to ${MOST_ITEMS}, not ${n}`);
    return detectable(differenceOf(question, 0, level), n, question.power, level);
  }

  return { items, minimumDetectableGain };
})();

if (typeof module !== "undefined") module.exports = simstudyPlan;

// The form.

if (typeof document !== "undefined") {
  const FIELDS = [
    ["metric", "Metric", "select", ["accuracy", "mean"]],
    ["score", "Score of the worse system, %", "number", 80],
    ["agreement", "Share of items on which both are right or both are wrong", "number", 0.9],
    ["sd", "Standard deviation of the two systems' difference on one item", "number", 0.3],
    ["ask", "Question", "select", ["items for a gain", "gain for a number of items"]],
    ["gain", "True gain to detect (points; on the metric's scale for means)", "number", 1],
    ["items", "Number of items", "number", 1000],
    ["power", "Power", "number", 0.8],
    ["alpha", "Level alpha", "number", 0.05],
    ["alternative", "Test", "select", ["two-sided", "greater"]],
    ["comparisons", "Comparisons that share the level", "number", 1],
  ];

  const readForm = (form) => {
    const question = {};
    for (const [name, , kind] of FIELDS) question[name] = kind === "number" ? Number(form[name].value || NaN) : form[name].value;
    return question;
  };

  const inWords = (question) => {
    const points = question.metric === "accuracy" ? ` point${question.gain === 1 ? "" : "s"} of accuracy` : " of the mean";
    if (question.ask === "items for a gain") {
      const n = simstudyPlan.items(question);
      return n === null
        ? `No test set of up to 10,000,000 items detects a true gain of ${question.gain}${points} with power ${question.power}.`
        : `You need ${n.toLocaleString("en")} items to detect a true gain of ${question.gain}${points} with power ${question.power}.`;
    }
    const gain = simstudyPlan.minimumDetectableGain(question);
    const of = question.metric === "accuracy" ? " points of accuracy" : " of the mean";
    return gain === null
      ? `With ${question.items.toLocaleString("en")} items, no true gain is detected with power ${question.power}.`
      : `With ${question.items.toLocaleString("en")} items, you detect a true gain of ${gain.toPrecision(3)}${of} with power ${question.power}.`;
  };

  const build = (place) => {
    const form = document.createElement("form");
    for (const [name, text, kind, value] of FIELDS) {
      const label = document.createElement("label");
      const input = document.createElement(kind === "select" ? "select" : "input");
      label.append(text, input);
      label.dataset.field = name;
      input.name = name;
      if (kind === "select") for (const one of value) input.append(new Option(one));
      else Object.assign(input, { type: "number", step: "any", value });
      form.append(label);
    }
    const answer = document.createElement("output");
    answer.setAttribute("aria-live", "polite");
    const update = () => {
      const question = readForm(form), accuracy = question.metric === "accuracy";
      const shown = { score: accuracy, agreement: accuracy, sd: !accuracy, gain: question.ask === "items for a gain" };
      shown.items = !shown.gain;
      for (const label of form.querySelectorAll("label")) label.hidden = shown[label.dataset.field] === false;
      try {
        answer.textContent = inWords(question);
        answer.className = "";
      } catch (error) {
        answer.textContent = error.message;
        answer.className = "error";
      }
    };
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    place.replaceChildren(form, answer);
    update();
  };

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".planning-calculator").forEach(build));
}
