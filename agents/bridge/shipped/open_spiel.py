"""Games of OpenSpiel, as Shimmy makes them environments, and Hanabi, as PettingZoo takes it from there."""

import bisect
import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

from agents.bridge.adapters import Adapter
from agents.bridge.shipped.hanabi import dealt_anew
from agents.bridge.shipped.rebound import derived

_CHANCE = -1
"""Who chooses where OpenSpiel lets chance decide."""

_KEPT = (
    *("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"),
    *("simultaneous_actions", "observations", "game_length"),
)

_CHANGED = dict, list


class _Nature(NamedTuple):
    """What a game is: asked once, since each answer of OpenSpiel's takes longer than a step.

    Attributes
    ----------
    in_turns : bool
        Whether players choose in turn and are paid at the end.
    hides, chances : bool
        Whether something is hidden, and whether chance decides something.
    longest : int
        Steps after which Shimmy ends it.
    """

    in_turns: bool
    hides: bool
    chances: bool
    longest: int


def _nature(env: Any) -> _Nature:
    """Return what the game of an environment is."""
    known: _Nature | None = getattr(env, "nature", None)
    if known is not None:
        return known
    kind = env.game_type
    return _Nature(
        kind.dynamics == kind.Dynamics.SEQUENTIAL and kind.reward_model == kind.RewardModel.TERMINAL,
        kind.information == kind.Information.IMPERFECT_INFORMATION,
        kind.chance_mode != kind.ChanceMode.DETERMINISTIC,
        env._env.max_game_length(),
    )


class OpenSpiel(Adapter):
    """Copies the game's own state, and lets the game deal anew what a player cannot know."""

    def copy(self, env: Any) -> Any:
        """Return the game, a copy of its state, and what the environment keeps beside it."""
        return env._env, env.game_state.clone(), {name: _plain(getattr(env, name, None)) for name in _KEPT}

    def restore(self, env: Any, snapshot: Any) -> None:
        """Take it over."""
        _take_over(env, snapshot)
        if not hasattr(env, "nature"):
            kind: Any = type(env)
            env.__class__ = _quick(kind, _nature(env))

    def generators(self, env: Any) -> list[np.random.Generator]:
        """Return what chance is drawn from; nothing where there is none."""
        return [env.np_random] if _nature(env).chances else []

    def actions(self, env: Any, agent: str) -> list[int]:
        """Return what the game says."""
        found: list[int] = env.game_state.legal_actions(env.possible_agents.index(agent))
        return found

    def play(self, env: Any, draw: Any, most: int) -> int:
        """Play on without Shimmy, where players choose in turn and are paid at the end."""
        quick = hasattr(env, "nature")  # a course drawn by replay is not
        return env.play(draw, most) if quick and env.nature.in_turns else 0

    def key(self, env: Any) -> Any:
        """Return the game's history, and who has chosen what they are about to do."""
        pending = sorted(env.simultaneous_actions.items())
        return env.game_state.serialize(), pending, env.agents, env.agent_selection, env._cumulative_rewards

    def hides(self, env: Any) -> bool:
        """Return whether the game hides something, or what others choose at the same time."""
        kind = env.game_type
        return _nature(env).hides or kind.dynamics != kind.Dynamics.SEQUENTIAL

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Draw anew what others chose at the same time, and let the game resample the rest.

        Raises
        ------
        NotImplementedError
            If something is hidden and the game cannot draw it anew.
        """
        state = env.game_state
        if state.is_terminal():
            return
        for other in list(env.simultaneous_actions):
            if other != agent and env.simultaneous_actions[other] is not None:
                legal = state.legal_actions(env.agents.index(other))
                env.simultaneous_actions[other] = legal[int(chance.integers(len(legal)))]
        if _nature(env).hides:
            deal = dealt_anew if env.game_type.short_name == "hanabi" else _resampled
            env.game_state = deal(state, env.possible_agents.index(agent), chance)
            env._update_action_masks()
            env._update_observations()


@functools.cache
def _quick(kind: Any, nature: _Nature) -> Any:
    """Return the class of copies of environments of a class."""

    class Quick(kind):  # type: ignore[misc]
        """A copy of an environment of Shimmy's that makes masks and observations when it is asked for them alone.

        Shimmy makes those of all players after every step, and their spaces anew: most of what a step takes.
        """

        def step(self: Any, action: Any) -> None:
            """Make a step: as Shimmy does, where players choose one after another, and else by it."""
            state = self.game_state
            if self.simultaneous_actions or state.current_player() < 0 or self.game_length > nature.longest:
                super().step(action)
                return
            state.apply_action(action)
            self.game_length += 1
            player = state.current_player()
            if player == _CHANCE:
                player = self._after_chance()
            goes_on = player >= 0 and self.game_length <= nature.longest
            if goes_on and nature.in_turns:  # nobody was paid, nobody is
                self.agent_selection = self.agent_id_name_mapping[player]
                return
            self._cumulative_rewards[self.agent_selection] = 0.0
            self._update_rewards()
            self._accumulate_rewards()
            if goes_on:
                self.agent_selection = self.agent_id_name_mapping[player]
            else:
                self._update_termination_truncation()
                self._choose_next_agent()

        def play(self: Any, draw: Any, most: int) -> int:
            """Let everybody choose uniformly; return the steps made."""
            state, steps, left = self.game_state, 0, nature.longest + 1 - self.game_length
            legal_actions, apply_action, current_player = state.legal_actions, state.apply_action, state.current_player
            player = current_player()
            while player >= 0 and steps < most and steps < left:
                legal = legal_actions()
                apply_action(legal[draw(len(legal))])
                steps += 1
                player = current_player()
                if player == _CHANCE:
                    before = self.game_length
                    player = self._after_chance()
                    left -= self.game_length - before
            self.game_length += steps
            if steps:
                self._update_rewards()
                self._cumulative_rewards.update(self.rewards)
                self._update_termination_truncation()
                self._choose_next_agent()
            return steps

        def _execute_chance_node(self: Any) -> None:
            if self.game_state.current_player() == _CHANCE:
                self._after_chance()

        def _after_chance(self: Any) -> int:
            """Let chance decide as long as it is to, and return who is to choose then."""
            state, player = self.game_state, _CHANCE
            while player == _CHANCE:
                self.game_length += 1
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(actions[_drawn(self.np_random, weights)])
                player = state.current_player()
            return int(player)

        def observe(self: Any, agent: str) -> Any:
            """Return what an agent observes now."""
            super()._update_observations()
            return self.observations[agent]

        def _update_observation_spaces(self) -> None:
            pass

        def _update_action_spaces(self) -> None:
            pass

        def _update_observations(self) -> None:
            pass

        def _update_action_masks(self) -> None:
            pass

        def _legal(self: Any, agent: str) -> list[int]:
            found: list[int] = self.game_state.legal_actions(self.agent_name_id_mapping[agent])
            return found

        def _update_termination_truncation(self: Any) -> None:
            over = self.game_state.is_terminal() or not any(map(self._legal, self.agents))
            self.terminations = {agent: over or self.terminations[agent] for agent in self.agents}
            cut = self.game_length > nature.longest
            self.truncations = {agent: cut or self.truncations[agent] for agent in self.agents}

        def _choose_next_agent(self: Any) -> None:
            if not self.agents:
                return
            if any(self.terminations.values()) or any(self.truncations.values()):
                self.agent_selection = self.agents[0]
            elif not self.game_state.is_simultaneous_node():
                self.agent_selection = self.agent_id_name_mapping[self.game_state.current_player()]
            else:
                for agent in self.agents:
                    if agent not in self.simultaneous_actions:
                        if self._legal(agent):
                            self.agent_selection = agent
                            return
                        self.simultaneous_actions[agent] = None

    Quick.nature = nature
    Quick.__module__, Quick.__name__, Quick.__qualname__ = kind.__module__, kind.__name__, kind.__qualname__
    return Quick


def _drawn(chance: np.random.Generator, probabilities: tuple[float, ...]) -> int:
    """Return the index that ``chance.choice(len(p), p=p)`` gives, in a fraction of the time."""
    return bisect.bisect_right(_bounds(probabilities), chance.random())


@functools.lru_cache(1000)
def _bounds(probabilities: tuple[float, ...]) -> list[float]:
    """Return where the parts of [0, 1) end that stand for outcomes: in most games their odds are always the same."""
    sums = list(itertools.accumulate(probabilities))
    return [part / sums[-1] for part in sums]


class Hanabi(OpenSpiel):
    """Hanabi of PettingZoo: the environment of OpenSpiel inside, whose masks it shows."""

    actions = play = generators = hides = None  # type: ignore[assignment]

    def copy(self, env: Any) -> Any:
        """Return what the environment inside keeps."""
        return super().copy(env.hanabi_env), list(env.agents)

    def restore(self, env: Any, snapshot: Any) -> None:
        """Take it over."""
        inside, env.agents = snapshot[0], list(snapshot[1])
        _take_over(env.hanabi_env, inside)
        self._follow(env)

    def key(self, env: Any) -> Any:
        """Return what tells the states inside apart."""
        return super().key(env.hanabi_env)

    def hastened(self, kind: Any) -> Any:
        """Return a class that steps without a picture: one takes twenty times as long as the rest of a step."""

        def step(self: Any, *given: Any, **named: Any) -> Any:
            mode, self.render_mode = self.render_mode, None
            try:
                return kind.step(self, *given, **named)
            finally:
                self.render_mode = mode

        return derived(kind, step=step)

    def determinize(self, env: Any, agent: str, chance: np.random.Generator) -> None:
        """Deal the player's own hand anew."""
        super().determinize(env.hanabi_env, agent, chance)
        self._follow(env)

    def _follow(self, env: Any) -> None:
        for name in ("agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            setattr(env, name, getattr(env.hanabi_env, name))


def _take_over(env: Any, snapshot: Any) -> None:
    game, state, kept = snapshot
    vars(env).update({name: _plain(value) for name, value in kept.items()}, _env=game, game_state=state.clone())


def _resampled(state: Any, player: int, chance: np.random.Generator) -> Any:
    try:
        return state.resample_from_infostate(player, lambda: float(chance.random()))
    except Exception as error:  # of a class that is OpenSpiel's own
        raise NotImplementedError(f"{state.get_game().get_type().short_name} cannot be dealt anew: {error}") from error


def _plain(value: Any) -> Any:
    """Return a copy of a table or list, one level deep; arrays inside are never changed, nor is anything else."""
    return value.copy() if type(value) in _CHANGED else value
