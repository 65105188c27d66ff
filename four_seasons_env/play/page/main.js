// The page: starts games, keeps the current one over a reload, and wires buttons and keys.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { Panel } from "./panel.js";

const $ = (id) => document.getElementById(id);
const KEPT = "four-seasons-game"; // of a storage
const NARROW = matchMedia("(max-width: 800px)"); // as in style.css
const FIRST_DEAL = 20_000; // those below are for the experiments
const DEALS = 980_000;

let view = null;
let shownAt = 0;
let busy = Promise.resolve(); // requests go one after the other

const board = new Board($("board"), play);
const panel = new Panel(board, { path: () => `sessions/${view.id}`, play, say, fail });

/** A stored text; null if there is none, or if the browser allows no storage. */
function recall(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

/** Store a text. Blocked or full storage is no error. */
function keep(storage, name, text) {
  try {
    window[storage].setItem(name, text);
  } catch {
    // a reload then shows an older game or a new one
  }
}

function recallGame(storage) {
  try {
    return JSON.parse(recall(storage, KEPT));
  } catch {
    return null;
  }
}

function keepGame(storage, id) {
  const { rules, deal, moves } = view;
  keep(storage, KEPT, JSON.stringify({ id, rules, deal, moves }));
}

function say(text, kind = "") {
  $("message").textContent = text;
  $("message").className = kind;
}

function fail(error) {
  say(error.message, "error");
  if (!view) $("board").firstElementChild.textContent = "No game is open.";
}

function show(next) {
  view = next;
  shownAt = performance.now();
  document.title = `${view.rules}, deal ${view.deal}`;
  board.show(view);
  panel.show(view);
  $("rules").value = view.rules;
  $("deal").value = view.deal;
  $("up").textContent = `${view.cards_up} of ${view.cards}`;
  $("count").textContent = view.moves.length;
  $("undo").disabled = view.moves.length === 0;
  $("redo").disabled = !view.can_redo;
  $("finish").disabled = !view.legal.some((move) => move.to.startsWith("F:"));
  if (view.won) say(`Won in ${view.moves.length} moves and ${clock(view.seconds)}.`, "won");
  else if (view.over) say("No useful move is left. Undo some moves, or start a new game.");
  else say("");
  tick();
  keepGame("localStorage", view.id);
  const address = `?${new URLSearchParams({ rules: view.rules, deal: view.deal })}`;
  if (location.search !== address) history.replaceState(null, "", address);
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

function tick() {
  if (!view) return;
  const since = view.over ? 0 : (performance.now() - shownAt) / 1000;
  $("time").textContent = clock(view.seconds + since);
}

/** How the server is to draw the table. */
function suffix() {
  const flags = new URLSearchParams();
  if ($("unseen").open) flags.set("unseen", 1);
  if (NARROW.matches) flags.set("compact", 1);
  return `?${flags}`;
}

/** Do something with the game on the server, after what is under way, and show the answer. */
function act(request) {
  busy = busy.then(async () => {
    try {
      show(await request());
    } catch (error) {
      if (error.status === 404 && view) await again(view);
      else {
        fail(error);
        if (view) board.show(view);
      }
    }
  });
  return busy;
}

function change(what, body) {
  return act(() => post(`sessions/${view.id}/${what}${suffix()}`, body));
}

function play(move) {
  return change("move", { move });
}

function start(rules, deal) {
  panel.watch(false);
  return act(() => post(`sessions${suffix()}`, { rules, deal }));
}

/** Set up again a game that the server has forgotten. */
async function again({ rules, deal, moves }) {
  try {
    show(await post(`sessions${suffix()}`, { rules, deal, moves }));
  } catch (error) {
    fail(error);
  }
}

function anyDeal() {
  return String(FIRST_DEAL + Math.floor(Math.random() * DEALS));
}

/** Continue a kept game: the server's, or else one set up again. Returns whether that worked. */
async function resume({ id, rules, deal, moves }) {
  const ways = [() => post(`sessions${suffix()}`, { rules, deal, moves })];
  if (id) ways.unshift(() => get(`sessions/${encodeURIComponent(id)}${suffix()}`));
  for (const way of ways) {
    try {
      show(await way());
      return true;
    } catch {
      // the server has forgotten the game, or the stored text is damaged
    }
  }
  return false;
}

/** Show the current game of the address or the command line, or continue it after a reload. */
async function open() {
  const [sets, first] = await Promise.all([get("rules"), get("start")]);
  $("rules").replaceChildren(...sets.map(({ name }) => new Option(name)));
  const explain = () => {
    const { how, about } = sets.find(({ name }) => name === $("rules").value);
    $("how").textContent = how;
    $("about").textContent = about;
  };
  const asked = new URLSearchParams(location.search);
  const kept = recallGame("localStorage");
  const rules = asked.get("rules") ?? first.rules;
  const deal = asked.get("deal") ?? (asked.has("rules") ? null : first.deal);
  const same = kept?.rules === rules && (deal ?? kept.deal) === kept.deal;
  if (!same || !(await resume(kept))) await start(rules, deal ?? anyDeal());
  explain();
  $("rules").addEventListener("change", explain);
  const restart = async (number) => {
    await start($("rules").value, number);
    explain();
    panel.offer($("rules").value).catch(fail);
  };
  $("new").addEventListener("submit", (event) => {
    event.preventDefault();
    restart($("deal").value.trim() || anyDeal());
  });
  $("any").addEventListener("click", () => restart(anyDeal()));
  await panel.offer($("rules").value);
}

// --- buttons, keys and looks

const redraw = () => view && act(() => get(`sessions/${view.id}${suffix()}`));

for (const what of ["undo", "redo", "finish"]) $(what).addEventListener("click", () => change(what));
$("unseen").addEventListener("toggle", redraw);
NARROW.addEventListener("change", redraw);

const KEYS = {
  d: () => board.choose("stock"),
  w: () => board.choose("W"),
  f: () => board.toFoundation(),
  u: () => $("undo").click(),
  r: () => $("redo").click(),
  a: () => $("finish").click(),
  h: () => $("hint").click(),
  Escape: () => board.release(),
};

/** A key's Latin letter or digit; for other alphabets and digits above letters, by its position. */
function latin({ key, code, shiftKey }) {
  if (/^[a-z1-9]$/i.test(key)) return key.toLowerCase();
  if (/^Digit[1-9]$/.test(code) && !shiftKey) return code.at(-1);
  if (/^Key[A-Z]$/.test(code) && !/^\p{Script=Latin}$/u.test(key)) return code.at(-1).toLowerCase();
  return key;
}

addEventListener("keydown", (event) => {
  if (!view || event.altKey) return;
  if (event.target.matches("input:not([type=checkbox], [type=range]), select, textarea")) return;
  const key = latin(event);
  if (event.ctrlKey || event.metaKey) {
    const redo = key === "z" ? event.shiftKey : key === "y" && event.ctrlKey;
    if (key !== "z" && !redo) return;
    event.preventDefault();
    KEYS[redo ? "r" : "u"]();
  } else if (KEYS[key]) KEYS[key]();
  else if (/^[1-9]$/.test(key) && `T${key - 1}` in view.places) board.choose(`T${key - 1}`);
});

function look(button, name, on, off) {
  const root = document.documentElement;
  const set = (value) => {
    root.dataset[name] = value;
    $(button).setAttribute("aria-pressed", value === on);
  };
  const dark = name === "theme" && matchMedia("(prefers-color-scheme: dark)").matches;
  const kept = recall("localStorage", name);
  set([on, off].includes(kept) ? kept : dark ? on : off);
  $(button).addEventListener("click", () => {
    set(root.dataset[name] === on ? off : on);
    keep("localStorage", name, root.dataset[name]);
  });
}

look("theme", "theme", "dark", "light");
look("colours", "colours", "four", "two");
setInterval(tick, 1000);
open().catch(fail);
