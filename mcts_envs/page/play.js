/* The page on which somebody plays: page.js, kept up to date by a server, and a bar to ask it for things. */

import {mount} from "./page.js";

const root = document.getElementById("page"), bar = document.getElementById("bar");
let page = null, epoch = -1, known = 0, serial = -1, shown = "";
const lines = [];  // of the pictures of an epoch

const said = element("span", {className: "said", role: "status"});
const seats = element("span", {});
seats.style.display = "contents";

function element(kind, properties, ...inside) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...inside);
  return made;
}

function button(text, title, does) {
  return element("button", {type: "button", textContent: text, title, onclick: does});
}

async function ask(what) {
  const answer = await fetch("ask", {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(what)});
  const got = await answer.json();
  if (got.error) say(got.error);
  return !got.error;
}

function say(text) { said.textContent = text; }

function written(position) {  // a line for each entry, and for each row of a board
  const line = value => JSON.stringify(value);
  const rows = value => Array.isArray(value) && Array.isArray(value[0]);
  const entry = value => rows(value) ? `[\n  ${value.map(line).join(",\n  ")}\n ]` : JSON.stringify(value);
  return `{\n${Object.entries(position).map(([name, value]) => ` ${JSON.stringify(name)}: ${entry(value)}`).join(",\n")}\n}`;
}

async function setUp() {
  const answer = await fetch("position"), got = await answer.json();
  if (!answer.ok) return say(got.error);
  const text = element("textarea", {spellcheck: false, ariaLabel: "the position"});
  text.value = written(got);
  const wrong = element("p", {});
  const dialog = element("dialog", {ariaLabel: "Position"}, element("strong", {textContent: "Position"}), text, wrong,
    button("Begin here", "a new game from this position", async () => {
      try {
        if (await ask({do: "position", position: JSON.parse(text.value)})) dialog.close();
        else wrong.textContent = said.textContent;
      } catch (error) { wrong.textContent = error.message; }
    }), " ", button("Cancel", "", () => dialog.close()));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", event => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
}

/** Go on with a game that was saved. */
function open() {
  const file = element("input", {type: "file", accept: ".json,application/json"});
  file.addEventListener("change", async () => ask({do: "open", game: await file.files[0].text()}));
  file.click();
}

function showSeats(got) {
  if (JSON.stringify([got.names, epoch]) === shown) return;
  shown = JSON.stringify([got.names, epoch]);
  const at = [...seats.querySelectorAll("select")].indexOf(document.activeElement);
  seats.replaceChildren(...got.names.map((name, player) => {
    const known = got.agents.includes(name) ? got.agents : [name, ...got.agents];
    const select = element("select", {onchange: async () => {
      if (!await ask({do: "seat", player, agent: select.value})) select.value = name;  // who still sits there
    }}, ...known.map(each => element("option", {value: each, textContent: each, selected: each === name})));
    return element("label", {}, page.data.players[player].seat, select);
  }));
  seats.querySelectorAll("select")[at]?.focus();  // a keyboard goes on where it was
}

function take(got) {
  if (got.epoch !== epoch) lines.length = 0;
  lines.push(...got.lines);
  if (page === null || got.epoch !== epoch) {
    const data = {title: got.title, players: got.players, frames: got.frames, lines};
    if (page === null) page = mount(root, data);
    else page.load(data);
    page.show(got.frames.length - 1);
  } else if (got.serial !== serial) {
    page.replace(got.first, ...got.frames);
  }
  epoch = got.epoch; known = got.first + got.frames.length; serial = got.serial;
  ofOurs.forEach(each => { each.hidden = !got.saves; });
  hint.textContent = got.saves && got.frames.at(-1).over ? "Review" : "Hint";
  say(got.thinking ? `${got.thinking} is thinking` : got.said);
  showSeats(got);
}

const actions = {u: () => ask({do: "undo"}), i: () => ask({do: "hint"}), n: () => ask({do: "new", seed: null})};
root.addEventListener("choose", event => ask({do: "choose", step: known - 1, ...event.detail}));
root.addEventListener("key", event => actions[event.detail.key]?.());
const ofOurs = [button("Position", "look at the position, or set one up", setUp),
  button("Save", "the game as a file that proves itself", () => element("a", {href: "replay", download: "game.json"}).click()),
  button("Open", "go on with a game that was saved", open)];
ofOurs.forEach(each => { each.hidden = true; });  // until it is known that the game is one
const hint = button("Hint", "what the search thinks (i)", actions.i);
bar.append(seats, button("Undo", "take the last choice back (u)", actions.u), hint,
  button("New game", "n", actions.n), ...ofOurs, said);

for (;;) {
  try {
    const answer = await fetch(`state?epoch=${epoch}&known=${known}&serial=${serial}&lines=${lines.length}`);
    if (!answer.ok) throw new Error(answer.status);
    take(await answer.json());
  } catch (error) {
    say("the server has gone; begun again, it prints a new address");
    await new Promise(done => setTimeout(done, 1000));
  }
}
