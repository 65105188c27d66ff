// The page: starts games, keeps the current one over a reload, and wires buttons and keys.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { Panel, allow } from "./panel.js";

const $ = (id) => document.getElementById(id);
const KEPT = "four-seasons-game"; // the last game: of the tab in sessionStorage, of all in localStorage
const STORAGES = ["sessionStorage", "localStorage"];
const GAMES = "four-seasons-games"; // whether each deal that was played has been won
const IDS = "four-seasons-ids";
const SMALL = matchMedia("(max-width: 50em), (max-height: 40em)"); // as in style.css
const FIRST_DEAL = 20_000; // those below are for the experiments
const DEALS = 980_000;
const TRIES = 30;

let view = null;
let shownAt = 0;
let busy = Promise.resolve(); // requests go one after the other
let typed = Promise.resolve(); // and keys, each after the requests of those before
let sets = []; // the names of rule sets
// The server's games by address. They are stored only while the page reloads: a copy of the tab gets
// a copy of its sessionStorage, and must not play its games.
const ids = { ...recallJson("sessionStorage", IDS) };
addEventListener("pagehide", () => keep("sessionStorage", IDS, JSON.stringify(ids)));
addEventListener("pageshow", () => keep("sessionStorage", IDS, "{}"));

const board = new Board($("board"), { play, say, why, later });
const panel = new Panel(board, { ask, play, follow, say, fail });

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

/** A stored value; null if there is none, or a damaged one. */
function recallJson(storage, name) {
  try {
    return JSON.parse(recall(storage, name));
  } catch {
    return null;
  }
}

/** A deal's number as people type or paste it: "# 20,017", "017". */
function numberOf(text) {
  return text.replace(/[\s,#]/g, "").replace(/^0+(?=\d)/, "");
}

function addressOf({ rules, deal }) {
  return `?${new URLSearchParams({ rules, deal })}`;
}

function say(text, kind = "") {
  $("message").textContent = text;
  $("message").className = kind;
}

function fail(error) {
  say(error.message, "error");
  if (view) return;
  $("board").firstElementChild.textContent = "No game is open.";
  for (const id of ["how", "watched"]) $(id).textContent = ""; // nothing is being loaded any more
}

function show(next) {
  const [shown, other] = [view?.rules, !view || addressOf(view) !== addressOf(next)];
  view = next;
  shownAt = performance.now();
  document.title = `${view.rules}, ${view.deal === "deck" ? "" : "deal "}${view.deal}`;
  board.show(view);
  const isNew = panel.show(view);
  if (view.rules !== shown) {
    if (!sets.includes(view.rules)) {
      sets.push(view.rules); // of the address, such as "czarina(piles=4)"
      $("rules").add(new Option(view.rules));
    }
    $("how").textContent = view.how;
    $("about").textContent = view.about;
    panel.offer(view.rules).catch(fail);
  }
  if (other) [$("rules").value, $("deal").value] = [view.rules, view.deal]; // no more: the player may be typing
  $("up").textContent = `${view.cards_up} of ${view.cards}`;
  $("count").textContent = view.moves.length;
  $("moved").textContent = view.moves.length === 1 ? "move" : "moves";
  for (const id of ["undo", "restart"]) allow(id, view.moves.length ? "" : "No move has been played.");
  allow("redo", view.can_redo ? "" : "No move has been taken back.");
  allow("finish", view.legal.some((move) => move.to.startsWith("F:")) ? "" : "No card goes up now.");
  const over = view.over ? "No useful move is left. Undo some moves, or start a new game." : "";
  const news = view.said || (other ? `${document.title}.` : "");
  const end = view.won ? `Won in ${view.moves.length} moves and ${clock(view.seconds)}.` : `${news} ${over}`;
  if (view.unsaved) say(`${end} ${view.unsaved}.`, "error");
  else if (isNew) say(end, view.won ? "won" : "");
  tick();
  const address = addressOf(view);
  ids[address] = view.id;
  const game = store(view);
  for (const storage of STORAGES) keep(storage, KEPT, game);
  if (location.search !== address) history.replaceState(null, "", address);
}

/** Keep a game in the tab; returns its text. */
function store({ rules, deal, moves, history }) {
  const game = JSON.stringify({ rules, deal, moves, history });
  keep("sessionStorage", KEPT + addressOf({ rules, deal }), game);
  return game;
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
  if (SMALL.matches) flags.set("compact", 1);
  return `?${flags}`;
}

/** Do something with the game on the server, after what is under way, and show the answer if there is one. */
function act(request) {
  busy = busy.then(async () => {
    try {
      const next = await request().catch(async (error) => {
        if (error.status !== 404 || !view) throw error;
        show(await setUp(view)); // the server has been started again
        return request();
      });
      if (next) show(next);
    } catch (error) {
      if (view) board.show(view);
      fail(error);
    }
  });
  return busy;
}

/** Let a key act on the position that those before it lead to, unless another game is on the table by then. */
function later(act) {
  const address = addressOf(view);
  const turn = typed.then(async () => {
    for (let seen = null; seen !== busy; await seen) seen = busy;
    if (addressOf(view) === address) act();
  });
  typed = turn.catch(() => {}); // an error is reported, and the next key acts
}

/** Change the game as the player wants, unless another one is on the table by then. */
function change(what, body) {
  const address = addressOf(view);
  panel.watch(false);
  return act(async () => addressOf(view) === address && post(`sessions/${view.id}/${what}${suffix()}`, body));
}

/** Play an agent's move, unless the position is another one by then. */
function follow({ agent, move }) {
  const seen = view;
  return act(async () => {
    if (view !== seen) return null;
    const next = await post(`sessions/${view.id}/move${suffix()}`, { move, agent });
    return { ...next, said: `${agent}: ${next.said}` };
  });
}

function play(move) {
  return change("move", { move }).then(tally);
}

/** Ask about the game. */
async function ask(what) {
  const request = () => get(`sessions/${view.id}/${what}`);
  return request().catch(async (error) => {
    if (error.status !== 404) throw error;
    await redraw(); // sets the game up again
    return request();
  });
}

/** Say why no card goes from a place to another, or anywhere, and more. */
async function why(from, to, more = "") {
  const seen = view;
  try {
    const answer = await ask(`why?${new URLSearchParams({ from, to })}`);
    if (view === seen) say(`${answer.why} ${more}`);
  } catch (error) {
    fail(error);
  }
}

/** Count the deals that the player has played and won in this browser; an agent's moves count nothing. */
function tally() {
  const games = { ...recallJson("localStorage", GAMES) };
  if (view?.moves.length) games[addressOf(view)] = games[addressOf(view)] === true || view.won;
  keep("localStorage", GAMES, JSON.stringify(games));
  const played = Object.keys(games).filter((each) => each.startsWith("?")); // damaged values have others
  const won = played.filter((each) => games[each] === true);
  $("tally").textContent = `Deals won in this browser: ${won.length} of ${played.length}`;
}

/** Ask for a game from the opening, or after moves. */
function setUp({ rules, deal, moves, history }) {
  return post(`sessions${suffix()}`, { rules, deal, moves, history });
}

/** Leave the game for another one, with an entry in the browser's history: Back returns to it. */
function start(request) {
  panel.watch(false);
  return act(async () => {
    const next = await request();
    const address = addressOf(next);
    if (!view || location.search === address) return next;
    const left = await post(`sessions/${view.id}/leave`); // a lost game is recorded
    store(left);
    history.pushState(null, "", address);
    return { ...next, unsaved: left.unsaved };
  });
}

/** Any deal, or one of those that the solver can win. */
async function anyGame(rules) {
  if (!$("winnable").checked) return setUp({ rules, deal: anyDeal() });
  say("Looking for a deal that can be won …");
  for (let tries = 0; tries < TRIES; tries += 1) {
    const game = await setUp({ rules, deal: anyDeal() });
    const { verdict } = await get(`sessions/${game.id}/verdict`);
    if (verdict === "won") return game;
  }
  throw new Error(`The solver could win none of ${TRIES} deals of ${rules}.`);
}

/** Open a deal. If the tab has played it, its moves are taken back, and Redo plays them again. */
async function openDeal(game) {
  const id = ids[addressOf(game)];
  if (!id) return setUp(game);
  return post(`sessions/${encodeURIComponent(id)}/restart${suffix()}`).catch(() => setUp(game));
}

function anyDeal() {
  return String(FIRST_DEAL + Math.floor(Math.random() * DEALS));
}

/**
 * Continue the tab's game of the address, or start one; without a deal, continue the last game.
 * @param {{rules: string, deal: ?string}} first the game of an address that names none
 */
async function enter(first) {
  panel.watch(false);
  const asked = new URLSearchParams(location.search);
  const rules = asked.get("rules") || first.rules;
  const deal = numberOf(asked.get("deal") ?? (asked.has("rules") ? "" : (first.deal ?? "")));
  let game;
  if (!deal) game = STORAGES.map((storage) => recallJson(storage, KEPT)).find((each) => each?.rules === rules);
  else game = { ...recallJson("sessionStorage", KEPT + addressOf({ rules, deal })), rules, deal };
  const id = game && ids[addressOf(game)];
  const fresh = () => setUp({ rules, deal: deal || anyDeal() });
  const ways = []; // each is for a failure of the one before
  if (id) ways.push(() => get(`sessions/${encodeURIComponent(id)}${suffix()}`));
  if (game?.moves) ways.push(() => setUp(game)); // the server has forgotten the game
  ways.push(fresh); // the stored value is damaged
  ways.push(() => setUp({ rules, deal: anyDeal() }), () => setUp({ rules: first.rules, deal: anyDeal() }));
  let refused = null; // why the address cannot be opened
  await act(async () => {
    for (const way of ways) {
      try {
        return await way();
      } catch (error) {
        if (way === fresh) refused = error;
      }
    }
    return null;
  });
  if (!refused) return;
  const [why] = refused.message.split(/:? known: /); // the field Rules lists them
  fail(view ? new Error(`${why.replace(/[^?.]$/, "$&.")} Another game is open.`) : refused);
}

/** Show the current game of the address or the command line, or continue it after a reload. */
async function open() {
  const first = await get("start");
  sets = first.known;
  $("rules").replaceChildren(...sets.map((name) => new Option(name)));
  await enter(first);
  $("new").addEventListener("submit", (event) => {
    event.preventDefault();
    const [rules, deal] = [$("rules").value, numberOf($("deal").value)];
    start(() => (deal ? openDeal({ rules, deal }) : anyGame(rules)));
  });
  $("any").addEventListener("click", () => start(() => anyGame($("rules").value)));
  addEventListener("popstate", () => enter(first));
}

// --- buttons, keys and looks

const redraw = () => view && act(() => get(`sessions/${view.id}${suffix()}`));

for (const what of ["undo", "redo", "restart"]) $(what).addEventListener("click", () => change(what));
$("finish").addEventListener("click", () => change("finish").then(tally));
$("unseen").addEventListener("toggle", redraw);
SMALL.addEventListener("change", redraw);

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

const PILES = "1234567890-=";

addEventListener("click", tellWhy, { capture: true });

/** Say why a button does not act. */
function tellWhy(event) {
  const button = event.target.closest?.("[aria-disabled=true]");
  if (!button) return;
  event.stopPropagation();
  say(button.dataset.why);
}

/** A key's Latin letter or digit; for other alphabets and digits above letters, by its position. */
function latin({ key, code, shiftKey }) {
  if (/^[a-z0-9]$/i.test(key)) return key.toLowerCase();
  if (["Minus", "Equal"].includes(code) && !shiftKey) return code === "Minus" ? "-" : "=";
  if (/^Digit[0-9]$/.test(code) && !shiftKey) return code.at(-1);
  if (/^Key[A-Z]$/.test(code) && !/^\p{Script=Latin}$/u.test(key)) return code.at(-1).toLowerCase();
  return key;
}

const isField = (element) => element.matches("input:not([type=checkbox], [type=range]), select, textarea");

/** A key that is held down acts once, also on a button, on the board and in a field that it sends. */
function once(event) {
  if (!event.repeat || !["Enter", " "].includes(event.key)) return;
  if (event.key === " " && isField(event.target)) return;
  event.preventDefault();
  event.stopPropagation();
}
addEventListener("keydown", once, { capture: true });

addEventListener("keydown", (event) => {
  if (!view || event.altKey || event.repeat || isField(event.target)) return;
  const key = latin(event);
  if (event.ctrlKey || event.metaKey) {
    const redo = key === "z" ? event.shiftKey : key === "y" && event.ctrlKey;
    if (key !== "z" && !redo) return;
    event.preventDefault();
    later(KEYS[redo ? "r" : "u"]);
  } else if (key.length > 1 || document.documentElement.dataset.keys === "on") later(() => press(key));
});

function press(key) {
  const pile = PILES.indexOf(key);
  if (KEYS[key]) KEYS[key]();
  else if (`T${pile}` in view.places) board.choose(`T${pile}`);
  else if (pile >= 0) say(`There is no pile ${pile + 1}.`);
}

/** A button with two states, the first of which is the usual one; the browser keeps the other. */
function look(name, usual, other, pressed) {
  const root = document.documentElement;
  const set = (value) => {
    root.dataset[name] = value;
    $(name).setAttribute("aria-pressed", value === pressed);
  };
  set(recall("localStorage", name) === other ? other : usual);
  $(name).addEventListener("click", () => {
    set(root.dataset[name] === usual ? other : usual);
    keep("localStorage", name, root.dataset[name]);
  });
}

$("winnable").checked = recall("localStorage", "winnable") === "true";
$("winnable").addEventListener("change", () => keep("localStorage", "winnable", $("winnable").checked));
const themes = ["light", "dark"];
if (matchMedia("(prefers-color-scheme: dark)").matches) themes.reverse();
look("theme", ...themes, "dark");
look("colours", "two", "four", "four");
look("keys", "on", "off", "on"); // speech input types letters that nobody means as keys
setInterval(tick, 1000);
tally();
open().catch(fail);
