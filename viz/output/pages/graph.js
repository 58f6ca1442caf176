"use strict";
const pictures = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");
const sections = [...main.querySelectorAll("section")];
const get = id => document.getElementById(id);
const [search, found, detail, trail] = ["search", "found", "detail", "trail"].map(get);

// One picture is shown at a time: the whole, or one in which groups have been opened.

let shown, svg, boxes, lines, nodes, size, lineEnds;
const drawn = key => get(`${svg.classList[1]}-${key}`);

function load(number) {
  shown = number;
  sections.forEach((section, index) => { section.hidden = index !== number; });
  svg = sections[number].querySelector("svg");
  ({ boxes, lines } = pictures[number]);
  nodes = boxes.map(({ key }) => drawn(key));
  size = pictures[number].size ??= { width: svg.viewBox.baseVal.width,
    height: svg.viewBox.baseVal.height };
  lineEnds = boxes.map(() => ({ from: [], to: [] }));
  lines.forEach(([key, source, target, kind, label]) => {
    lineEnds[source].to.push({ key, other: target, kind, label });
    lineEnds[target].from.push({ key, other: source, kind, label });
  });
}

// Pan and zoom: the view box is the window on the picture.

const view = { x: 0, y: 0, scale: 1 };

function apply() {
  const width = main.clientWidth / view.scale, height = main.clientHeight / view.scale;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${width} ${height}`);
}

function fit() {
  const scale = Math.min(main.clientWidth / size.width, main.clientHeight / size.height);
  view.scale = Math.min(scale, 1.5);
  view.x = (size.width - main.clientWidth / view.scale) / 2;
  view.y = (size.height - main.clientHeight / view.scale) / 2;
  apply();
}

// At first a picture that is too large to read as a whole begins at its top, as wide as it is.
function begin() {
  fit();
  if (view.scale >= 0.6) return;
  view.scale = Math.max(0.6, Math.min(1, main.clientWidth / size.width));
  view.x = (size.width - main.clientWidth / view.scale) / 2;
  view.y = 0;
  apply();
}

function zoom(factor, x = main.clientWidth / 2, y = main.clientHeight / 2) {
  const scale = Math.max(0.02, Math.min(8, view.scale * factor));
  view.x += x / view.scale - x / scale;
  view.y += y / view.scale - y / scale;
  view.scale = scale;
  apply();
}

function pan(dx, dy) {
  view.x += dx / view.scale;
  view.y += dy / view.scale;
  apply();
}

function centre(node) {
  const box = node.getBBox();
  view.scale = Math.max(view.scale, 0.8);
  view.x = box.x + box.width / 2 - main.clientWidth / view.scale / 2;
  view.y = box.y + box.height / 2 - main.clientHeight / view.scale / 2;
  apply();
}

function isSeen(node) {
  const box = node.getBoundingClientRect(), room = main.getBoundingClientRect();
  return box.left >= room.left && box.right <= room.right
    && box.top >= room.top && box.bottom <= room.bottom;
}

// Details of one node, and the way to its neighbours.

let selected = null;

function make(tag, text = "", properties = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  element.textContent = text;
  return element;
}

function neighbours(heading, ends) {
  if (!ends.length) return [];
  const list = make("ul");
  for (const { other, kind, label } of ends) {
    const item = make("li");
    item.append(make("button", boxes[other].title, { type: "button", onclick: () => select(other) }));
    const said = [kind === "saved" ? "saved" : "", label].filter(Boolean).join(" ");
    if (said) item.append(make("span", ` ${said}`));
    list.append(item);
  }
  return [make("h3", heading), list];
}

function mark(number, on) {
  nodes[number].classList.toggle("selected", on);
  for (const { key } of [...lineEnds[number].from, ...lineEnds[number].to])
    drawn(key)?.classList.toggle("near", on);
}

function select(number) {
  if (selected !== null) mark(selected, false);
  selected = number;
  detail.hidden = number === null;
  if (number === null) return apply();
  mark(number, true);
  const { title, tooltip, href } = boxes[number];
  const facts = tooltip.split("\n").map(line => make("p", line));
  // the line of the program is the last of them
  if (href) facts.at(-1).replaceChildren(make("a", facts.at(-1).textContent, { href }));
  detail.replaceChildren(
    make("button", "×", { type: "button", className: "close", ariaLabel: "close",
      title: "close (Escape)", onclick: () => select(null) }),
    make("h2", title),
    ...facts,
    ...opener(boxes[number]),
    ...neighbours("comes from", lineEnds[number].from),
    ...neighbours("goes to", lineEnds[number].to),
  );
  apply();
  if (!isSeen(nodes[number])) centre(nodes[number]);
  if (!document.activeElement?.closest("header")) nodes[number].focus({ preventScroll: true });
}

// Groups open into another picture, and the trail leads back.

function opener({ name, opens }) {
  if (!name) return [];
  if (opens == null) return [make("p", `open it with --expand '${name}'`, { className: "hint" })];
  return [make("button", "Open", { type: "button", title: "open this group (Enter)",
    onclick: () => open(opens, name) })];
}

function open(number, name) {
  if (selected !== null) mark(selected, false);
  selected = null;
  detail.hidden = true;
  load(number);
  drawTrail();
  seek();
  begin();
  const inside = nodes.filter((_, index) => isInside(boxes[index].tooltip, name));
  const top = node => node.getBBox().y;
  const first = inside.reduce((one, other) => (top(other) < top(one) ? other : one), inside[0]);
  if (first && !isSeen(first)) centre(first);
  (first ?? nodes[0]).focus({ preventScroll: true });
}

// A tooltip begins with the address of its node.
const isInside = (address, scope) =>
  address.startsWith(`${scope}/`) || address.startsWith(`${scope}.`);

function close() {
  const { parent, name } = pictures[shown];
  if (parent < 0) return;
  open(parent, name);
  const group = boxes.findIndex(box => box.name === name);
  if (group >= 0) select(group);
}

function drawTrail() {
  const steps = [];
  for (let number = shown; number >= 0; number = pictures[number].parent) steps.unshift(number);
  trail.replaceChildren(...(steps.length < 2 ? [] : steps.map((number, index) => {
    const said = index ? pictures[number].name : document.title;
    const step = make("button", said, { type: "button", onclick: () => open(number, "") });
    if (number === shown) step.setAttribute("aria-current", "true");
    return step;
  })));
  if (steps.length > 1) trail.append(make("button", "×", { type: "button", onclick: close,
    ariaLabel: "close the group", title: "close the group (Backspace)" }));
}

// Search.

let matches = [], at = -1;

function seek() {
  const wanted = search.value.trim().toLowerCase();
  matches = wanted ? boxes.flatMap(({ title, tooltip }, number) =>
    `${title}\n${tooltip}`.toLowerCase().includes(wanted) ? [number] : []) : [];
  at = -1;
  const kept = new Set(matches);
  nodes.forEach((node, number) => node.classList.toggle("match", kept.has(number)));
  svg.classList.toggle("searching", Boolean(wanted));
  found.textContent = wanted ? `${matches.length} found` : "";
}

function nextMatch(step) {
  if (!matches.length) return;
  at = (at + step + matches.length) % matches.length;
  found.textContent = `${at + 1} of ${matches.length}`;
  select(matches[at]);
  centre(nodes[matches[at]]);
}

// Pointer and keys.

let grip = null;

main.addEventListener("pointerdown", event => {
  if (event.button === 0) grip = { x: event.clientX, y: event.clientY, moved: false };
});
main.addEventListener("pointermove", event => {
  if (!grip) return;
  const dx = grip.x - event.clientX, dy = grip.y - event.clientY;
  if (!grip.moved && Math.hypot(dx, dy) < 4) return;
  if (!grip.moved) main.setPointerCapture(event.pointerId);
  main.classList.add("moving");
  grip = { x: event.clientX, y: event.clientY, moved: true };
  pan(dx, dy);
});
main.addEventListener("pointerup", event => {
  const moved = grip?.moved;
  grip = null;
  main.classList.remove("moving");
  if (moved) return;
  const node = event.target.closest(".node");
  if (node) activate(nodes.indexOf(node));
  else select(null);
});
main.addEventListener("pointercancel", () => { grip = null; });
main.addEventListener("wheel", event => {
  event.preventDefault();
  const room = main.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey)
    zoom(Math.exp(-event.deltaY / 300), event.clientX - room.left, event.clientY - room.top);
  else pan(event.deltaX, event.deltaY);
}, { passive: false });

// A group opens where that has been prepared; all else is shown in detail.
function activate(number) {
  const { opens, name } = boxes[number];
  if (opens != null) open(opens, name);
  else select(number);
}

function move(key, number) {
  const side = key === "ArrowUp" || key === "ArrowLeft" ? "from" : "to";
  const ends = lineEnds[number][side];
  if (!ends.length) return;
  // up and left lead against the lines, right and left to the second of them where there is one
  const end = ends[key === "ArrowLeft" || key === "ArrowRight" ? Math.min(1, ends.length - 1) : 0];
  select(end.other);
}

main.addEventListener("keydown", event => {
  const number = nodes.indexOf(event.target);
  if (number < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter") activate(number);
  else if (event.key === " ") select(number);
  else if (event.key.startsWith("Arrow")) move(event.key, number);
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === search) return;
  const commands = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit,
    "/": () => search.focus(), Escape: () => select(null), n: () => nextMatch(1),
    N: () => nextMatch(-1), Backspace: close,
  };
  if (!(event.key in commands)) return;
  commands[event.key]();
  event.preventDefault();
});
search.addEventListener("input", seek);
search.addEventListener("keydown", event => {
  if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") { search.value = ""; seek(); search.blur(); }
  else return;
  event.preventDefault();
});
get("smaller").onclick = () => zoom(0.8);
get("larger").onclick = () => zoom(1.25);
get("fit").onclick = fit;
addEventListener("resize", apply);

document.body.classList.add("alive");
document.querySelector("header").hidden = false;
pictures.forEach((picture, number) => {
  load(number);
  nodes.forEach((node, index) => {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", boxes[index].title);
    if (boxes[index].opens != null) node.classList.add("opens");
  });
  // an image has no parts; this one has
  svg.setAttribute("role", "group");
});
load(0);
begin();
