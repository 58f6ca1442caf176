// Rows open and close. Lanes keep their places, so that only heights change; what a closed row hides
// hangs on that row.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");
const space = "http://www.w3.org/2000/svg";
main.innerHTML = data.svg;
const svg = main.querySelector("svg");
const [lanes, panels, foot] = [".lanes", ".panels", ".foot"].map(name => svg.querySelector(name));
const shown = [...svg.querySelectorAll("[data-row]")];
const opened = data.rows.map(row => row.open);
const MOST_PORTS = 2, ROW = 25, GAP = 6, OFF = 2.5, CORNER = 9, HALO = 4.8;

function make(name, attributes, parent) {
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

// The numbers of lines that end in ports; each leads to the rows where its line goes on.
function drawPorts(stands, middle) {
  const ends = new Map();
  for (const [source, target, number, width, tone] of data.ports) {
    const from = stands[source], to = stands[target];
    if (from === to) continue;
    for (const [at, other] of [[from, to], [to, from]]) {
      const known = ends.get(at) ?? ends.set(at, {numbers: new Map(), width, tone}).get(at);
      known.numbers.set(number, [...known.numbers.get(number) ?? [], other]);
    }
  }
  for (const [at, {numbers, width, tone}] of ends) {
    make("path", {
      class: tone, style: `stroke-width:${Math.min(width, 3)}px`,
      d: `M${data.port - 2} ${middle[at]}H${data.places[at]}`,
    }, lanes);
    const text = make("text", {
      x: data.port, y: middle[at] + 3.6, style: "font-size:10px",
    }, lanes);
    const sorted = [...numbers].sort(([one], [other]) => one - other);
    for (const [number, others] of sorted.slice(0, MOST_PORTS)) {
      if (text.textContent) text.append(",");
      const link = make("a", {class: "port", href: "#", "aria-label": `line ${number}`}, text);
      link.textContent = number;
      link.addEventListener("click", event => {
        event.preventDefault();
        const below = others.filter(other => other > at).sort((a, b) => a - b);
        visit(below[0] ?? Math.min(...others));
      });
    }
    if (sorted.length > MOST_PORTS) text.append("…");
  }
}

function visit(row) {
  for (const element of shown) {
    const is = Number(element.dataset.row) === row && !element.hasAttribute("hidden");
    element.classList.toggle("visited", is);
    if (is) element.scrollIntoView({block: "center"});
  }
}

function closedAbove(row) {
  let found = row;
  for (let at = row; at >= 0; at = data.rows[at].header) {
    if (data.rows[at].folds && !opened[at]) found = at;
  }
  return found;
}

function course(x1, y1, x2, y2, lane) {
  if (lane === x1 && lane === x2) return `M${x1} ${y1}V${y2}`;
  const below = y1 + OFF, above = y2 - OFF, deep = Math.max(0, (above - below) / 2);
  let path = `M${x1} ${lane === x1 ? y1 : below}`;
  if (lane !== x1) {
    const corner = Math.min(CORNER, Math.abs(lane - x1), deep);
    path += `H${lane > x1 ? lane - corner : lane + corner}Q${lane} ${below} ${lane} ${below + corner}`;
  }
  if (lane === x2) return `${path}V${y2}`;
  const corner = Math.min(CORNER, Math.abs(lane - x2), deep);
  const behind = x2 > lane ? lane + corner : lane - corner;
  return `${path}V${above - corner}Q${lane} ${above} ${behind} ${above}H${x2}`;
}

function draw() {
  const stands = data.rows.map((_, row) => closedAbove(row));
  const middle = [], spans = new Map();
  let y = data.top, panel = 0;
  data.rows.forEach((row, at) => {
    if (stands[at] !== at) return;
    const around = row.panel && !(row.folds && row.badge && !opened[at]) ? row.panel : 0;
    if (around !== panel) { y += GAP; panel = around; }
    middle[at] = y + ROW / 2;
    if (panel) spans.set(panel, [spans.get(panel)?.[0] ?? y, y + ROW]);
    y += ROW;
  });
  for (const element of shown) {
    const at = Number(element.dataset.row), closed = "closed" in element.dataset;
    const is = stands[at] === at && closed === Boolean(data.rows[at].folds && !opened[at]);
    element.toggleAttribute("hidden", !is);
    element.style.display = is ? "" : "none";
    if (is) element.setAttribute("transform", `translate(0 ${middle[at] - ROW / 2})`);
  }
  panels.replaceChildren();
  for (const [top, bottom] of spans.values()) {
    make("rect", {
      class: "panel", x: data.names - 9, y: top, width: data.width - data.names + 1,
      height: bottom - top, rx: 6,
    }, panels);
  }
  lanes.replaceChildren();
  const links = new Map();
  for (const [source, target, lane, width, tone] of data.links) {
    const from = stands[source], to = stands[target];
    if (from === to) continue;
    const key = `${from} ${to}`, known = links.get(key);
    const straight = lane === data.places[from] && lane === data.places[to];
    if (!known || straight) links.set(key, [from, to, lane, Math.max(width, known?.[3] ?? 0), tone]);
    else known[3] = Math.max(width, known[3]);
  }
  const sorted = [...links.values()].sort((a, b) => a[2] - b[2] || b[3] - a[3]);
  for (let first = 0; first < sorted.length;) {
    let stop = first;
    while (stop < sorted.length && sorted[stop][2] === sorted[first][2]) stop += 1;
    for (const [from, to, lane, width] of sorted.slice(first, stop)) {
      const top = middle[from] + (lane === data.places[from] ? 0 : OFF + CORNER);
      const bottom = middle[to] - (lane === data.places[to] ? 0 : OFF + CORNER);
      make("path", {
        class: "halo", d: `M${lane} ${top}V${Math.max(top, bottom)}`, "stroke-width": width + HALO,
      }, lanes);
    }
    for (const [from, to, lane, width, tone] of sorted.slice(first, stop)) {
      make("path", {
        class: tone, style: `stroke-width:${width}px`,
        d: course(data.places[from], middle[from], data.places[to], middle[to], lane),
      }, lanes);
    }
    first = stop;
  }
  drawPorts(stands, middle);
  foot.setAttribute("transform", `translate(0 ${y + 6})`);
  const height = y + 6 + data.foot;
  svg.setAttribute("viewBox", `0 0 ${data.width} ${height}`);
  svg.setAttribute("height", height);
  svg.querySelector(".bg").setAttribute("height", height);
}

function toggle(element) {
  const at = Number(element.dataset.row);
  opened[at] = !opened[at];
  draw();
  shown.find(one => Number(one.dataset.row) === at && !one.hasAttribute("hidden"))?.focus();
}

for (const element of shown) {
  if (!data.rows[Number(element.dataset.row)].folds) continue;
  element.classList.add("fold");
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "button");
  element.setAttribute("aria-expanded", String(!("closed" in element.dataset)));
  element.addEventListener("click", () => toggle(element));
  element.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(element); }
  });
}
document.querySelector("header").hidden = false;
for (const [name, open] of [["open", true], ["close", false]]) {
  document.getElementById(name).addEventListener("click", () => {
    data.rows.forEach((row, at) => { opened[at] = open && row.folds; });
    draw();
  });
}
draw();
