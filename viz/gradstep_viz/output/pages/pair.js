"use strict";
const { partners, differences } = JSON.parse(document.getElementById("data").textContent);
const frames = [...document.querySelectorAll("iframe")];
const get = id => document.getElementById(id);

// What is selected in one graph is selected in the other: by the address of its partner, which is
// its own where nothing else is said, or nothing.

const partnerOf = (address, side) => address in partners[side] ? partners[side][address] : address;

addEventListener("message", ({ source, data }) => {
  const side = frames.findIndex(frame => frame.contentWindow === source);
  if (side < 0 || typeof data?.address !== "string") return;
  tell(1 - side, partnerOf(data.address, side), data.half);
});

const tell = (side, address, half) =>
  frames[side].contentWindow.postMessage({ address, half }, "*");

// One difference after the other.

let at = -1;

function next(step) {
  if (!differences.length) return;
  at = (at + step + differences.length + (at < 0 && step < 0)) % differences.length;
  const { addresses, half, words } = differences[at];
  addresses.forEach((address, side) => tell(side, address, half));
  get("where").textContent = `${at + 1} of ${differences.length}: ${words}`;
}

get("next").onclick = () => next(1);
get("previous").onclick = () => next(-1);
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") next(1);
  else if (event.key === "N") next(-1);
});
document.querySelector("header").hidden = false;
