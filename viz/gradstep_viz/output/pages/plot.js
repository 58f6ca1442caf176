// A cell is found by its place: a map may have a quarter of a million.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [said, tip] = ["said", "tip"].map(id => document.getElementById(id));
const svg = document.querySelector("main svg");
const ring = document.createElementNS("http://www.w3.org/2000/svg", "rect");
let chosen = null;

function text([row, column]) {
  const cell = data.cells[row][column];
  if (typeof cell === "string") return `${data.rows[row]}, ${data.columns[column]}\n${cell}`;
  const [call, leaf, found] = cell;
  return `${data.leaves[leaf]}, ${data.calls[call]}\n${found}`;
}

function address([row, column]) {
  const cell = data.cells[row][column];
  const name = typeof cell === "string" ? data.columns[column] : `call ${cell[0]}`;
  return `#${encodeURIComponent(data.rows[row])}@${encodeURIComponent(name)}`;
}

function at(event) {
  const [x, y, width, height] = data.box;
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(
    svg.getScreenCTM().inverse());
  const row = Math.floor((place.y - y) / height * data.rows.length);
  const column = Math.floor((place.x - x) / width * data.columns.length);
  const inside = row >= 0 && row < data.rows.length && column >= 0 && column < data.columns.length;
  return inside ? [row, column] : null;
}

function choose(cell) {
  chosen = cell;
  const [x, y, width, height] = data.box;
  const [wide, high] = [width / data.columns.length, height / data.rows.length];
  const sizes = { x: x + cell[1] * wide, y: y + cell[0] * high, width: wide, height: high };
  for (const [name, value] of Object.entries(sizes)) ring.setAttribute(name, value);
  ring.setAttribute("class", "ring");
  svg.append(ring);
  said.textContent = text(cell);
  history.replaceState(null, "", address(cell));
}

function follow() {
  data.rows.forEach((_, row) => data.columns.forEach((_, column) => {
    if (address([row, column]) === location.hash) choose([row, column]);
  }));
}

function listen() {
  svg.addEventListener("pointermove", event => {
    const cell = at(event);
    tip.hidden = !cell;
    svg.style.cursor = cell ? "crosshair" : "";
    if (!cell) return;
    tip.textContent = text(cell);
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18;
    const fits = below + tip.offsetHeight < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${fits ? below : event.clientY - tip.offsetHeight - 10}px`;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  svg.addEventListener("click", event => {
    const cell = at(event);
    if (cell) choose(cell);
  });

  document.addEventListener("keydown", event => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[event.key];
    if (!move) return;
    const [row, column] = chosen ? chosen.map((each, axis) => each + move[axis]) : [0, 0];
    if (row < 0 || row >= data.rows.length || column < 0 || column >= data.columns.length) return;
    event.preventDefault();
    choose([row, column]);
  });
}

if (data.cells.length) {
  listen();
  if (location.hash) follow();
}
