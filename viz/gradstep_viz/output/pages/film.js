// The style sheet of the film says what is seen when; this only sets the time.
"use strict";
const { shots, milliseconds, places, legible } = JSON.parse(document.getElementById("data").textContent);
const animations = document.getAnimations();
const [first, back, play, next, last, slider, speed, size, said] =
  ["first", "back", "play", "next", "last", "slider", "speed", "size", "said"]
    .map(id => document.getElementById(id));
const main = document.querySelector("main");
const svg = main.querySelector("svg");
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
let frame = 0;
let timer = null;

function show(number) {
  frame = Math.max(0, Math.min(shots.length - 1, number));
  for (const animation of animations) {
    animation.pause();
    // a film begins with its end; this is the round after that
    const { delay, duration } = animation.effect.getTiming();
    animation.currentTime = delay + duration + (frame + 0.5) * milliseconds;
  }
  look();
  slider.value = frame;
  said.textContent = `${frame + 1} / ${shots.length}  ${shots[frame]}`;
}

// How large the film is drawn.
const scale = () => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;

// Bring what happens into view, as a camera that follows it.
function look() {
  const [x, y, width, height] = places[frame].map(number => number * scale());
  const behavior = still ? "instant" : "smooth";
  const within = (start, end, low, high) => start >= low + 20 && end <= high - 20;
  if (!within(x, x + width, main.scrollLeft, main.scrollLeft + main.clientWidth))
    main.scrollTo({ left: x + width / 2 - main.clientWidth / 2, behavior });
  const top = svg.getBoundingClientRect().top + scrollY + y;
  const bottom = scrollY + innerHeight - document.querySelector("nav").offsetHeight;
  if (!within(top, top + height, scrollY, bottom))
    scrollTo({ top: top + height / 2 - (bottom - scrollY) / 2, behavior });
}

function pause() {
  clearInterval(timer);
  timer = null;
  play.textContent = "Play";
}

function start() {
  if (frame === shots.length - 1) show(0);
  play.textContent = "Pause";
  timer = setInterval(() => {
    show(frame + 1);
    if (frame === shots.length - 1) pause();
  }, milliseconds / Number(speed.value));
}

function go(number) {
  pause();
  show(number);
}

const toggle = () => (timer ? pause() : start());

first.onclick = () => go(0);
back.onclick = () => go(frame - 1);
play.onclick = toggle;
next.onclick = () => go(frame + 1);
last.onclick = () => go(shots.length - 1);
slider.oninput = () => go(Number(slider.value));

speed.onchange = () => {
  if (!timer) return;
  clearInterval(timer);
  start();
};

function fit(whole) {
  main.classList.toggle("fitted", whole);
  size.textContent = whole ? "Full size" : "Fit";
  look();
}

size.onclick = () => fit(!main.classList.contains("fitted"));

document.addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target === speed) return;
  const moves = { ArrowLeft: frame - 1, ArrowRight: frame + 1, Home: 0, End: shots.length - 1 };
  if (event.key in moves) go(moves[event.key]);
  else if (event.key === "f") size.click();
  else if (event.key === " " && event.target.tagName !== "BUTTON") toggle();
  else return;
  event.preventDefault();
});

if (animations.length) {
  document.querySelector("nav").hidden = false;
  fit(true);
  if (scale() < legible) fit(false);
  show(0);
  if (still) pause();
  else start();
}
