// The table: shows the server's drawing and turns dragging, clicking and keys into moves.

const FAR = 6; // pixels that a pointer has to go for a drag

/** A text that is equal for views of one position of a game. */
export const positionKey = ({ rules, deal, moves }) => JSON.stringify([rules, deal, moves]);

const place = (element) => element?.closest("[data-at]")?.dataset.at;

export class Board {
  /**
   * @param {HTMLElement} home where the drawing goes
   * @param {{play: (move: string) => void, say: (text: string) => void, later: (act: () => void) => void,
   *   why: (from: string, to: string, more?: string) => void}} game
   *   `play` gets the text of a move; `why` says why no card goes from a place to another, and more;
   *   `later` lets a key act once the moves of those before it have been played
   */
  constructor(home, game) {
    this.home = home;
    this.game = game;
    this.view = null;
    this.chosen = null; // the place of the card that is to move
    this.hinted = null; // the two places of a hint
    this.drag = null;
    this.pressed = []; // the last two presses: a place and its card
    home.addEventListener("pointerdown", (event) => this.#down(event));
    home.addEventListener("pointermove", (event) => this.#move(event));
    home.addEventListener("pointerup", (event) => this.#up(event));
    home.addEventListener("lostpointercapture", (event) => this.#letGo(event)); // also by pointercancel
    home.addEventListener("dblclick", () => this.#twice());
    home.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      const name = place(event.target);
      this.game.later(() => this.choose(name));
    });
  }

  /** Show a game; cards glide from where they were. */
  show(view) {
    if (this.view && positionKey(this.view) !== positionKey(view)) this.hinted = null;
    const focused = place(document.activeElement);
    const were = new Map(this.#cards().map((card) => [card.dataset.card, where(card)]));
    this.view = view;
    if (this.chosen) this.game.say(""); // what it said is not true any more
    this.chosen = this.drag = null;
    const svg = new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement;
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "Table");
    svg.setAttribute("preserveAspectRatio", "xMidYMin"); // piles grow downwards
    svg.querySelector("title").remove();
    this.home.replaceChildren(document.adoptNode(svg));
    for (const [name, words] of Object.entries(view.places)) this.#dress(name, words);
    if (this.hinted) this.#showHint();
    if (focused) this.#top(focused)?.focus();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.#glide(were);
  }

  #dress(name, words) {
    const top = this.#top(name);
    top.setAttribute("tabindex", "0");
    top.setAttribute("role", "button");
    top.setAttribute("aria-label", words);
    const leaves = this.#moves(name).length > 0;
    if (leaves && !(name === "stock" && this.#turn())) top.setAttribute("aria-pressed", "false");
    for (const card of this.home.querySelectorAll(`.card[data-at="${name}"]`)) {
      card.classList.toggle("movable", leaves);
    }
    if (name === "stock" && leaves) top.style.cursor = "pointer";
  }

  #glide(were) {
    for (const card of this.#cards()) {
      const from = were.get(card.dataset.card);
      const to = where(card);
      if (!from || (from.x === to.x && from.y === to.y)) continue;
      const frames = [from, to].map(({ x, y }) => ({ transform: `translate(${x}px, ${y}px)` }));
      card.animate(frames, { duration: 160, easing: "ease-out" });
    }
  }

  #cards() {
    return [...this.home.querySelectorAll(".card")];
  }

  #top(name) {
    return [...this.home.querySelectorAll(`[data-at="${name}"]`)].at(-1);
  }

  #moves(from) {
    return this.view.legal.filter((move) => move.from === from && (from !== "W" || move.to !== "stock"));
  }

  /** The move that deals a card or turns the waste over, if there is one. */
  #turn() {
    return this.view.legal.find((move) => move.to === "stock" || (move.from === "stock" && move.to === "W"));
  }

  /** Choose a place: the card that is to move, or where it is to go. */
  choose(name) {
    if (!name || !this.view) return;
    const from = this.chosen;
    if (from && from !== name && this.send(from, name)) return;
    const turn = name === "stock" && this.#turn();
    if (turn) {
      this.game.play(turn.move);
      return;
    }
    this.release();
    if (from === name) return;
    const targets = this.#moves(name).map(({ to }) => this.view.places[to].split(",")[0]);
    const words = targets.length ? `Chosen: ${this.view.places[name]}. Targets: ${targets.join(", ")}.` : "";
    if (words) {
      this.chosen = name;
      this.#top(name).classList.add("chosen");
      this.#top(name).setAttribute("aria-pressed", "true");
      this.#showTargets(name);
    }
    if (from && name !== "stock") this.game.why(from, name, words);
    else if (words) this.game.say(words);
    else this.game.why(name, "");
  }

  /** Play the move from one place to another, if there is one. */
  send(from, to) {
    const move = this.#moves(from).find((each) => each.to === to);
    if (move) this.game.play(move.move);
    return Boolean(move);
  }

  /** Put a place's card up. */
  toFoundation(from = this.chosen) {
    const move = this.view.legal.find((each) => each.from === from && each.to.startsWith("F:"));
    if (move) this.game.play(move.move);
    else if (from) this.game.why(from, "F");
    else this.game.say("Choose a card first. F then moves it to its foundation.");
  }

  /** Clear the choice; a card that is being dragged goes back. */
  release() {
    if (this.drag?.far) this.show(this.view);
    if (this.chosen) this.game.say("");
    this.chosen = this.hinted = null;
    for (const each of this.home.querySelectorAll(".chosen, .target, .hinted")) {
      if (each.matches(".chosen")) each.setAttribute("aria-pressed", "false");
      each.classList.remove("chosen", "target", "hinted");
      each.setAttribute("aria-label", this.view.places[place(each)]);
    }
  }

  /** Mark the two places of a hint. */
  hint(from, to) {
    this.release();
    this.hinted = [from, to];
    this.#showHint();
  }

  #showHint() {
    this.#mark(this.hinted[0], "hinted", "hint: from here");
    this.#mark(this.hinted[1], "hinted", "hint: to here");
  }

  #showTargets(from) {
    for (const { to } of this.#moves(from)) this.#mark(to, "target", "a target");
  }

  /** Mark a place for the eye and in words. */
  #mark(name, mark, words) {
    this.#top(name).classList.add(mark);
    this.#top(name).setAttribute("aria-label", `${this.view.places[name]}, ${words}`);
  }

  // --- dragging

  #down(event) {
    if (this.drag) return; // of another finger
    const name = place(event.target);
    this.pressed = [this.pressed.at(-1), name && { name, card: this.#top(name).dataset.card }];
    if (!name || event.button !== 0) return;
    this.home.setPointerCapture(event.pointerId);
    const turns = name === "stock" && this.#turn();
    const cards = turns ? [] : this.#taken(name);
    this.drag = { pointer: event.pointerId, name, cards, x: event.clientX, y: event.clientY, far: false };
  }

  /** The cards that leave a place together; where a target takes fewer, the others go back. */
  #taken(name) {
    const cards = [...this.home.querySelectorAll(`.card[data-at="${name}"]`)];
    const count = Math.max(0, ...this.#moves(name).map((move) => move.cards));
    return cards.slice(cards.length - count);
  }

  #move(event) {
    const drag = this.drag;
    if (!drag?.cards.length || drag.pointer !== event.pointerId) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.far && Math.hypot(dx, dy) < FAR) return;
    if (!drag.far) {
      this.release();
      drag.far = true;
      drag.homes = drag.cards.map(where);
      for (const card of drag.cards) card.classList.add("dragged");
      drag.cards[0].parentNode.append(...drag.cards);
      this.#showTargets(drag.name);
    }
    const scale = 1 / drag.cards[0].ownerSVGElement.getScreenCTM().a;
    for (const [i, card] of drag.cards.entries()) {
      const { x, y } = drag.homes[i];
      card.setAttribute("transform", `translate(${x + dx * scale} ${y + dy * scale})`);
    }
  }

  #up(event) {
    const drag = this.drag;
    if (drag?.pointer !== event.pointerId) return;
    this.drag = null;
    if (!drag.far) {
      this.choose(drag.name);
      return;
    }
    const target = this.#under(event, drag);
    if (target && this.send(drag.name, target)) return;
    // What lies under the dragged card, which glides back from here.
    const below = document.elementsFromPoint(event.clientX, event.clientY).map(place);
    const onto = below.find((name) => name && name !== drag.name);
    this.show(this.view); // back to where it was
    if (onto) this.game.why(drag.name, onto);
  }

  /** The place under the pointer, or else the legal target that the lowest card covers most. */
  #under(event, drag) {
    const card = drag.cards[0].getBoundingClientRect();
    let best = null;
    let most = 0;
    for (const { to } of this.#moves(drag.name)) {
      const box = this.#top(to).getBoundingClientRect();
      const inside =
        event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
      const width = Math.min(card.right, box.right) - Math.max(card.left, box.left);
      const height = Math.min(card.bottom, box.bottom) - Math.max(card.top, box.top);
      const covered = inside ? Infinity : width > 0 && height > 0 ? width * height : 0;
      if (covered > most) [best, most] = [to, covered];
    }
    return best;
  }

  /** Put the card up that was pressed twice; a card that the first press moved there stays. */
  #twice() {
    const [first, second] = this.pressed; // the event's target is the board, which has the pointer
    if (second?.card && first?.name === second.name && first.card === second.card) this.toFoundation(second.name);
  }

  #letGo(event) {
    if (this.drag?.pointer !== event.pointerId) return;
    if (this.drag.far) this.show(this.view);
    this.drag = null;
  }
}

function where(card) {
  const { e, f } = card.transform.baseVal.consolidate().matrix;
  return { x: e, y: f };
}
