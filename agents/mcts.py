"""Monte Carlo tree search as an agent."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from agents.base import check_turn, view_of
from agents.budget import Budget, Clock
from agents.evaluator.batched import AHEAD
from agents.planner import Planner, variant_of
from agents.policies.mean import mean
from agents.policies.opponents import OPPONENTS, read_information, read_opponents, variant_name
from agents.policies.options import primitive
from agents.policies.parameters import read_parameters
from agents.policies.recommend import max_visits
from agents.policies.signatures import SIGNATURES, as_it_falls, check_form, needs_of, nothing
from agents.results import SearchResult
from agents.search.given import evaluation_of, first_budget, limit, policy_of
from agents.search.patience import hurry
from agents.search.plan import SearchPlan
from agents.search.records import Settings
from agents.search.running import Search, together
from agents.search.search import OPEN_LOOP
from agents.search.tree import STORES, Tree
from agents.settings import settings_of
from mcts_envs.core import errors
from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.kernel import function_table
from mcts_envs.core.rng import draw, new_stream
from mcts_envs.core.view import View

MAX_HORIZON = 10_000
"""Longest simulation in steps: compiled code cannot be interrupted, and a game may have no end."""

MAX_DEPTH = 1000
"""Longest path of a tree; deeper states are rolled out."""

MAX_NODES = 500_000
"""Nodes of a tree (about 60 MB for one player) when the number of simulations does not bound it."""

MAX_THREADS = 256

POLICY = "policy"
"""The ``evaluate`` of leaves by the policy that is consulted."""

LOOPS = {"open": OPEN_LOOP, "closed": EVERYTHING, "information_set": 0}


class MCTS(Planner[SearchResult]):
    """Monte Carlo tree search: UCT by default.

    Parameters
    ----------
    simulations : int, optional
        Budget in simulations; 1000 when no budget is given. The tightest budget ends a search.
    time_limit : float, optional
        Budget in seconds, from the call on. A simulation that has begun is finished, and there is at least one for each
        thread, in environments that are not ours one for each action, up to four; then the result is made up (0.1 to
        0.3 ms for the most part). Not in the limit: compiling and loading at the first use, pauses of Python's garbage
        collector and of the operating system, and moving a tree that is used again.
    max_steps : int, optional
        Budget in steps of the model.
    first_move : mapping, optional
        Another budget, in the same terms, for an agent's first search of a game: ``{"time_limit": 5.0}``.
    select, simulate, backup : kernel or str
        Policies of :mod:`agents.policies`: what is looked at next, how a leaf is played on, and how the result is taken
        into the tree. One of your own is given itself, or by its file: ``"my_policy.py:bold"``; so are those below.
    noise : kernel or str
        Policy that keeps players who choose at the same time from moving in step; ``"no_noise"`` for none.
    option : kernel or str
        Policy by which a choice of the searching player in the tree goes on for some steps, so that the search looks
        further ahead (:mod:`agents.policies.options`): ``"repeat"`` the action, ``"follow"`` the game's advice;
        ``"primitive"``: not at all. What is played is its first action; the next search may choose anew.
    recommend : callable or str
        Policy that picks the final move.
    discount : float
        Discount of rewards a step.
    horizon : int, optional
        Steps from the root after which simulations are cut off and evaluated; None plays to the end, which is cut off
        after 10,000 steps.
    rollout_depth : int, optional
        Steps after which a rollout is cut off and evaluated; 0 evaluates the leaf itself. Where neither this nor a
        horizon is given, rollouts in environments that are not ours take 1,000 steps at most, and fewer, 60 at least,
        in a search whose first ones come to no end (:mod:`agents.search.patience`).
    tree_depth : int, optional
        Steps from the root that the tree covers at most.
    loop : {None, "open", "closed", "information_set"}
        What an action leads to in the tree: one node whatever came of it; a node for every state that came out, so
        that chance has nodes of its own; or one for everything that the searching player can tell apart. Where
        something is hidden, use the last: a closed loop acts on what it dealt itself. An open loop plans a line of
        actions that cannot answer what chance brings, and so may prefer a worse action however long it searches. By
        default ``"information_set"``; ``"closed"`` with ``information="full"`` or a ``select`` that needs it; and
        ``"open"`` on environments that are not ours, whose states are dear to tell apart, unless ``reuse`` needs more.
    information : {"own", "full"}
        What the planner is told: what its player knows, the rest is redrawn in every simulation; or the whole state, as
        the forward models of the literature do, so that only chance to come is redrawn.
    opponents : {None, "uniform", "advised", "mixed"}
        What the others do in the tree: None: search, each with statistics of its own (decoupled where they choose at
        the same time); else only the searching player's actions tell nodes apart, and the others' are drawn anew in
        every simulation, uniformly or as the game advises; with ``"mixed"`` each of their decisions is drawn as advised
        or searched for, one as likely as the other.
    opponent_model : str, optional
        Variant of the game whose advice the others follow, in the tree and in rollouts that ask for advice; by default
        that of ``model`` and ``rollout_model``. With ``opponents="advised"`` or ``"mixed"``.
    model, rollout_model : str, optional
        Variants of the game (``Game.variants``) to search in, and to roll out in (default: the model).
    evaluate : kernel or str, optional
        What a state is worth at the horizon, ``(state, values[P])``, given itself or by its file, or the variant of the
        game that says so; by default the game's own ``evaluate``. A plain Python function makes the whole search plain
        Python: for environments that are not ours, where ``state.env`` is the copied environment.
    policy : str, Path, model or callable, optional
        A trained policy that is consulted in place of what the game advises: a zip of Stable-Baselines3 or what
        ``agents.export`` made of it, a model, ``"shipped"`` for what comes with this package, or a function
        ``(observations, masks) -> (probabilities, values)`` (:mod:`agents.learning.functions`). Its probabilities are
        the prior of ``select="puct"``, and what rollouts and opponents follow who are ``"advised"``;
        ``evaluate="policy"`` makes its value that of leaves, without a rollout unless ``rollout_depth`` asks for one.
    relative : bool
        Leaf value relative to the root: count ``evaluate`` as its change since there, by the model of rollouts.
    reuse : bool
        Go on from the part of the last tree that the game has reached. Not with ``loop="open"``, where nothing tells
        which part that is, nor with ``relative``, whose values count from another root.
    early_stop : bool
        End a search when the simulations that are left cannot change which action has the most visits (H. Baier, M.
        Winands 2011, "Time management for Monte-Carlo tree search in Go"). With a budget in simulations the action
        stays the same, and it ends with the first simulation after which this is so. With ``recommend="max_visits"``
        and one thread.
    threads : int
        Trees that are built at the same time, each with its share of the budget, and added up.
    max_nodes : int
        Bound on the nodes of all trees (each has at least as many as actions); when a tree is full, simulations go on
        without it growing.
    seed : int
    **parameters
        Parameters of the policies, by name; each policy lists its own (``help(agents.policies.rave.rave)``). Most
        selection policies have these: ``c``, the exploration constant, 0.5 for ``ucb1``, which is strong where there
        are few simulations (the bound of Auer et al., sqrt(2), looks at other actions more often: where there are tens
        of thousands, it rather finds out that the one that came to look best is not); ``normalize``, whether ``c`` and
        ``fpu`` count in ranges of the returns seen so far, so that they do not depend on the size of rewards; and
        ``fpu``, first-play urgency: what an action without a visit counts. None leaves the policy its own.

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.

    Attributes
    ----------
    parameters : dict
        What the policies are given, by name.
    """

    name = "mcts"
    common_chance = False
    shares_budget = False
    """Whether rounds or trees share a budget, which has to be known: such a search neither goes on nor stops early."""

    def __init__(
        self,
        *,
        simulations: int | None = None,
        time_limit: float | None = None,
        max_steps: int | None = None,
        first_move: Mapping[str, Any] | None = None,
        select: Callable[..., int] | str = "ucb1",
        simulate: Callable[..., int] | str = "uniform",
        backup: Callable[..., None] | str = "mean",
        noise: Callable[..., None] | str = "uniform_noise",
        option: Callable[..., int] | str = "primitive",
        recommend: Callable[..., int] | str = "max_visits",
        discount: float = 1.0,
        horizon: int | None = None,
        rollout_depth: int | None = None,
        tree_depth: int | None = None,
        loop: str | None = None,
        information: str = "own",
        opponents: str | None = None,
        opponent_model: str | None = None,
        model: str | None = None,
        rollout_model: str | None = None,
        evaluate: Callable[..., None] | str | None = None,
        policy: Any = None,
        relative: bool = False,
        reuse: bool = False,
        early_stop: bool = False,
        threads: int = 1,
        max_nodes: int = MAX_NODES,
        seed: int = 0,
        **parameters: Any,
    ) -> None:
        super().__init__(simulations=simulations, time_limit=time_limit, max_steps=max_steps, seed=seed)
        self.first_move = None if first_move is None else first_budget(first_move)
        self.select = policy_of("select", select)
        self.simulate = policy_of("simulate", simulate)
        self.backup = policy_of("backup", backup)
        self.noise = policy_of("noise", noise)
        self.option = policy_of("option", option)
        self.recommend = policy_of("recommend", recommend)
        self.parameters = read_parameters(self._policies(), parameters, settings_of(type(self)))
        self.discount = errors.number("discount", discount, 0.0, 1.0)
        self.horizon = limit("horizon", horizon, 1, MAX_HORIZON)
        self.rollout_depth = limit("rollout_depth", rollout_depth, 0, MAX_HORIZON)
        self.tree_depth = limit("tree_depth", tree_depth, 1, MAX_DEPTH)
        if loop is not None:
            errors.choice("loop", loop, LOOPS)
        self.loop = loop
        self.information = read_information(information)
        if information == "full" and loop == "information_set":
            raise ValueError("information='full' leaves nothing hidden to tell apart; take loop='closed' or 'open'")
        self.opponents, self.opponent_model = read_opponents(opponents, opponent_model)
        self.model, self.rollout_model = variant_name("model", model), variant_name("rollout_model", rollout_model)
        self.evaluate = evaluation_of(evaluate)
        self.policy = self._consulted(policy)
        if self.evaluate == POLICY and rollout_depth is None:
            self.rollout_depth = 0
        self.relative = errors.flag("relative", relative)
        self.reuse = errors.flag("reuse", reuse)
        if reuse and loop == "open":
            raise ValueError("reuse=True needs loop='closed' or 'information_set': an open loop cannot find the state")
        if reuse and relative:
            raise ValueError("reuse=True adds up what relative=True counts from two roots; leave one of them out")
        self.threads = errors.integer("threads", threads, 1, MAX_THREADS)
        self.early_stop = errors.flag("early_stop", early_stop)
        if early_stop and (threads > 1 or self.recommend is not max_visits or self.shares_budget):
            raise ValueError("early_stop=True is for 'mcts' agents with recommend='max_visits' and threads=1")
        self.max_nodes = errors.integer("max_nodes", max_nodes, 1, 2**28)
        self._check_signatures()

    def _consulted(self, policy: Any) -> Any:
        """Return a policy that was read, or the name of one that comes with the game at hand."""
        others = self.opponents in ("advised", "mixed") and self.opponent_model is None
        rollouts = self.rollout_model is None and needs_of(self.simulate).prior
        prior = others or rollouts or needs_of(self.select).prior or needs_of(self.option).prior
        if policy is None:
            if self.evaluate == POLICY:
                raise ValueError(
                    "evaluate='policy' needs a policy; give policy='model.zip', or 'shipped' for what is shipped"
                )
            return None
        if not (prior or self.evaluate == POLICY):
            whole = policy if isinstance(policy, str | PurePath) else f"{policy!s:.80}"
            raise ValueError(
                f"policy={getattr(policy, 'path', whole)} is consulted by nothing; take select='puct', "
                "evaluate='policy', simulate='advised' (without rollout_model, which advises itself) or "
                "opponents='advised' or 'mixed'"
            )
        from agents.learning.searching import read_policy

        return read_policy(policy, prior=prior)

    def start(self, env: Any) -> Search:
        """Return a search from the present state that has not begun: run it for as long as you like, ask it any time.

        Raises
        ------
        ValueError, TypeError
            If the player is not to choose, or the planner has to know its budget.
        """
        if self.shares_budget:
            raise TypeError(f"{self.name} shares a known budget; call search(env), or start an 'mcts' agent")
        view = view_of(env).still()
        check_turn(view)
        self.load(view)
        hurry(view, Clock(Budget()), self.stream)
        return self._started(view, self.max_nodes, None)

    def choose_all(self, views: Sequence[View], masks: Sequence[Any]) -> list[int]:
        """Return an action for each view; searches that wait for a policy go on together, and wait for one batch."""
        if not views or not self.waits_in(views[0].game) or any(mask is not None for mask in masks):
            return super().choose_all(views, masks)
        legal = [view.legal_actions() for view in views]
        found = [int(actions[0]) for actions in legal]
        several = [i for i, actions in enumerate(legal) if len(actions) > 1]
        chosen = [views[i] for i in several]
        results = self.search_all(chosen) if len(chosen) > 1 else map(self.search, chosen)
        for i, result in zip(several, results, strict=True):
            self.last_result, found[i] = result, result.action
        return found

    def search_all(self, views: Sequence[View]) -> list[SearchResult]:
        """Return what searches from several views of a game find, as :meth:`search` does from one.

        Those that wait for a policy go on together, and wait for one batch, unless their budget is time.
        """
        views = [view.still() for view in views]
        budgets = [self.budget_for(view) for view in views]
        timed = any(budget.time_limit < math.inf for budget in budgets)
        if timed or not views or not self.waits_in(views[0].game):
            return [self.search(view) for view in views]
        for view in views:
            check_turn(view)
        jobs = [(view, Clock(budget)) for view, budget in zip(views, budgets, strict=True)]
        return [search.result() for search in self._searches(jobs, several=True)]

    @property
    def recognizes(self) -> bool:
        """Whether a tree that is kept is found again by what is observed."""
        return self.reuse

    def waits_in(self, game: Game) -> bool:
        """Return whether searches in a game wait for a policy, and several can go on together."""
        plan: SearchPlan = self.prepared(game)
        return bool(plan.settings.waits) and type(self).plan is MCTS.plan

    def plan(self, view: View, clock: Clock) -> SearchResult:
        """Return what a search finds; with ``reuse`` it goes on from the last one of the episode."""
        (search,) = self._searches([(view, clock)])
        return search.result()

    def _searches(self, jobs: Sequence[tuple[View, Clock]], several: bool = False) -> list[Search]:
        """Return searches that have spent their budgets; what they ask a policy is answered in common batches."""
        searches, memories = [], [self.memory(view) for view, _ in jobs]
        ahead = self._look_ahead(jobs, several)
        for (view, clock), memory in zip(jobs, memories, strict=True):
            nodes = min(ahead * clock.budget.simulations, self.max_nodes)
            searches.append(self._started(view, nodes, memory.get("trees") or () if self.reuse else None))
        for _ in together(self.spending(*job) for job in zip(searches, (clock for _, clock in jobs), strict=True)):
            for plan in dict.fromkeys(search.plan for search in searches):
                plan.answer()
        for search, memory in zip(searches, memories, strict=True):
            memory["trees"] = search.trees if self.reuse else None  # a search would hold the environment
            memory["begun"] = None if self.first_move in (None, self.budget) else True
        return searches

    def _look_ahead(self, jobs: Sequence[tuple[View, Clock]], several: bool) -> int:
        """Let a tree that waits alone begin some simulations more; return how many there are to each that counts.

        What waits does so in the same batches each time.
        """
        evaluator = self.prepared(jobs[0][0].game).evaluator if jobs else None
        if evaluator is None or not evaluator.waits:
            return 1
        evaluator.ahead = 1 if several or self.threads > 1 else AHEAD
        if not self.early_stop:
            for _, clock in jobs:
                clock.budget = replace(clock.budget, steady=True)
        return AHEAD

    def budget_for(self, view: View) -> Budget:
        """Return the budget of a search from this view: another for the first of an episode, if it has one."""
        if self.first_move is None or view.episode is None or self.memory(view):
            return self.budget
        return self.first_move

    def spending(self, search: Search, clock: Clock) -> Iterator[None]:
        """Spend a budget on a search; yield whenever it waits for answers of a policy."""
        yield from search.spending(clock)

    def _started(self, view: View, nodes: int, previous: Sequence[Tree] | None) -> Search:
        streams = [new_stream(int(draw(self.stream))) for _ in range(self.threads + 1)]
        return Search(self.prepared(view.game), view, streams, -(-nodes // self.threads), previous)

    def _check_signatures(self) -> None:
        """Refuse kernels with another signature now, not at the first search."""
        for name, kernel in self._policies().items():
            function_table({name: kernel}, {name: SIGNATURES[name]})
            needs = needs_of(kernel)
            for also, given in (("backup", needs.update), ("leaf", needs.leaf), ("redraw", needs.redraw)):
                check_form(also, given)
                function_table({also: given}, {also: SIGNATURES[also]})

    def _policies(self) -> dict[str, Any]:
        return {kind: getattr(self, kind) for kind in (*STORES, "option")}

    def prepare(self, game: Game) -> SearchPlan:
        """Return what is settled about the searches in a game."""
        model, rollout_model, evaluator = self._models(game)
        updates = [needs_of(policy).update for policy in self._policies().values()]
        settings = Settings(
            player=0,
            determinize_for=0 if self.information == "own" else EVERYTHING,
            key_for=LOOPS[self._loop_in(game)],
            opponents=OPPONENTS[self.opponents],
            tree_depth=self.tree_depth,
            horizon=self.horizon,
            rollout_depth=self.rollout_depth,
            discount=self.discount,
            common_chance=self.common_chance,
            relative=self.relative,
            prior=needs_of(self.select).prior,
            worth=needs_of(self.select).worth,
            waits=0 if evaluator is None else evaluator.waits,
            custom_backup=self.backup is not mean or any(update is not nothing for update in updates),
            redraws=needs_of(self.select).redraw is not as_it_falls and self._loop_in(game) == "closed",
            option_steps=1 if self.option is primitive else int(self.parameters.get("option_steps", MAX_DEPTH)),
        )
        others = game.variant(self.opponent_model, "advise") if self.opponent_model else None
        max_nodes = max(1, self.max_nodes // self.threads)
        return SearchPlan(
            *(model, rollout_model, self._policies(), self.parameters, self.recommend, settings, max_nodes),
            others=others,
            evaluator=evaluator,
            rewards=() if evaluator is None or self.evaluate != POLICY else evaluator.rewards,
            patient=game.plain_lists and self.horizon == self.rollout_depth == MAX_HORIZON,
            early_stop=self.early_stop,
        )

    def _loop_in(self, game: Game) -> str:
        """Return what an action leads to in the tree of a game."""
        if self.loop is not None:
            return self.loop
        if game.plain_lists and not self.reuse:
            return "open"
        redraws = needs_of(self.select).redraw is not as_it_falls
        return "closed" if self.information == "full" or redraws else "information_set"

    def _models(self, game: Game) -> tuple[Game, Game, Any]:
        """Return the game as the tree sees it, and as rollouts do, and what is consulted in them."""
        evaluate = None if self.evaluate == POLICY else self.evaluate
        model = variant_of(game, self.model, evaluate)
        rollout_model = variant_of(game, self.rollout_model, evaluate) if self.rollout_model else model
        if self.policy is None:
            return model, rollout_model, None
        from agents.learning.searching import evaluator_for

        asked = evaluator_for(self.policy, replace(model, key=game.key))  # a model may tell less apart than is shown
        value: dict[str, Any] = {"evaluate": asked.evaluate} if self.evaluate == POLICY else {}
        model = replace(model, advise=asked.advise, **value)
        return model, replace(rollout_model, **value) if self.rollout_model else model, asked
