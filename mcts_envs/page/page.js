/* The page of a game: its board, who plays, what each search thinks, and its way from start to end.

   One module for every host: a file that stands alone, a server on which somebody plays, a notebook, a running match.
   What it is fed with is described in mcts_envs/page/__init__.py.

     import {mount} from "./page.js";
     const page = mount(element, data);           // data: the document; makes the element a page
     element.addEventListener("choose", event => event.detail);   // {player, action}: a place, a button or a key
     page.add(frame, another); page.replace(3, frame, another); page.cut(5); page.load(data); page.show(2);

   All text is set as text. Of pictures only plain shapes are taken over, so nothing in a document can run. */

const SHAPES = new Set(["rect", "ellipse", "polygon", "polyline", "text"]);
const PNG = "data:image/png;base64,";
const PRESENTATION = new Set(["x", "y", "width", "height", "rx", "ry", "cx", "cy", "points", "fill", "stroke",
  "stroke-width", "opacity", "font-size", "textLength", "lengthAdjust"]);
const ICONS = {
  first: "M2 2h2v12H2zM14 2v12L5 8z", back: "M12 2v12L4 8z", play: "M4 2l10 6-10 6z", pause: "M4 2h3v12H4zM9 2h3v12H9z",
  on: "M4 2l8 6-8 6z", last: "M12 2h2v12h-2zM2 2l9 6-9 6z", heat: "M2 2h5v5H2zM9 9h5v5H9z",
  theme: "M8 1a7 7 0 100 14A7 7 0 008 1zm0 2v10A5 5 0 018 3z",
};
const SPEEDS = [0.5, 1, 2, 4, 8, 16];
const MANY = 24;

/** Make an element the page of a document; options: {theme: "light" | "dark"}. */
export function mount(element, data, options = {}) {
  return new Page(element, data, options);
}

/** Read a document that was packed: JSON, compressed by gzip, as base64. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

class Page {
  constructor(root, data, options) {
    this.root = root;
    this.index = 0;
    this.seat = null;
    this.marked = true;
    this.speed = 2;
    root.classList.add("mcts-page");
    this.build();
    this.theme(options.theme ?? remembered() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    document.addEventListener("keydown", event => this.key(event));
    document.addEventListener("pointerdown", event => event.target.closest?.(".choices") || this.close());
    this.load(data);
  }

  get frames() { return this.data.frames; }
  get length() { return this.frames.length; }
  get frame() { return this.frames[this.index]; }
  get atEnd() { return this.index === this.length - 1; }

  /** Show another document, from its start or, where somebody is to choose, its end. */
  load(data) {
    this.data = data;
    this.title.textContent = data.title;
    this.aside.options.replaceChildren();
    this.changed();
    this.show(this.frames.at(-1)?.legal?.length ? this.length - 1 : Math.min(this.index, this.length - 1));
  }

  /** Add frames; who looks at the end sees the last at once. */
  add(...frames) { this.replace(this.length, ...frames); }

  /** Put frames in the place of those from a number on, and add what goes beyond the end.

      Who looks at the end sees the last at once; who looks at another frame sees that one as it is, with all that
      is open, unless it is replaced. */
  replace(index, ...frames) {
    if (!frames.length) return;
    const follow = this.atEnd, seen = index <= this.index && this.index < index + frames.length;
    this.frames.splice(index, frames.length, ...frames);
    this.changed();
    if (follow || seen) this.show(follow ? this.length - 1 : this.index);
    else this.showPlace();
  }

  /** Keep so many frames. */
  cut(length) {
    this.frames.length = Math.max(1, Math.min(length, this.length));
    this.changed();
    this.show(Math.min(this.index, this.length - 1));
  }

  /** Show a frame by its number from 0. */
  show(index) {
    if (!this.length) return;
    this.index = Math.max(0, Math.min(index, this.length - 1));
    this.close();
    this.decision = this.chosenDecision();
    this.showPlace();
    this.showPlayers();
    this.showBoard();
    this.showSaid();
    this.showOptions();
    this.showSearch();
    this.showTree();
    this.tell("frame", {index: this.index});
  }

  /** Which frame of all is shown. */
  showPlace() {
    this.slider.value = this.index;
    this.count.textContent = `${this.index} / ${this.length - 1}`;
    this.buttons.first.disabled = this.buttons.back.disabled = this.index === 0;
    this.buttons.on.disabled = this.buttons.last.disabled = this.atEnd;
    if (this.atEnd) this.pause();
    this.cursor?.setAttribute("x1", this.across(this.index));
    this.cursor?.setAttribute("x2", this.across(this.index));
  }

  tell(kind, detail) {
    this.root.dispatchEvent(new CustomEvent(kind, {detail, bubbles: true}));
  }

  build() {
    const button = (name, does, says, kind = "icon") => (this.buttons[name] = h("button",
      {class: kind, title: says, "aria-label": says, onclick: does}, icon(name)));
    this.buttons = {};
    this.title = h("h1");
    this.players = h("div", {class: "players"});
    this.board = h("div", {class: "board"});
    this.said = h("div", {class: "said", "aria-live": "polite"});
    this.slider = h("input", {type: "range", min: 0, value: 0, "aria-label": "move",
      oninput: () => { this.pause(); this.show(+this.slider.value); }});
    this.count = h("span", {class: "count quiet"});
    const speed = h("select", {"aria-label": "moves a second", title: "moves a second",
      onchange: event => { this.speed = +event.target.value; if (this.timer) this.play(); }},
      SPEEDS.map(each => h("option", {value: each, selected: each === this.speed}, `${each}×`)));
    const step = (way) => () => { this.pause(); this.show(this.index + way); };
    this.transport = h("div", {class: "transport"},
      button("first", step(-Infinity), "to the start (Home)", "icon skip"), button("back", step(-1), "back (←)"),
      button("play", () => this.playOrPause(), "play (space)", "icon main"), button("on", step(1), "on (→)"),
      button("last", step(Infinity), "to the end (End)", "icon skip"), this.slider, this.count, speed);
    this.aside = {};
    const card = name => (this.aside[name] = h("section", {class: `card ${name}`}));
    this.root.replaceChildren(
      h("header", {}, this.title, this.players,
        button("heat", () => this.mark(), "what the search thinks on the board (h)"),
        button("theme", () => this.theme(this.root.dataset.theme === "dark" ? "light" : "dark", true), "dark or light (t)")),
      h("main", {},
        h("div", {class: "stage"}, this.board, this.said, this.transport),
        h("aside", {}, ["options", "values", "search", "branches"].map(card))));
  }

  /** Show the next frame in which somebody chose what a search finds something better than; after the last, the first. */
  slip() {
    const slips = this.frames.flatMap((frame, index) => frame.decisions?.some(each => each.better) ? [index] : []);
    if (!slips.length) return;
    this.pause();
    this.show(slips.find(index => index > this.index) ?? slips[0]);
  }

  /** What depends on all frames: the slider and the chart. */
  changed() {
    this.slider.max = Math.max(1, this.length - 1);
    this.transport.hidden = this.length < 2;
    this.showValues();
  }

  // ---- what is around the board

  showPlayers() {
    const {turn = [], clocks = [], points, returns} = this.frame;
    this.players.replaceChildren(...this.data.players.map((player, seat) => colour(h("div",
      {class: `player tone ${turn.includes(seat) ? "turn" : ""}`},
      h("span", {class: "dot"}),
      h("span", {class: "name", title: this.nameOf(seat)}, this.nameOf(seat)),
      player.agent && this.data.players.length > 1 ? h("span", {class: "quiet"}, player.seat) : null,
      clocks[seat] ? h("span", {title: "time that it took to think"}, clock(clocks[seat])) : null,
      returns?.[seat] ? h("span", {class: "quiet", title: "sum of rewards"}, `return ${short(returns[seat])}`) : null), player.colour)));
  }

  nameOf(seat) {
    const player = this.data.players[seat] ?? {};
    return player.agent ?? player.seat ?? `player ${seat}`;
  }

  colourOf(seat) {
    return this.data.players[seat]?.colour;
  }

  showSaid() {
    const frame = this.frame;
    const several = this.data.players.length > 1;
    const done = (frame.decisions ?? []).filter(each => each.action != null);
    this.said.replaceChildren(...(frame.over ? [h("strong", {}, this.result())] : done.map(each => colour(h("span", {},
      several ? h("i", {class: "dot"}) : null, several ? h("span", {class: "quiet"}, this.nameOf(each.player)) : null,
      h("strong", {}, each.name), each.better ? h("span", {class: "quiet"}, instead(each.better)) : null), this.colourOf(each.player)))));
    if (frame.note) this.said.append(h("span", {class: "quiet"}, frame.note));
  }

  result() {
    const points = this.frame.points ?? [];
    if (!points.length) return "the end";
    if (points.length === 1) return points[0] === 1 ? "won" : points[0] === 0 ? "lost" : `over: ${short(points[0])}`;
    const winners = points.flatMap((each, seat) => each === 1 ? [this.nameOf(seat) + this.seatWords(seat)] : []);
    return winners.length ? `${winners.join(" and ")} won` : "a tie";
  }

  seatWords(seat) {
    const same = this.data.players.filter(each => each.agent === this.data.players[seat].agent).length > 1;
    return same && this.data.players[seat].agent ? `, ${this.data.players[seat].seat},` : "";
  }

  // ---- the board and what is marked on it

  showBoard() {
    const frame = this.frame;
    const markup = Array.isArray(frame.picture) ? frame.picture.map(line => this.data.lines[line]).join("\n") : frame.picture;
    if (markup) {
      const svg = drawing(markup);
      const thought = this.marked && this.decision?.search ? [...this.heat(this.decision), ...this.path(this.decision)] : [];
      svg.append(...(thought.length ? thought : this.moved()));
      this.glowing = svg.appendChild(s("g"));
      svg.append(...this.spots());
      this.board.replaceChildren(svg);
    } else {
      this.glowing = null;
      const lines = (frame.text ?? "").split("\n"), text = h("pre", {}, frame.text ?? "");
      text.style.setProperty("--rows", lines.length);
      text.style.setProperty("--columns", Math.max(...lines.map(line => line.length), 1));
      this.board.replaceChildren(text);
    }
    this.buttons.heat.setAttribute("aria-pressed", this.marked);
  }

  /** What was done where, when no search is shown. */
  moved() {
    return (this.frame.decisions ?? []).filter(each => each.action != null && each.place)
      .map(each => box(each.place, {fill: "none", stroke: this.colourOf(each.player), "stroke-width": 0.07}));
  }

  /** The shares of the visits. */
  heat({player, action, search}) {
    const cells = search.heat ?? [], most = Math.max(...cells.map(each => each.visits), 1);
    const total = sum((search.actions ?? []).map(each => each.visits ?? 0)) + (search.omitted?.visits ?? 0);
    const steps = new Set((search.line ?? []).map(each => String(each.place)));
    const done = (search.actions ?? []).find(each => each.action === (action ?? search.action));
    const code = this.colourOf(player) ?? "#2457c5";
    return cells.map(({place, visits, value}) => {
      const [x, y, width, height] = place, small = Math.min(width, height) < 0.6, share = visits / total;
      const chosen = String(place) === String(done?.place);
      const group = s("g", {class: "heat"}, box(place, {fill: code, "fill-opacity": 0.08 + 0.36 * visits / most,
        stroke: code, "stroke-width": chosen ? 0.07 : 0.025, "stroke-opacity": chosen ? 1 : 0.5 * visits / most}));
      if (share >= 0.005 && !small) {
        group.append(s("text", {x: x + width / 2, y: y + height - 0.07, "font-size": 0.22}, `${Math.round(100 * share)}%`));
      } else if (share >= 0.06 && !steps.has(String(place))) {
        group.append(s("text", {x: x + width / 2, y: y + height / 2 + 0.07, "font-size": 0.2}, `${Math.round(100 * share)}%`));
      }
      group.append(s("title", {}, `${whole(visits)} visits, value ${short(value)}`));
      return group;
    });
  }

  /** The principal variation: numbers where its actions have a place. */
  path({search}) {
    const there = {};
    return (search.line ?? []).flatMap((step, number) => {
      if (!step.place) return [];
      const [x, y, width, height] = step.place, before = there[step.place] = (there[step.place] ?? -1) + 1;
      const small = Math.min(width, height) < 0.6;
      const cx = (small ? x + width / 2 : x + width - 0.21) - 0.3 * before, cy = small ? y + height / 2 : y + 0.21;
      const fill = this.colourOf(step.player) ?? "#2457c5";
      return [s("g", {class: "path"}, s("circle", {cx, cy, r: 0.17, fill, stroke: "#ffffff", "stroke-width": 0.035}),
        s("text", {x: cx, y: cy + 0.075, "font-size": 0.21, fill: on(fill)}, number + 1))];
    });
  }

  /** Light up a place, as of the row under the pointer. */
  glow(place) {
    this.glowing?.replaceChildren(...(place ? [box(place, {fill: "none", stroke: "#ffffff", "stroke-width": 0.15}),
      box(place, {fill: "none", stroke: "#14161a", "stroke-width": 0.07})] : []));
  }

  mark() {
    this.marked = !this.marked;
    this.showBoard();
  }

  // ---- choosing

  get options() {
    return this.atEnd ? this.frame.legal ?? [] : [];
  }

  choose(option) {
    this.close();
    this.tell("choose", {player: option.player, action: option.action});
  }

  spots() {
    return grouped(this.options.filter(each => each.place)).map(each => {
      const names = each.map(one => this.called(one)).join(" / ");
      const spot = box(each[0].place, {class: "spot", tabindex: 0, role: "button", "aria-label": names});
      const go = event => each.length === 1 ? this.choose(each[0]) : this.offer(each, event);
      spot.addEventListener("click", go);
      spot.addEventListener("keydown", event => {
        if (!["Enter", " "].includes(event.key)) return;
        event.preventDefault();
        go(event);
      });
      spot.append(s("title", {}, names));
      return spot;
    });
  }

  /** Let somebody choose among actions with the same place. */
  offer(options, event) {
    this.close();
    this.opener = event.currentTarget;
    const {left, bottom} = this.opener.getBoundingClientRect();
    this.menu = h("div", {class: "choices", role: "menu"}, options.map(each => this.optionButton(each)));
    this.root.append(this.menu);
    this.menu.style.left = `${Math.max(4, Math.min(left, innerWidth - this.menu.offsetWidth - 8))}px`;
    this.menu.style.top = `${Math.max(4, Math.min(bottom + 4, innerHeight - this.menu.offsetHeight - 8))}px`;
    this.menu.firstChild.focus();
  }

  /** Close the menu of such actions; a keyboard goes on from the place that opened it. */
  close() {
    if (this.menu?.contains(document.activeElement)) this.opener.focus({preventScroll: true});
    this.menu?.remove();
    this.menu = null;
  }

  /** The name of an option, and whose it is where several are to choose. */
  called({player, name}) {
    const several = this.options.some(each => each.player !== player) || this.seatWords(player) && this.frame.turn?.length > 1;
    return several ? `${this.data.players[player].seat}: ${name}` : name;
  }

  optionButton(option) {
    const called = this.called(option);
    const dot = called === option.name ? null : colour(h("i", {class: "dot"}), this.colourOf(option.player));
    return h("button", {onclick: () => this.choose(option), onpointerenter: () => this.glow(option.place),
      onpointerleave: () => this.glow(null), title: called, "aria-label": dot ? called : null},
      dot, option.name, option.key ? h("kbd", {}, option.key === " " ? "space" : option.key) : null);
  }

  /** The actions to choose from; while others think they stay, and nothing below them moves. */
  showOptions() {
    const options = this.options, list = h("div", {class: "list"}), last = this.aside.options.querySelectorAll("button, input");
    if (!options.length && last.length && this.atEnd && !this.frame.over) {
      last.forEach(each => { each.disabled = true; });
      return;
    }
    const fill = word => list.replaceChildren(...options.filter(each => each.name.toLowerCase().includes(word.toLowerCase()))
      .sort((one, other) => Boolean(one.place) - Boolean(other.place)).map(each => this.optionButton(each)));
    fill("");
    this.aside.options.hidden = !options.length;
    this.aside.options.replaceChildren(h("div", {class: "between"}, h("h2", {}, "Legal actions"),
      options.length > MANY ? h("input", {type: "search", placeholder: `${options.length} actions`, "aria-label": "find an action",
        oninput: event => fill(event.target.value)}) : null), list);
  }

  // ---- what the search thinks

  chosenDecision() {
    const decisions = this.frame.decisions ?? [];
    return decisions.find(each => each.player === this.seat && each.search) ?? decisions.find(each => each.search) ?? decisions[0];
  }

  showSearch() {
    const card = this.aside.search, decision = this.decision, search = decision?.search;
    const searched = (this.frame.decisions ?? []).filter(each => each.search);
    card.hidden = !search && !this.frames.some(frame => frame.decisions?.some(each => each.search));
    if (!search) card.replaceChildren(h("h2", {}, "Search"), h("p", {class: "quiet"}, this.frame.over ? "The game is over."
      : this.frame.decisions?.length ? "Nobody searched here." : "Nobody has chosen here yet."));
    if (!search) return;
    const spent = [counted(search.simulations, "simulation"), counted(search.steps, "step"),
      search.seconds != null ? clock(search.seconds) : null].filter(Boolean).join(" · ");
    card.replaceChildren(...[
      searched.length > 1 ? h("div", {class: "tabs"}, searched.map(each => colour(h("button", {class: "tone",
        "aria-pressed": String(each === decision), onclick: () => { this.seat = each.player; this.show(this.index); }},
        h("i", {class: "dot"}), this.nameOf(each.player)), this.colourOf(each.player)))) : null,
      h("div", {class: "between"}, h("h2", {}, "Search"), h("span", {class: "quiet"}, spent)),
      search.actions?.length ? this.rows(decision) : null,
      search.text ? h("pre", {class: "wide"}, search.text) : null,
      search.line?.length > 1 ? h("h2", {}, "Principal variation") : null,
      search.line?.length > 1 ? h("ol", {class: "line"}, search.line.map((step, number) => {
        const item = colour(h("li", {onpointerenter: () => this.glow(step.place), onpointerleave: () => this.glow(null)},
          h("b", {}, number + 1), step.name), this.colourOf(step.player));
        return item;
      })) : null].filter(Boolean));
  }

  rows({player, action, search}) {
    const rows = search.actions, counts = rows.some(each => each.visits != null), priors = rows.some(each => each.prior != null);
    const total = sum(rows.map(each => each.visits ?? 0)) + (search.omitted?.visits ?? 0);
    const most = Math.max(...rows.map(each => each.visits ?? 0), 1), decimals = digits(rows.map(each => each.value));
    const bar = each => { const i = h("i"); i.style.width = `${100 * each.visits / most}%`; return h("td", {class: "bar"}, i); };
    const body = rows.map(each => h("tr", {class: each.action === (action ?? search.action) ? "chosen" : "",
      onpointerenter: () => this.glow(each.place), onpointerleave: () => this.glow(null)},
      h("td", {title: each.name}, each.name),
      ...(counts ? [bar(each), h("td", {}, `${(100 * each.visits / total).toFixed(1)}%`), h("td", {}, whole(each.visits))] : []),
      h("td", {}, fixed(each.value, decimals)), priors ? h("td", {}, fixed(each.prior, 3)) : null));
    if (search.omitted?.actions) body.push(h("tr", {class: "quiet"}, h("td", {}, `${search.omitted.actions} more`),
      ...(counts ? [h("td"), h("td", {}, `${(100 * search.omitted.visits / total).toFixed(1)}%`), h("td", {}, whole(search.omitted.visits))] : []),
      h("td"), priors ? h("td") : null));
    const heads = ["action", ...(counts ? ["", "share", "visits"] : []), "value", ...(priors ? ["prior"] : [])];
    return colour(h("table", {class: "tone"}, h("thead", {}, h("tr", {}, heads.map(each => h("th", {}, each)))),
      h("tbody", {}, body)), this.colourOf(player));
  }

  // ---- value over time

  across(index) { return 100 * index / Math.max(1, this.length - 1); }

  showValues() {
    const card = this.aside.values, series = this.data.players.map(() => []);
    this.frames.forEach((frame, index) => (frame.decisions ?? []).forEach(each => {
      if (each.search?.value != null) series[each.player]?.push([index, each.search.value]);
    }));
    const all = series.flat().map(([, value]) => value);
    card.hidden = all.length < 2;
    this.cursor = null;
    if (card.hidden) return;
    let low = Math.min(...all), high = Math.max(...all);
    if (low === high) { low -= 1; high += 1; }
    const up = value => 100 * (high - value) / (high - low), places = digits([low, high]);
    this.cursor = s("line", {class: "now", y1: 0, y2: 100});
    const level = value => s("line", {x1: 0, x2: 100, y1: up(value), y2: up(value)});
    const levels = [low, high, ...(low < 0 && high > 0 && Math.min(up(0), 100 - up(0)) > 12 ? [0] : [])];
    const slips = this.frames.flatMap((frame, index) => (frame.decisions ?? []).filter(each => each.better?.by)
      .map(({player, better}) => ({index, player, by: better.by})));
    const most = Math.max(...slips.map(each => each.by));
    const bars = slips.map(({index, player, by}) => colour(s("line", {class: "slip tone", x1: this.across(index),
      x2: this.across(index), y1: 100, y2: 100 - 30 * by / most}), this.colourOf(player)));
    const chart = h("div", {class: "chart"},
      s("svg", {viewBox: "0 0 100 100", preserveAspectRatio: "none"}, levels.map(level), bars, this.cursor,
        series.map((points, seat) => points.length ? colour(s("polyline", {class: points.length > 1 ? "tone" : "tone once",
          points: [points[0], ...points].map(([index, value]) => `${this.across(index)},${up(value)}`).join(" ")}), this.colourOf(seat)) : null)),
      levels.map(value => { const label = h("label", {}, fixed(value, value ? places : 0)); label.style.top = `${up(value)}%`; return label; }));
    const seek = event => {
      const {left, width} = chart.getBoundingClientRect();
      this.pause();
      this.show(Math.round((event.clientX - left) / width * (this.length - 1)));
    };
    chart.addEventListener("pointerdown", event => { chart.setPointerCapture(event.pointerId); seek(event); });
    chart.addEventListener("pointermove", event => event.buttons && seek(event));
    card.replaceChildren(h("h2", {}, "Value over time, in units of reward"), chart,
      ...(slips.length ? [h("p", {class: "quiet"}, `bars: what was given away, ${+most.toPrecision(2)} at most · m: next`)] : []));
  }

  // ---- the tree, node by node

  showTree() {
    const card = this.aside.branches, tree = this.decision?.search?.tree;
    card.hidden = !tree;
    if (!tree) return;
    this.decimals = Math.min(4, digits(tree.choices.flatMap(choice => choice.actions.map(each => each.value))));
    card.replaceChildren(h("div", {class: "between"}, h("h2", {}, "Search tree"),
      h("span", {class: "quiet"}, counted(tree.visits, "visit"))), h("div", {class: "tree"}, this.below(tree)));
  }

  /** What was done at a node, by those who chose; bars are shares of its visits. */
  below(node) {
    const choices = node.choices.filter(choice => choice.actions.length);
    return choices.flatMap(choice => {
      const total = Math.max(1, choice.visits), rows = choice.actions.map(each => this.branch(each, choice, total));
      const left = choice.visits - sum(choice.actions.map(each => each.visits));
      if (choice.omitted) rows.push(this.leaf(`${choice.omitted} more`, left, null, total));
      const who = choice.players.map(seat => this.nameOf(seat)).join(" + ");
      return [choices.length > 1 ? h("p", {class: "quiet"}, who) : null, ...rows].filter(Boolean);
    });
  }

  branch(done, choice, total) {
    const {outcomes, omitted} = done, every = outcomes.length + omitted;
    const seat = choice.players.length === 1 ? choice.players[0] : null, grows = outcomes.some(inside);
    if (!grows && every < 2) return this.leaf(done.name, done.visits, done.value, total, seat);
    const left = done.visits - sum(outcomes.map(node => node.visits));
    const children = () => every < 2 ? this.below(outcomes[0]) : [
      ...outcomes.map((node, number) => this.outcome(node, `outcome ${number + 1}`, done.visits)),
      ...(omitted ? [this.leaf(`${omitted} more`, left, null, done.visits)] : [])];
    const name = every > 1 ? `${done.name} (${every} outcomes)` : done.name;
    return this.opening(name, done.visits, done.value, total, seat, children);
  }

  outcome(node, name, total) {
    return inside(node) ? this.opening(name, node.visits, null, total, null, () => this.below(node))
      : this.leaf(name, node.visits, null, total);
  }

  opening(name, visits, value, total, seat, children) {
    const list = h("ul");
    const details = h("details", {ontoggle: () => {
      if (details.open && !list.childNodes.length) list.append(...children().map(each => h("li", {}, each)));
    }}, h("summary", {}, ...this.columns(name, visits, value, total, seat)), list);
    return details;
  }

  leaf(name, visits, value, total, seat = null) {
    return h("div", {class: "leaf"}, ...this.columns(name, visits, value, total, seat));
  }

  columns(name, visits, value, total, seat) {
    const bar = h("i", {});
    bar.style.width = `${100 * visits / total}%`;
    const several = this.data.players.length > 1 && seat != null;
    return [h("span", {class: "what", title: name}, several ? colour(h("i", {class: "dot"}), this.colourOf(seat)) : null, name),
      colour(h("span", {class: "share tone"}, bar), this.colourOf(seat ?? this.decision.player)),
      h("span", {class: "number"}, whole(visits)), h("span", {class: "number"}, value == null ? "" : fixed(value, this.decimals))];
  }

  // ---- time, keys, dark and light

  play() {
    this.pause();
    if (this.atEnd) this.show(0);
    this.timer = setInterval(() => this.show(this.index + 1), 1000 / this.speed);
    this.buttons.play.replaceChildren(icon("pause"));
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.buttons.play.replaceChildren(icon("play"));
  }

  playOrPause() {
    if (this.timer) this.pause();
    else if (this.length > 1) this.play();
  }

  theme(name, keep = false) {
    this.root.dataset.theme = name;
    if (keep) try { localStorage.setItem("mcts-page-theme", name); } catch { /* a page may not remember */ }
  }

  key(event) {
    const at = event.target.closest?.("input, select, textarea, button, summary, .spot");
    const step = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity}[event.key];
    const own = at === this.slider ? step : at?.matches("input, select, textarea") || [" ", "Enter"].includes(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || (at && own)) return;
    const option = this.options.find(each => each.key === event.key);
    if (event.key === "Escape" && this.menu) this.close();
    else if (option) this.choose(option);
    else if (step) { this.pause(); this.show(this.index + step); }
    else if (event.key === " ") this.playOrPause();
    else if (event.key === "h") this.mark();
    else if (event.key === "m") this.slip();
    else if (event.key === "t") this.buttons.theme.click();
    else { this.tell("key", {key: event.key}); return; }
    event.preventDefault();
  }
}

// ---- elements

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value != null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter(child => child != null && child !== false).map(child => child.nodeType ? child : String(child)));
  return element;
}

function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

function s(tag, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function icon(name) {
  return s("svg", {viewBox: "0 0 16 16", "aria-hidden": "true"}, s("path", {d: ICONS[name]}));
}

function box([x, y, width, height], properties) {
  return s("rect", {x, y, width, height, rx: 0.1, ...properties});
}

function colour(element, code) {
  if (/^#[0-9a-f]{6}$/i.test(code ?? "")) {
    element.style.setProperty("--seat", code);
    element.style.setProperty("--on-seat", on(code));
  }
  return element;
}

/** The colour of text on another one: that which contrasts more, by their relative luminance. */
function on(code) {
  const [red, green, blue] = [1, 3, 5].map(at => (parseInt(code.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.197 ? "#14161a" : "#ffffff";
}

/** Return a picture made of the plain shapes of another, given as text, and of its pixels: nothing else is taken over. */
function drawing(markup) {
  const given = new DOMParser().parseFromString(markup, "image/svg+xml").documentElement;
  const svg = s("svg", {viewBox: given.getAttribute("viewBox") ?? "0 0 1 1", role: "group", "aria-label": "the board", "font-family": "Aileron, Helvetica, Arial, sans-serif",
    "stroke-linecap": "round", "stroke-linejoin": "round"});
  for (const shape of given.children) {
    const pixels = shape.localName === "image" && (shape.getAttribute("href") ?? "").startsWith(PNG);
    if (!pixels && !SHAPES.has(shape.localName)) continue;
    const same = s(shape.localName);
    for (const {name, value} of shape.attributes)
      if (PRESENTATION.has(name) && !value.includes("(") || pixels && name === "href") same.setAttribute(name, value);
    same.textContent = shape.textContent;
    svg.append(same);
  }
  return svg;
}

function remembered() {
  try { return localStorage.getItem("mcts-page-theme"); } catch { return null; }
}

// ---- numbers and words

function sum(numbers) { return numbers.reduce((total, each) => total + each, 0); }

/** Group what has the same place. */
function grouped(placed) {
  return [...placed.reduce((groups, each) => groups.set(String(each.place), [...(groups.get(String(each.place)) ?? []), each]), new Map()).values()];
}

/** Say whether anything is known to have been done at a node of a tree. */
function inside(node) { return node.choices.some(choice => choice.actions.length); }

/** Decimals that give the greatest of some numbers four digits. */
function digits(values) {
  const greatest = Math.max(...values.filter(each => each != null).map(Math.abs), 0);
  return greatest ? Math.min(Math.max(0, 3 - Math.floor(Math.log10(greatest))), 9) : 1;
}

function fixed(value, decimals) { return value == null ? "–" : (value.toFixed(decimals)).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−"); }

function short(value) { return fixed(value, Number.isInteger(value) ? 0 : digits([value])); }

/** What a search would have done, and how much better it finds that. */
function instead({name, by}) { return by == null ? `it would be ${name}` : `${name} is better by ${+by.toPrecision(2)}`; }

function whole(number) { return Math.round(number).toLocaleString("en"); }

function counted(number, noun) { return number ? `${whole(number)} ${noun}${number === 1 ? "" : "s"}` : null; }

function clock(seconds) {
  if (seconds > 0 && seconds < 0.0005) return "< 1 ms";
  if (Math.round(1000 * seconds) < 1000) return `${Math.round(1000 * seconds)} ms`;
  if (Math.round(10 * seconds) < 600) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  return `${Math.floor(rounded / 60)}:${String(rounded % 60).padStart(2, "0")}`;
}
