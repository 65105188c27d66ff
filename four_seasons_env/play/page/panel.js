// The panel next to the board: advice, an agent to watch, the spoiler, lists of moves.

import { get } from "./api.js";
import { positionKey } from "./board.js";

const $ = (id) => document.getElementById(id);
const percent = (chance) => `${(100 * chance).toFixed(chance < 0.1 ? 1 : 0)}%`;

const VERDICTS = {
  won: "Yes: this deal can still be won.",
  lost: "No: this deal can no longer be won.",
  unknown: "Unknown: the solver found neither a win nor a proof of a loss in time.",
};

const NO_AGENTS = "No agent is installed for these rules: pip install 'four-seasons-env[agents]'.";
const SLOW = "Thinking … The first time can take longer, because code is compiled.";
const ABOUT = "Hint shows the agent's move";
const WITH_CHANCES = `${ABOUT}, and the planner's chance of winning after each move that leads to a new position.`;

/** Let a button act, or say why it does not act. A disabled one would lose the focus. */
export function allow(id, reason) {
  $(id).setAttribute("aria-disabled", Boolean(reason));
  $(id).dataset.why = reason;
}

export class Panel {
  /**
   * @param {import("./board.js").Board} board
   * @param {{ask: (path: string) => Promise<object>, play: (move: string) => Promise<void>,
   *   follow: (advice: object) => Promise<void>, say: (text: string) => void, fail: (error: Error) => void}} game
   *   `ask` asks about the game, `follow` plays an agent's move
   */
  constructor(board, game) {
    this.board = board;
    this.game = game;
    this.watching = null; // what stands for the loop in which an agent plays
    this.ready = false; // whether there are agents to ask
    this.asked = new Set(); // agents that have been asked
    this.position = ""; // a late answer about another one is dropped
    $("hint").addEventListener("click", () => this.hint());
    $("verdict").addEventListener("click", () => this.verdict());
    $("step").addEventListener("click", () => this.step());
    $("watch").addEventListener("click", () => this.watch(!this.watching));
    $("show-chance").addEventListener("change", () => this.chance());
    $("log").addEventListener("toggle", () => this.#showLast()); // a closed list cannot scroll
  }

  #showLast() {
    $("played").scrollTop = $("played").scrollHeight;
  }

  /** Learn which agents can play the rules. */
  async offer(rules) {
    const { agents, chance } = await get(`advisers?rules=${encodeURIComponent(rules)}`);
    if (rules !== this.view.rules) return;
    const had = $("agent").value;
    this.ready = agents.length > 0;
    const names = this.ready ? agents : ["none"];
    $("agent").replaceChildren(...names.map((name) => new Option(name, name, false, name === had)));
    $("agent").disabled = !this.ready;
    $("show-chance").disabled = !chance;
    if (!chance) $("show-chance").checked = false;
    $("watched").textContent = this.ready ? (chance ? WITH_CHANCES : `${ABOUT}.`) : NO_AGENTS;
    this.#enable();
    this.chance();
  }

  #enable() {
    const reason = this.view.over ? "The game is over." : this.ready ? "" : $("watched").textContent;
    for (const id of ["hint", "step", "watch"]) allow(id, reason);
  }

  /** Show the values of moves, or else what a hint shows. */
  #list(rows) {
    refill($("values").tBodies[0], rows, $("hint"));
    $("values").hidden = rows.length === 0;
    $("watched").hidden = rows.length > 0;
  }

  /**
   * Show a game's lists, and its chance of winning if the player wants it.
   * @returns {boolean} whether the position is another one
   */
  show(view) {
    refill($("unseen-cards"), (view.unseen ?? []).map(item));
    const position = positionKey(view);
    this.view = view;
    if (position === this.position) return false; // only the drawing is new
    this.position = position;
    $("answer").textContent = "";
    if (!this.watching || view.over) this.#list([]);
    const moves = view.legal.map(({ move, words }) => item(button(words, () => this.game.play(move))));
    refill($("legal"), moves, $("moves").firstElementChild);
    refill($("cards"), view.table.map(item));
    $("played").replaceChildren(...view.moves.map((move) => item(move)));
    this.#showLast();
    this.#enable();
    if (view.over) this.watch(false);
    this.chance();
    return true;
  }

  /** An answer about the position; null if there is none, or if another position is shown now. */
  async #ask(path) {
    const { position } = this;
    try {
      const answer = await this.game.ask(path);
      return position === this.position ? answer : null;
    } catch (error) {
      this.game.fail(error);
      return null;
    }
  }

  /** Show the chance of winning, if the player wants it. */
  async chance() {
    const wanted = $("show-chance").checked;
    $("chance").hidden = !wanted;
    if (wanted && !$("chance").querySelector("span").textContent) this.#meter("loading …");
    const { position } = this;
    const answer = wanted && this.view && (await this.#ask("chance"));
    if (!wanted || position !== this.position) return;
    if (answer && answer.chance !== null) this.#meter(percent(answer.chance), answer.chance);
    else if (this.view) this.#meter("unknown");
  }

  #meter(text, chance = 0) {
    $("chance").querySelector(".value").style.width = `${100 * chance}%`;
    $("chance").querySelector(".track").setAttribute("aria-valuenow", Math.round(100 * chance));
    $("chance").querySelector("span").textContent = text;
  }

  /** An agent's move and the value of each alternative; returns the answer. */
  async hint(verb = "suggests") {
    const [agent, { position }] = [$("agent").value, this];
    if (!this.watching) this.game.say("Thinking …");
    const slow = setTimeout(() => {
      if (position === this.position && !this.asked.has(agent)) this.game.say(SLOW);
    }, 2000);
    const answer = await this.#ask(`hint?agent=${encodeURIComponent(agent)}`);
    clearTimeout(slow);
    this.asked.add(agent);
    if (!answer) return null;
    if (!answer.move) {
      this.#list([]);
      this.game.say(answer.words);
      return null;
    }
    this.board.hint(answer.from, answer.to);
    this.game.say(`${answer.agent} ${verb}: ${answer.words}.`);
    const rows = answer.alternatives.map(({ move, words, value }) => {
      const row = document.createElement("tr");
      if (move === answer.move) row.setAttribute("aria-current", "true");
      const name = row.insertCell();
      name.append(button(words, () => position === this.position && this.game.play(move)));
      row.insertCell().textContent = percent(value);
      return row;
    });
    this.#list(rows);
    return answer;
  }

  /** Let the agent play a move. */
  async step() {
    const answer = await this.hint("plays");
    if (answer) await this.game.follow(answer);
  }

  /** Let the agent play on, or stop it. */
  async watch(on) {
    if (on === Boolean(this.watching)) return;
    const loop = on ? {} : null;
    if (on) this.game.say("Thinking …");
    this.watching = loop;
    $("watch").setAttribute("aria-pressed", on);
    $("watch").textContent = on ? "Stop" : "Watch it play";
    while (loop && this.watching === loop) {
      const answer = await this.hint("plays");
      if (answer) await new Promise((done) => setTimeout(done, 1500 * (1 - $("speed").value / 100) ** 1.5));
      if (this.watching !== loop) return;
      if (!answer) return this.watch(false);
      await this.game.follow(answer);
    }
  }

  /** The solver's answer for the true deal. */
  async verdict() {
    $("answer").textContent = "Solving …";
    const { position } = this;
    const answer = await this.#ask("verdict");
    if (position !== this.position) return;
    const words = answer && (this.view.won ? "The game is won." : VERDICTS[answer.verdict]);
    $("answer").textContent = words ?? "";
  }
}

/** Fill a list. The focus on what it held goes to its first button, or else to another element. */
function refill(list, rows, other) {
  const held = list.contains(document.activeElement);
  list.replaceChildren(...rows);
  if (held) (list.querySelector("button") ?? other).focus();
}

function item(content) {
  const element = document.createElement("li");
  element.append(content);
  return element;
}

/** A button of a list that is made again for each position: a double click acts once. */
function button(words, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = words;
  element.addEventListener("click", act, { once: true });
  return element;
}
