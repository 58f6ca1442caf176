"use strict";

// Data of some size are a string: deflated (RFC 1951), in base64.

function inflate(bytes) {
  let at = 0, out = new Uint8Array(bytes.length * 16), size = 0;
  const bits = count => {
    let value = 0;
    for (let bit = 0; bit < count; bit++, at++) value |= ((bytes[at >> 3] >> (at & 7)) & 1) << bit;
    return value;
  };
  const put = byte => {
    if (size === out.length) {
      const larger = new Uint8Array(2 * size);
      larger.set(out);
      out = larger;
    }
    out[size++] = byte;
  };
  // the symbols of a code by the lengths of their words, which say all of it
  const codeOf = lengths => {
    const counts = new Uint16Array(16);
    for (const length of lengths) if (length) counts[length]++;
    const symbols = [...lengths.keys()].filter(symbol => lengths[symbol])
      .sort((one, other) => lengths[one] - lengths[other] || one - other);
    return { counts, symbols };
  };
  const next = ({ counts, symbols }) => {
    let word = 0, first = 0, index = 0;
    for (let length = 1; ; length++) {
      word |= bits(1);
      const count = counts[length];
      if (word - first < count) return symbols[index + word - first];
      index += count;
      first = (first + count) << 1;
      word <<= 1;
    }
  };
  const copy = (distance, length) => {
    for (; length > 0; length--) put(out[size - distance]);
  };
  const readCodes = () => {
    const [literals, distances, count] = [bits(5) + 257, bits(5) + 1, bits(4) + 4];
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    const own = new Array(19).fill(0), lengths = [];
    for (const symbol of order.slice(0, count)) own[symbol] = bits(3);
    const code = codeOf(own);
    while (lengths.length < literals + distances) {
      const symbol = next(code);
      const [value, times] = symbol < 16 ? [symbol, 1] : symbol === 16 ? [lengths.at(-1), 3 + bits(2)]
        : symbol === 17 ? [0, 3 + bits(3)] : [0, 11 + bits(7)];
      for (let time = 0; time < times; time++) lengths.push(value);
    }
    return [codeOf(lengths.slice(0, literals)), codeOf(lengths.slice(literals))];
  };
  const fixed = () => [
    codeOf(Array.from({ length: 288 }, (_, symbol) =>
      symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
    codeOf(new Array(30).fill(5)),
  ];
  for (let isLast = false; !isLast;) {
    isLast = Boolean(bits(1));
    const kind = bits(2);
    if (!kind) {
      at = (at + 7) & ~7;
      const length = bits(16);
      at += 16; // the length once more
      for (let byte = 0; byte < length; byte++) put(bits(8));
      continue;
    }
    const [literals, distances] = kind === 1 ? fixed() : readCodes();
    for (let symbol; (symbol = next(literals)) !== 256;) {
      if (symbol < 256) { put(symbol); continue; }
      symbol -= 257;
      const more = symbol < 8 || symbol === 28 ? 0 : (symbol >> 2) - 1;
      const length = symbol === 28 ? 258 : symbol < 8 ? 3 + symbol
        : 3 + ((4 + (symbol & 3)) << more) + bits(more);
      const far = next(distances), extra = far < 4 ? 0 : (far >> 1) - 1;
      copy(far < 4 ? 1 + far : 1 + ((2 + (far & 1)) << extra) + bits(extra), length);
    }
  }
  return out.subarray(0, size);
}

let pictures = JSON.parse(document.getElementById("data").textContent);
if (typeof pictures === "string") {
  const bytes = Uint8Array.from(atob(pictures), letter => letter.charCodeAt(0));
  const [texts, parts] = JSON.parse(new TextDecoder().decode(inflate(bytes)));
  pictures = parts.map(one => ({ ...one, svg: one.svg.map(place => texts[place]).join("\n"),
    boxes: one.boxes.map(place => JSON.parse(texts[place])) }));
}
const main = document.querySelector("main");
const sections = [...main.querySelectorAll("section")];
const get = id => document.getElementById(id);
const [search, found, detail, trail, help, views, tree] =
  ["search", "found", "detail", "trail", "help", "views", "tree"].map(get);

// One picture is shown at a time: the whole, or one in which groups have been opened.

let shown, svg, boxes, lines, nodes, area, lineEnds;
const drawn = key => get(`${svg.classList[1]}-${key}`);

function load(number) {
  if (svg) apply();
  shown = number;
  sections.forEach((section, index) => { section.hidden = index !== number; });
  if (pictures[number].svg) sections[number].innerHTML = pictures[number].svg;
  delete pictures[number].svg;
  svg = sections[number].querySelector("svg");
  ({ boxes, lines } = pictures[number]);
  nodes = boxes.map(({ key }) => drawn(key));
  if (!("ready" in svg.dataset)) prepare();
  if (sections[number].classList.contains("many")) pictures[number].spots ??= findSpots();
  paint();
  divide();
  lineEnds = boxes.map(() => ({ from: [], to: [] }));
  lines.forEach(([key, source, target, kind, label]) => {
    lineEnds[source].to.push({ key, other: target, kind, label });
    lineEnds[target].from.push({ key, other: source, kind, label });
  });
}

function prepare() {
  nodes.forEach((node, index) => {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", boxes[index].title);
    if (boxes[index].opens != null) node.classList.add("opens");
  });
  // an image has no parts; this one has
  svg.setAttribute("role", "group");
  svg.dataset.ready = "";
}

// One half alone is the same picture without the other half, at every level.

const MARGIN = 20;
let half = "both";
const isAway = (index, { halves } = pictures[shown]) =>
  half !== "both" && halves.includes(half[0]) && halves[index] !== half[0];

function divide() {
  const { width, height } = svg.viewBox.baseVal;
  area = pictures[shown].area ??= { x: 0, y: 0, width, height };
  const all = selector => [...svg.querySelectorAll(`:scope > ${selector}`)];
  const texts = all("text:not(.label)");
  for (const part of svg.querySelectorAll(".away")) part.classList.remove("away");
  for (const text of texts) text.removeAttribute("transform");
  if (!nodes.some((_, index) => isAway(index))) return;
  const hide = part => part?.classList.add("away");
  const stays = part => !part.classList.contains("away");
  const isAround = (frame, node) => {
    const one = frame.getBBox(), other = node.getBBox();
    return other.x >= one.x && other.x + other.width <= one.x + one.width
      && other.y >= one.y && other.y + other.height <= one.y + one.height;
  };
  const others = nodes.filter((_, index) => isAway(index));
  all(".frame").filter(frame => others.some(node => isAround(frame, node))).forEach(hide);
  others.forEach(hide);
  const labels = all(".label");
  for (const [key, source, target, , label, placed] of lines) {
    const text = label && placed ? labels.shift() : null;
    if (isAway(source) || isAway(target)) [drawn(key), text].forEach(hide);
  }
  all(`.port:not(.${half === "forward" ? "value" : "gradient"})`).forEach(hide);
  // the captions of the backward half are the last ones
  const captions = texts.filter(text => !text.classList.contains("t"));
  const second = captions.findIndex(text => /^backward [↑←]/.test(text.textContent));
  captions.filter((_, index) => (index >= second) === (half === "forward")).forEach(hide);
  // as wide as what is left, with the title and the captions above it
  const left = [...all("g"), ...all(".label")].filter(stays).map(part => part.getBBox())
    .filter(box => box.width || box.height); // a text that is not shown is nowhere
  const start = Math.min(...left.map(box => box.x));
  let end = Math.max(...left.map(box => box.x + box.width));
  for (const row of [all(".t"), captions.filter(stays)]) {
    const before = Math.min(...row.map(text => text.getBBox().x));
    for (const text of row) {
      text.setAttribute("transform", `translate(${start - before} 0)`);
      const box = text.getBBox();
      end = Math.max(end, box.x + box.width + start - before);
    }
  }
  area = { ...area, x: start - MARGIN, width: end - start + 2 * MARGIN };
}

// Among very many boxes, texts are shown only where they can be read: to place and to paint them
// takes thirty times as long as all else.

const LEGIBLE = 0.4, AT_ONCE = 60;
let reading = 0;

function findSpots() {
  const place = part => {
    const { x, y, width, height } = part.getBBox();
    return { part, x, y, right: x + width, bottom: y + height, isRead: false };
  };
  const labels = [...svg.querySelectorAll(":scope > .label")].map(part => {
    const [x, y] = ["x", "y"].map(name => Number(part.getAttribute(name)));
    return { part, x, y, right: x, bottom: y, isRead: false };
  });
  return [...nodes.map(place), ...labels];
}

function read(most = AT_ONCE) {
  cancelAnimationFrame(reading);
  const { spots } = pictures[shown];
  if (!spots) return;
  const { left, top, right, bottom } = sheetOf(painted);
  let count = 0;
  for (const spot of spots) {
    const isRead = view.scale >= LEGIBLE && spot.x < right && spot.right > left
      && spot.y < bottom && spot.bottom > top;
    if (isRead === spot.isRead) continue;
    if (++count > most) {
      reading = requestAnimationFrame(() => read());
      return;
    }
    setRead(spot, isRead);
  }
}

function setRead(spot, isRead) {
  spot.isRead = isRead;
  spot.part.classList.toggle("read", isRead);
}

// Each step of a zoom would place all texts anew.
function stopReading() {
  cancelAnimationFrame(reading);
  for (const spot of pictures[shown].spots ?? []) if (spot.isRead) setRead(spot, false);
}

// Pan and zoom: the window on the picture is painted with an edge around it, on a sheet. While the
// pointer moves it, the sheet is moved and scaled, which takes no time in a picture of thousands of
// boxes, and painted anew only where the window leaves it, or it would be blurred. The sheet is the
// section: to scale the picture itself would place all texts anew. It ends at its edge, because what
// is beyond would be painted, too, as soon as it is scaled down.

const view = { x: 0, y: 0, scale: 1 };
let painted = { ...view }, rest = 0;
const REST = 200; // milliseconds without a move
const EDGE = 0.25; // of the window, on each side, as in the style sheet
const MOST_BLUR = 2;

function sheetOf({ x, y, scale }, edge = EDGE) {
  const width = main.clientWidth / scale, height = main.clientHeight / scale;
  return { left: x - edge * width, top: y - edge * height,
    right: x + (1 + edge) * width, bottom: y + (1 + edge) * height };
}

const boxOf = ({ left, top, right, bottom }) => `${left} ${top} ${right - left} ${bottom - top}`;

// Whether all of the picture that is to be seen has been painted.
function isPainted() {
  const sheet = sheetOf(painted), wanted = sheetOf(view, 0);
  return view.scale <= painted.scale * MOST_BLUR
    && Math.max(wanted.left, area.x) >= sheet.left && Math.max(wanted.top, area.y) >= sheet.top
    && Math.min(wanted.right, area.x + area.width) <= sheet.right
    && Math.min(wanted.bottom, area.y + area.height) <= sheet.bottom;
}

function glide() {
  main.classList.add("gliding"); // else the pointer is searched for among all boxes
  if (view.scale === painted.scale) cancelAnimationFrame(reading);
  else stopReading();
  if (!isPainted()) repaint();
  const x = (painted.x - view.x) * view.scale, y = (painted.y - view.y) * view.scale;
  sections[shown].style.transform =
    `translate(${x}px, ${y}px) scale(${view.scale / painted.scale})`;
  clearTimeout(rest);
  rest = setTimeout(apply, REST);
}

function repaint() {
  painted = { ...view };
  sections[shown].style.transform = "";
  svg.setAttribute("viewBox", boxOf(sheetOf(view)));
}

function apply() {
  clearTimeout(rest);
  main.classList.remove("gliding");
  repaint();
  read();
}

function fit() {
  const scale = Math.min(main.clientWidth / area.width, main.clientHeight / area.height);
  view.scale = Math.min(scale, 1.5);
  view.x = area.x + (area.width - main.clientWidth / view.scale) / 2;
  view.y = area.y + (area.height - main.clientHeight / view.scale) / 2;
  apply();
}

// At first a picture that is too large to read as a whole begins at its top, as wide as it is.
function begin() {
  fit();
  if (view.scale >= 0.6) return read(Infinity);
  view.scale = Math.max(0.6, Math.min(1, main.clientWidth / area.width));
  // in the middle, or from its left end on
  view.x = area.x + Math.min(0, (area.width - main.clientWidth / view.scale) / 2);
  view.y = area.y;
  apply();
  read(Infinity);
}

function zoom(factor, x = main.clientWidth / 2, y = main.clientHeight / 2, show = apply) {
  const scale = Math.max(0.02, Math.min(8, view.scale * factor));
  view.x += x / view.scale - x / scale;
  view.y += y / view.scale - y / scale;
  view.scale = scale;
  show();
}

function pan(dx, dy) {
  view.x += dx / view.scale;
  view.y += dy / view.scale;
  glide();
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

// The way between a box and the loss: values flow down it, gradients come back along it.

function pathTo(number) {
  const isForward = pictures[shown].halves[number] === "f";
  const wanted = isForward ? "value" : "gradient", side = isForward ? "to" : "from";
  const members = new Set([number]), keys = new Set();
  for (const box of members) // which grows
    for (const { key, other, kind } of lineEnds[box][side])
      if (kind === wanted) { members.add(other); keys.add(key); }
  return { members, keys };
}

function pathButton(number) {
  const { members, keys } = pathTo(number);
  if (members.size < 2) return [];
  const isLeaf = nodes[number].classList.contains("leaf");
  const text = pictures[shown].halves[number] === "f" ? "Path from here to the loss"
    : `Path from the loss to ${isLeaf ? "this leaf" : "here"}`;
  return [make("button", text, { type: "button", title: "dim all else (Escape: show it)",
    onclick: () => {
      forgetPath();
      svg.classList.add("pathed");
      for (const member of members) nodes[member].classList.add("on-path");
      for (const key of keys) drawn(key)?.classList.add("on-path");
      found.textContent = `${members.size} on the path`;
    } })];
}

function forgetPath() {
  svg.classList.remove("pathed");
  for (const part of svg.querySelectorAll(".on-path")) part.classList.remove("on-path");
}

function select(number, isTold = false) {
  forgetPath();
  if (selected !== null) mark(selected, false);
  selected = number;
  if (number !== null && isAway(number)) show("both");
  detail.hidden = number === null;
  address(number === null ? "" : addressOf(boxes[number]));
  if (!isTold) tellPair(number);
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
    ...pathButton(number),
    ...insideFound(boxes[number]),
    ...neighbours("comes from", lineEnds[number].from),
    ...neighbours("goes to", lineEnds[number].to),
  );
  apply();
  if (!isSeen(nodes[number])) centre(nodes[number]);
  if (!isTold && !document.activeElement?.closest("header")) nodes[number].focus({ preventScroll: true });
}

// The link to a node is the address of the page with that of the node behind it.

const addressOf = ({ tooltip }) => tooltip.split("\n")[0].split(" · ")[0];

function address(text) {
  try {
    history.replaceState(null, "", text ? `#${encodeURIComponent(text)}` : location.pathname);
  } catch { /* a page within a page has no address of its own */ }
}

function follow() {
  let wanted = "";
  try { wanted = decodeURIComponent(location.hash.slice(1)); } catch { /* no address */ }
  if (wanted) selectAddress(wanted);
}

function selectAddress(wanted, isTold = false, half = "") {
  const isThere = box => addressOf(box) === wanted || box.title === wanted;
  for (const holds of [
    (box, index, { halves }) => isThere(box) && half[0] === halves[index],
    isThere,
    box => box.chips?.includes(wanted) || insideOf(box).includes(wanted),
  ]) {
    const findIn = picture => picture.boxes.findIndex((box, index) => holds(box, index, picture));
    const number = pictures.findIndex(picture => findIn(picture) >= 0);
    if (number < 0) continue;
    if (number !== shown) open(number, "");
    return select(findIn(pictures[number]), isTold);
  }
  if (isTold) select(null, true);
  else if (!openModule(wanted) && !openRound(wanted)) found.textContent = `nothing here is called '${wanted}'`;
}

// Within a page of two graphs, the other one selects the same.

const isOfPair = parent !== window && window.name.startsWith("gradstep-");

function tellPair(number) {
  if (!isOfPair) return;
  const address = number === null ? "" : addressOf(boxes[number]);
  parent.postMessage({ address, half: pictures[shown].halves[number] ?? "" }, "*");
}

addEventListener("message", ({ source, data }) => {
  if (!isOfPair || source !== parent || typeof data?.address !== "string") return;
  selectAddress(data.address, true, data.half);
});

// Groups open into another picture, and the trail leads back.

function opener({ name, opens, alike }) {
  if (!name) return [];
  const hint = text => make("p", text, { className: "hint" });
  if (opens == null) return [hint(`open it with --expand '${name}'`)];
  const button = make("button", "Open", { type: "button", title: "open this group (Enter)",
    onclick: () => enter(opens, name) });
  return alike ? [button, hint(`shows ${alike}, which is built alike`)] : [button];
}

// The way back leads to where the group was opened: several groups may open one picture.
function enter(number, name) {
  pictures[number].parent = shown;
  open(number, name);
}

function open(number, name) {
  if (selected !== null) mark(selected, false);
  selected = null;
  detail.hidden = true;
  load(number);
  drawTrail();
  seek();
  begin();
  const inside = nodes.filter((_, index) =>
    !isAway(index) && isInside(boxes[index].tooltip, name));
  const top = node => node.getBBox().y;
  const first = inside.reduce((one, other) => (top(other) < top(one) ? other : one), inside[0]);
  if (first && !isSeen(first)) centre(first);
  (first ?? nodes.find((_, index) => !isAway(index))).focus({ preventScroll: true });
}

// A tooltip begins with the address of its node.
const isInside = (address, scope) =>
  address.startsWith(`${scope}/`) || address.startsWith(`${scope}.`);

function close() {
  const { parent, name } = pictures[shown];
  if (parent < 0) return;
  open(parent, name);
  const group = boxes.findIndex((box, index) =>
    !isAway(index) && (box.name === name || (box.name && box.title === name)));
  if (group >= 0) select(group);
}

const LONGEST_STEP = 20;

// The trail is the nesting of what is shown: the modules around it, from the outermost one on.
function drawTrail() {
  const here = pictures[shown].name;
  const around = here.split(".").map((_, index, parts) => parts.slice(0, index).join("."));
  const steps = here ? ["", ...around.filter(opening), here] : [];
  trail.replaceChildren(...steps.map(name => {
    // the end of a path tells groups apart
    const said = name.length > LONGEST_STEP ? "…" + name.slice(1 - LONGEST_STEP)
      : name || document.title;
    const step = make("button", said, { type: "button", title: name || document.title,
      onclick: () => (name ? name !== here && openModule(name) : open(0, "")) });
    if (name === here) step.setAttribute("aria-current", "true");
    return step;
  }));
  if (steps.length) trail.append(make("button", "×", { type: "button", onclick: close,
    ariaLabel: "close the group", title: "close the group (Backspace)" }));
}

// The modules, in a tree beside the picture: each opens in one step.

const modules = new Set(pictures[0].modules
  .flatMap(path => path.split(".").map((_, index, parts) => parts.slice(0, index + 1).join("."))));

// The picture that a group of this name opens.
let groups;
function opening(name) {
  if (!groups) {
    groups = new Map();
    pictures.forEach((picture, number) => {
      if (number && !groups.has(picture.name)) groups.set(picture.name, { number, name: picture.name });
    });
    for (const { name, title, opens } of pictures.flatMap(({ boxes }) => boxes))
      if (opens != null)
        for (const key of [title, name])
          if (!groups.has(key)) groups.set(key, { number: opens, name });
  }
  return groups.get(name);
}

// Show a module: open, or where it is drawn, or in one that is built alike; else what is around it.
function openModule(name) {
  const place = opening(name);
  if (place) {
    open(place.number, place.name);
    const { name: called } = pictures[place.number];
    if (called !== name) found.textContent = `${called}, which ${name} is built like`;
    return true;
  }
  const holds = box => isInside(addressOf(box), name);
  const number = pictures.findIndex(picture => picture.boxes.some(holds));
  if (number >= 0) {
    if (number !== shown) open(number, "");
    select(boxes.findIndex(holds));
    return true;
  }
  if (!modules.has(name) || !name.includes(".")) return false;
  const outer = name.slice(0, name.lastIndexOf(".")), inner = name.slice(outer.length);
  const alike = opening(outer) && pictures[opening(outer).number].name;
  return (alike && alike !== outer && openModule(alike + inner)) || openModule(outer);
}

function listModules(outer) {
  const list = make("ul"), front = outer ? `${outer}.` : "";
  for (const path of modules) {
    const name = path.slice(front.length);
    if (!path.startsWith(front) || name.includes(".")) continue;
    const item = make("li");
    const button = make("button", name,
      { type: "button", title: path, onclick: () => openModule(path) });
    if ([...modules].some(other => other.startsWith(`${path}.`))) {
      const fold = make("details"), head = make("summary");
      head.append(button);
      fold.append(head);
      fold.addEventListener("toggle", () => {
        if (fold.open && fold.children.length < 2) fold.append(listModules(path));
      });
      item.append(fold);
    } else item.append(button);
    list.append(item);
  }
  return list;
}

function toggleTree() {
  if (!modules.size) return;
  if (!tree.firstChild) tree.append(listModules(""));
  tree.hidden = !tree.hidden;
  document.body.classList.toggle("treed", !tree.hidden);
  apply();
}

// Search.

let matches = [], at = -1;

const wantedText = () => search.value.trim().toLowerCase();

// What a box says, the leaves in it, and what is folded in it.
const textOf = box => box.text ??=
  [box.title, box.tooltip, ...box.chips ?? [], ...insideOf(box)].join("\n").toLowerCase();

// Ops are listed in runs: those of one kind in one module, from one number to another.
function insideOf(box) {
  if (!box.ops) return box.inside ?? [];
  for (const [module, stem, first, last] of box.ops) {
    const before = module < 0 ? "" : `${box.inside[module]}/`;
    for (let number = first; number <= last; number++) box.inside.push(`${before}${stem}:${number}`);
  }
  delete box.ops;
  return box.inside;
}

const isPartial = pictures[0].boxes.some(box => box.partial);
const PARTLY = " (too many ops to search in groups: open one)";

// A query is words that all have to hold: text, op:addmm, or a number as in rms>0.1, which may be
// that of a row in the box.
const NUMBERS = ["rms", "time", "bytes", "params", "elements", "order"];
const COMPARISON = new RegExp(`^(${NUMBERS.join("|")})([<>]=?|=)([\\d.e+-]+)$`);
const COMPARED = {
  ">": (one, other) => one > other, ">=": (one, other) => one >= other, "=": (one, other) => one === other,
  "<": (one, other) => one < other, "<=": (one, other) => one <= other,
};
const opOf = name => name.replace(/:\d+$/, "").split("/").pop().toLowerCase();

function condition(word) {
  const [, name, sign, number] = COMPARISON.exec(word) ?? [];
  if (name) return ({ measures, rows }) => [measures, ...rows ?? []].some(known => {
    const value = known?.[NUMBERS.indexOf(name)];
    return value != null && COMPARED[sign](value, Number(number));
  });
  if (!word.startsWith("op:")) return box => textOf(box).includes(word);
  return box => [addressOf(box), ...insideOf(box)].some(name => opOf(name) === word.slice(3));
}

// What stands in quotation marks is one word.
const wordsOf = text => (text.match(/"[^"]+"|[^\s"]+/g) ?? []).map(word => word.replaceAll('"', ""));
const conditions = () => wordsOf(wantedText()).map(condition);

// One of the rounds that a box stands for, as in "i = 1,234", and where that box is.
function roundOf(text) {
  const [, label, digits] = /^(.*\D)\s*(\d[\d,]*)$/.exec(text.trim().toLowerCase()) ?? [];
  if (!digits || modules.has(text.trim())) return null;
  const plain = name => name.replace(/\s/g, "").toLowerCase();
  const count = number => Number(number.replaceAll(",", ""));
  const holds = ({ title }) => {
    const [, name, first, last] = /^(.*\D)(\d[\d,]*) … (\d[\d,]*)$/.exec(title) ?? [];
    return name && plain(name) === plain(label)
      && count(first) <= count(digits) && count(digits) <= count(last);
  };
  const findIn = ({ boxes }) => boxes.findIndex(holds);
  if (boxes.some(({ title }) => plain(title) === plain(text))) return null; // it has its own box
  const number = findIn(pictures[shown]) >= 0 ? shown : pictures.findIndex(one => findIn(one) >= 0);
  return number < 0 ? null : { number, index: findIn(pictures[number]) };
}

function openRound(text) {
  const round = roundOf(text);
  if (!round) return false;
  if (round.number !== shown) open(round.number, "");
  const { title, name, opens } = boxes[round.index];
  if (opens == null) select(round.index);
  else enter(opens, name);
  found.textContent = opens == null ? `in ${title}` : `${name}, which ${text.trim()} is built like`;
  return true;
}

function foundIn(picture, all = false) {
  const wanted = conditions();
  return picture.boxes.flatMap((box, number) =>
    (all || !isAway(number, picture)) && wanted.every(holds => holds(box)) ? [number] : []);
}

function seek() {
  const wanted = wantedText();
  matches = wanted ? foundIn(pictures[shown]) : [];
  at = -1;
  const kept = new Set(matches);
  nodes.forEach((node, number) => node.classList.toggle("match", kept.has(number)));
  svg.classList.toggle("searching", Boolean(wanted));
  fade(wanted ? kept : null);
  const other = matches.length ? -1 : elsewhere();
  const count = other >= 0 ? foundIn(pictures[other], true).length : matches.length;
  const round = wanted ? roundOf(wanted) : null;
  found.textContent = !wanted ? ""
    : round ? `in ${pictures[round.number].boxes[round.index].title} (Enter opens it)` : other < 0 ? `${count} found${isPartial ? PARTLY : ""}`
    : `0 here, ${count} in ${other === shown ? "the other half" : pictures[other].name || "the whole picture"}`;
}

// Lines between boxes that were not found fade, as these do, with their labels.
function fade(kept) {
  for (const part of svg.querySelectorAll(".faded")) part.classList.remove("faded");
  if (!kept) return;
  const labels = [...svg.querySelectorAll(":scope > .label")];
  for (const [key, source, target, , label, placed] of lines) {
    const text = label && placed ? labels.shift() : null;
    if (kept.has(source) && kept.has(target)) continue;
    for (const part of [drawn(key), text]) part?.classList.add("faded");
  }
}

// The picture with a match: the one that is shown, in the other half, or the first one.
const elsewhere = () => !wantedText() ? -1 : foundIn(pictures[shown], true).length ? shown
  : pictures.findIndex(picture => foundIn(picture, true).length);

const MOST_INSIDE = 20;

// The picture that shows a node, or the inside of a module, and where.
let places;
function placeOf(name) {
  if (!places) {
    places = new Map();
    pictures.forEach((picture, number) => picture.boxes.forEach((box, index) => {
      const keys = [addressOf(box), ...box.chips ?? [], ...box.name ? [box.title] : []];
      for (const key of keys)
        if (!places.has(key)) places.set(key, { number, index, called: picture.name });
    }));
  }
  const place = places.get(name);
  return place?.number ? place : null; // what is in the whole picture is in no group
}

// Names that were searched for, and are folded in a box.
function insideFound(box) {
  const wanted = wantedText();
  const names = wanted ? insideOf(box).filter(name => name.toLowerCase().includes(wanted)) : [];
  if (!names.length) return [];
  const list = make("ul");
  list.append(...names.slice(0, MOST_INSIDE).map(name => {
    const item = make("li"), place = placeOf(name);
    const isModule = modules.has(name);
    item.append(isModule || place ? make("button", name, { type: "button",
      title: `open ${isModule ? name : place.called}`,
      onclick: () => {
        if (isModule) return openModule(name);
        open(place.number, "");
        select(place.index);
      } }) : name);
    return item;
  }));
  if (names.length > MOST_INSIDE) list.append(make("li", `… and ${names.length - MOST_INSIDE} more`));
  return [make("h3", `found inside (${names.length})`), list];
}

// What was found inside of a closed box is shown where it is drawn, or what is built alike.
function openInside(box) {
  const words = wordsOf(wantedText()).filter(word => !word.startsWith("op:") && !COMPARISON.test(word));
  const holds = text => words.every(word => text.toLowerCase().includes(word));
  const name = holds(`${box.title}\n${box.tooltip}\n${(box.chips ?? []).join("\n")}`) ? null
    : insideOf(box).find(holds);
  if (!name) return false;
  const place = placeOf(name);
  if (place) {
    open(place.number, "");
    select(place.index);
    return true;
  }
  const parts = name.split(/[./]/);
  const around = parts.map((_, count) => parts.slice(0, parts.length - count).join("."));
  const inner = around.find(path => modules.has(path));
  if (inner && openModule(inner)) return true;
  if (box.opens != null) enter(box.opens, box.name);
  return box.opens != null;
}

function nextMatch(step) {
  if (openRound(search.value)) return;
  if (!matches.length && elsewhere() >= 0) {
    const other = elsewhere();
    if (other !== shown) open(other, "");
    if (!matches.length) show("both");
  }
  if (!matches.length) return;
  const before = selected;
  at = (at + step + matches.length) % matches.length;
  const box = boxes[matches[at]];
  // a box that was found alone opens when it is asked for again
  if (openInside(box)) return;
  if (box.opens != null && before === matches[at]) {
    enter(box.opens, box.name);
    if (!matches.length) return;
    at = 0;
  }
  found.textContent = `${at + 1} of ${matches.length}`;
  select(matches[at]);
  centre(nodes[matches[at]]);
}

// The picture as it is on the screen, as a file.

function save() {
  apply();
  const copy = svg.cloneNode(true), style = sections[0].querySelector("svg style");
  if (style && !copy.querySelector("style")) copy.prepend(style.cloneNode(true));
  copy.setAttribute("viewBox", boxOf(sheetOf(view, 0)));
  copy.setAttribute("width", main.clientWidth);
  copy.setAttribute("height", main.clientHeight);
  for (const node of copy.querySelectorAll("[tabindex]")) node.removeAttribute("tabindex");
  for (const part of copy.querySelectorAll(".away")) part.remove();
  const text = new XMLSerializer().serializeToString(copy);
  const href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  make("a", "", { href, download: `${document.title || "graph"}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(href));
  return text;
}

// Forward, backward, or both.

function show(wanted) {
  half = wanted;
  for (const button of views.children)
    button.setAttribute("aria-pressed", String(button.value === half));
  divide();
  seek();
}

function switchTo(wanted) {
  if (views.hidden || wanted === half) return;
  const address = selected === null ? "" : addressOf(boxes[selected]);
  show(wanted);
  begin();
  const same = boxes.findIndex((box, index) =>
    address && !isAway(index) && addressOf(box) === address);
  select(same < 0 ? null : same);
}

// Colours of the boxes: their kind, or how large something is, on a log scale over all pictures.

const colour = get("colour"), units = [
  value => `rms ${value.toPrecision(2)}`,
  value => value < 1e-3 ? `${(value * 1e6).toPrecision(3)} µs` : `${(value * 1e3).toPrecision(3)} ms`,
  value => value < 1024 ? `${value} B` : value < 1 << 20 ? `${(value / 1024).toPrecision(3)} KB`
    : `${(value / (1 << 20)).toPrecision(3)} MB`,
  String, String, value => `#${value}`,
];

// A file of the reader's own has numbers of nodes, by their addresses: {"fc1/addmm:1": 0.5}. A box
// that stands for several has the largest of theirs.
get("file").onchange = async ({ target }) => {
  const [file] = target.files;
  try { colourBy(file.name, JSON.parse(await file.text())); }
  catch { colourBy(file?.name ?? "", {}); }
};

function colourBy(name, numbers) {
  const known = new Map(Object.entries(numbers).filter(([, value]) => value > 0));
  const which = units.length;
  for (const box of pictures.flatMap(({ boxes }) => boxes)) {
    const values = [addressOf(box), box.title, ...box.chips ?? [], ...insideOf(box)]
      .flatMap(key => known.get(key) ?? []);
    (box.measures ??= [])[which] = values.length ? Math.max(...values) : null;
  }
  if (measured(which).length) {
    units.push(value => String(Number(value.toPrecision(3))));
    colour.add(make("option", `Colour: ${name}`, { value: which }), colour.options.length - 1);
    colour.value = String(which);
  } else found.textContent = `'${name}' has no numbers of nodes, as {"fc1/addmm:1": 0.5}`;
  paint();
}

const measured = which => pictures.flatMap(({ boxes }) => boxes)
  .map(({ measures }) => measures?.[which]).filter(value => value > 0);

function paint() {
  const which = colour.value, values = which ? measured(which) : [];
  const low = values.reduce((one, other) => Math.min(one, other), Infinity);
  const high = values.reduce((one, other) => Math.max(one, other), 0);
  get("scale").textContent = values.length ? `${units[which](low)} … ${units[which](high)}` : "";
  svg.classList.toggle("measured", Boolean(which));
  nodes.forEach((node, index) => {
    const value = boxes[index].measures?.[which];
    const share = Math.log(value / low) / (Math.log(high / low) || 1);
    const fill = !which ? "" : value > 0
      ? `color-mix(in srgb, var(--gs-leaf) ${Math.round(5 + 50 * share)}%, var(--gs-bg))`
      : "var(--gs-bg)";
    for (const part of node.children) if (part.tagName === "rect") part.style.fill = fill;
  });
}

function nextColour() {
  const choices = [...colour.options].filter(option => !option.hidden).map(({ value }) => value)
    .filter(value => value !== "file");
  colour.value = choices[(choices.indexOf(colour.value) + 1) % choices.length];
  paint();
}

// Pointer and keys.

let grip = null;

main.addEventListener("pointerdown", event => {
  main.classList.remove("gliding");
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
// A line that ends in a number leads to where it goes on.
main.onclick = event => {
  const port = event.target.closest(".port");
  if (!port) return;
  event.preventDefault();
  const other = svg.querySelector(port.getAttribute("href"));
  other.focus();
  centre(other);
};
main.onpointercancel = () => { grip = null; };
main.addEventListener("wheel", event => {
  event.preventDefault();
  const room = main.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey)
    zoom(Math.exp(-event.deltaY / 300), event.clientX - room.left, event.clientY - room.top, glide);
  else pan(event.deltaX, event.deltaY);
}, { passive: false });

// A group opens where that has been prepared; all else is shown in detail.
function activate(number) {
  const { opens, name } = boxes[number];
  if (opens != null) enter(opens, name);
  else select(number);
}

function move(key, number) {
  const side = key === "ArrowUp" || key === "ArrowLeft" ? "from" : "to";
  const ends = lineEnds[number][side].filter(({ other }) => !isAway(other));
  if (!ends.length) return;
  // up and left lead against the lines, right and left to the second of them where there is one
  const end = ends[key === "ArrowLeft" || key === "ArrowRight" ? Math.min(1, ends.length - 1) : 0];
  select(end.other);
}

main.addEventListener("focusin", ({ target }) => {
  if (nodes.includes(target) && target.matches(":focus-visible") && !isSeen(target)) centre(target);
});
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
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === search
    || event.target === colour) return;
  if (help.open) {
    if (event.key === "?") help.close();
    return;
  }
  const commands = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit,
    "/": () => search.focus(), "?": () => help.showModal(), s: save,
    c: nextColour, f: () => switchTo("forward"), b: () => switchTo("backward"), B: () => switchTo("both"),
    m: toggleTree, Escape: () => select(null), n: () => nextMatch(1),
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
get("save").onclick = save;
get("keys").onclick = () => help.showModal();
get("done").onclick = () => help.close();
for (const button of views.children) button.onclick = () => switchTo(button.value);
for (const option of colour.options)
  option.hidden = option.value in units && new Set(measured(option.value)).size < 2;
colour.hidden = false;
colour.onchange = () => {
  if (colour.value === "file") {
    colour.value = "";
    get("file").click();
  }
  paint();
};
get("modules").hidden = !modules.size;
get("modules").onclick = toggleTree;
views.hidden = new Set(pictures[0].halves).size < 2;
addEventListener("resize", apply);
addEventListener("beforeprint", () => {
  apply();
  svg.setAttribute("viewBox", `${area.x} ${area.y} ${area.width} ${area.height}`);
});
addEventListener("afterprint", apply);

document.body.classList.add("alive");
document.querySelector("header").hidden = false;
load(0);
show(half);
drawTrail();
begin();
follow();
addEventListener("hashchange", follow);
