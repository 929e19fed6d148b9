"""The page of a game, in a browser: its board, who plays, what each search thinks, and its way from start to end.

One module of JavaScript, ``page.js``, and one style sheet, ``page.css`` (:data:`FOLDER`), without a build step, for
every host: a file that stands alone (:func:`html`), a notebook (:class:`Shown`), a server on which somebody plays, a
running match. They are fed with JSON, a *document*, and what the module does on a page is at the head of ``page.js``::

    import {mount} from "./page.js";
    const page = mount(document.getElementById("page"), data);
    page.add(frame, another); page.replace(index, frame, another); page.cut(length); page.load(data); page.show(index);

It dispatches events on its element: ``choose`` (``event.detail`` is ``{player, action}``) when somebody who is to
choose has clicked a place on the board or a button, or pressed the key of an option; ``frame`` (``{index}``) when
another frame is shown; ``key`` (``{key}``) for a key that the page has no use for. It uses arrows, Home, End, space, h,
m and t itself.

A document, of which :func:`header` makes all but the frames:

=========  ============================================================================================================
title      what is played
players    for each seat ``seat`` (what the game calls it), ``colour`` ("#rrggbb") and ``agent`` (who plays, or None)
frames     list of frames, at least one, in order
=========  ============================================================================================================

A frame, one state of the game, of which :func:`frame` makes the first half:

=========  ============================================================================================================
picture    a whole SVG document as text (in packed documents: numbers of its lines among the document's ``lines``)
text       in place of a picture, for a game without one
turn       seats that are to choose
over       whether the game has ended
points     at the end, the points of each seat, in [0, 1]
returns    sum of the rewards of each seat so far
clocks     seconds that each seat has thought so far
note       a word that is shown below the board
decisions  what was chosen here: ``player``, ``action`` (None where only a search is shown), ``name``, ``place``,
           ``seconds``, ``search``, below, and ``better``, what the search of another one recommends in its place:
           ``action``, ``name``, ``place``, and ``by``, how much more it expects of that, None where it does not say
legal      options among which somebody who looks at the page is to choose; only those of the last frame are offered
=========  ============================================================================================================

An option is ``player``, ``action``, ``name``, ``place`` (``[x, y, width, height]`` in cells of the picture, or None)
and may have a ``key``, such as ``"w"``; :func:`options` lists those of a state. What a search found is

===========  ==========================================================================================================
action       what it recommends
value        the mean return that it expects, in units of reward
simulations  with ``steps`` and ``seconds``, what it took
actions      those looked at, the best first: ``action``, ``name``, ``place``, ``value``, and ``visits`` and ``prior``
             where it has them; ``omitted`` says how many more there are: ``{"actions": 3, "visits": 12}``
heat         what all actions with a place add up to there: ``place``, ``visits``, ``value``
line         principal variation: ``player``, ``action``, ``name``, ``place``
tree         as ``SearchTree.to_json`` writes it
text         for a search that shows itself as text alone
===========  ==========================================================================================================

All but ``title``, ``players`` and ``frames`` may be missing.
"""

from pathlib import Path

from mcts_envs.page.document import html
from mcts_envs.page.frames import frame, header, options
from mcts_envs.page.shown import Shown, show

FOLDER = Path(__file__).parent
"""Where ``page.js`` and ``page.css`` are."""

__all__ = ["FOLDER", "Shown", "frame", "header", "html", "options", "show"]
