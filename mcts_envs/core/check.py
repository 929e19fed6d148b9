"""``check_game``: whether a game keeps every law, for the games of this package and for anybody's own."""

import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.checked import check_functions, check_kernels
from mcts_envs.core.contract import TERMINATED, Game
from mcts_envs.core.defaults import default_determinize, default_outcome
from mcts_envs.core.known_laws import seen_apart_by_another
from mcts_envs.core.laws import LAWS, arrays_have_ends, each_seed_has_its_own_chance, signatures
from mcts_envs.core.narrow import TELLING
from mcts_envs.core.own_code import warn
from mcts_envs.core.rng import MAX_SEED
from mcts_envs.core.sampling import Sample, plainly, require, sample, stepped


def check_game(
    game: Any, *, episodes: int = 3, step_bound: int = 10_000, seed: int = 0, faces: bool = True, **settings: Any
) -> None:
    """Check every law of the contract.

    Parameters
    ----------
    game : str, Game, callable or GameEnv class
        An environment id, or a game that is not registered, or a function from settings to one.
    episodes : int
        Episodes of random play on which the laws are tried.
    step_bound : int
        Steps within which an episode of random play must end.
    seed : int
        Seed of the first episode.
    faces : bool
        Also run the environments through Gymnasium's ``check_env``, through Stable-Baselines3's if it is installed,
        and those for several players through PettingZoo's tests, with warnings as errors.
    **settings
        Settings of the game, where ``game`` is no ``Game``.

    Raises
    ------
    LawError
        With the name of the law and what was seen.
    TypeError, ValueError
        If there is nothing to check, or a number is none, or out of its bounds.

    Warns
    -----
    UserWarning
        If the last reward alone is taken to say who won (no ``outcome``), and games are paid for on the way; or it
        gives a single player the same points for all its scores. If two states look the same to one player and not to
        another, and there is no ``determinize``.
    """
    episodes = errors.integer("episodes", episodes, 1, 10**6)
    step_bound = errors.integer("step_bound", step_bound, 1, 10**9)
    seed = errors.integer("seed", seed, 0, MAX_SEED - episodes)
    env_class, settings = _environment(game, settings)
    env = env_class(**settings)
    signatures(env.game)  # before anything is played by them
    with plainly():  # and before compiled code plays, which may end this process where plain Python names a line
        plain = env.game.interpreted(TELLING)
        each_seed_has_its_own_chance(plain)  # with the same dice for ever a game may have no end
        arrays_have_ends(env.game, sample(plain, episodes, step_bound, seed))
    played = sample(env.game, episodes, step_bound, seed)
    for law in LAWS:
        if law not in (signatures, arrays_have_ends, each_seed_has_its_own_chance):  # which held
            law(env.game, played)
    _warn_of_scores(env.game, played)
    _warn_of_what_is_hidden(env.game, played)
    snapshots_come_back(env, seed)
    if faces:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message="First-class function type feature")
            _check_single(env_class, settings, env.game.players)
            if env.game.players > 1:
                _check_multi(env_class, settings)


def _environment(game: Any, settings: dict[str, Any]) -> tuple[type[GameEnv], dict[str, Any]]:
    if isinstance(game, Game):
        check_kernels(game)
        check_functions(game)
        return GameEnv, {"game": game, **settings}
    if isinstance(game, str):
        env = gymnasium.make(game, **settings).unwrapped
        if not isinstance(env, GameEnv):
            raise TypeError(f"{game} is {type(env).__name__}, no environment of mcts_envs")
        assert env.spec is not None
        return type(env), {**gymnasium.spec(game).kwargs, **settings}
    if isinstance(game, type) and issubclass(game, GameEnv):
        return game, settings
    if callable(game):
        return GameEnv, {"game": game, **settings}
    raise TypeError(f"cannot check {game!r}; give an environment id, a Game, a function to one, or a GameEnv class")


def _warn_of_scores(game: Game, played: Sample) -> None:
    """Warn where the last reward is as small as others, and says that somebody else won than the sum of rewards.

    And where a single player has the same points whatever it was paid.
    """
    if game.outcome is not default_outcome:
        return
    scores: list[tuple[float, float]] = []
    for seed, choices in zip(played.seeds, played.choices, strict=True):
        state, paid = game.new_state(), []
        game.reset(state, np.uint64(seed))
        for actions in choices:
            state, rewards = stepped(game, state, actions)
            paid.append(rewards)
        if any(game.status(state, player) != TERMINATED for player in range(game.players)):
            continue
        last, total = paid[-1].copy(), np.sum(paid, axis=0)
        returns = total.tolist()
        for points in (last, total):
            game.outcome(state, points)
        scores.append((returns[0], last[0]))
        largest = np.abs(paid[:-1]).max(initial=0.0)
        if np.abs(paid[-1]).max() <= largest and not np.array_equal(last, total):
            warn(
                f"outcome: seed {seed} ended with rewards {paid[-1].tolist()} and returns {returns}, and has points "
                f"{last.tolist()}, as the last reward alone tells who won; where a sum decides, count it in the state "
                "and give Game(outcome=...)",
            )
            return
    paid_in_all, had = ({pair[place] for pair in scores} for place in (0, 1))
    if game.players == 1 and len(paid_in_all) > 1 == len(had):
        warn(
            f"outcome: games with returns {sorted(paid_in_all)} all have points {had.pop()}, so that no comparison "
            "tells them apart; count the score in the state and give Game(outcome=...), its share of a good one",
        )


def _warn_of_what_is_hidden(game: Game, played: Sample) -> None:
    """Warn where observations hide from a player what another sees, and nothing redraws it for planners."""
    if game.determinize is default_determinize and (found := seen_apart_by_another(game, played)):
        player, other = found
        warn(
            f"determinize: two states look the same to player {player} and not to player {other}; what observe hides "
            f"from player {player} its planners still see: give the Game key and determinize, as examples/leduc.py",
        )


def snapshots_come_back(env: GameEnv, seed: int) -> None:
    """Snapshots are hashable, comparable and picklable, and bring back the game with all its chance."""
    law = "snapshots come back"
    env.reset(seed=seed)
    snapshot = env.clone_state()
    require(pickle.loads(pickle.dumps(snapshot)) == snapshot, law, "a pickled snapshot differs")
    require(hash(snapshot) == hash(env.clone_state()), law, "two snapshots of one state differ")
    futures = []
    for _ in range(2):
        env.restore_state(snapshot)
        futures.append(_future(env, seed))
    require(futures[0] == futures[1], law, "two restores of one snapshot led to different games")


def _future(env: GameEnv, seed: int) -> list[Any]:
    rng, future = np.random.default_rng(seed), []
    while len(legal := env.legal_actions()):
        observation, reward, terminated, truncated, _ = env.step(rng.choice(legal))
        future.append((observation.tobytes(), reward, terminated, truncated))
    return [*future, env.clone_state()]


# Stable-Baselines3 takes planes for a picture that its CnnPolicy is to see; its other policies take any shape.
_NO_PICTURE = (
    "It seems that your observation",
    "The minimal resolution for an image",
    "Your observation .* has an unconventional shape",
)


def _check_single(env_class: type[GameEnv], settings: dict[str, Any], players: int) -> None:
    from gymnasium.utils.env_checker import check_env

    for message in _NO_PICTURE:
        warnings.filterwarnings("ignore", message=message)
    for seat in range(players):
        check_env(env_class(**{**settings, "seat": seat}), skip_render_check=True, skip_close_check=True)
        try:
            from stable_baselines3.common.env_checker import check_env as check_sb3
        except ImportError:
            continue
        check_sb3(env_class(**{**settings, "seat": seat}), skip_render_check=True)


# PettingZoo's test knows by name which of its own environments may show a dictionary with a mask, and warns about all
# others that do; and about an empty board.
_HARMLESS = (
    "Observation numpy array is all zeros",
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    r"Action mask numpy array is all zeros \(no legal actions\)",
)


def _check_multi(env_class: type[GameEnv], settings: dict[str, Any]) -> None:
    for message in _HARMLESS:
        warnings.filterwarnings("ignore", message=message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the import itself deprecates an environment of PettingZoo's
        from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

    from mcts_envs.core.api.multi import GameAECEnv, parallel

    api_test(GameAECEnv(env_class, **settings), num_cycles=200)
    seed_test(lambda: GameAECEnv(env_class, **settings), num_cycles=50)
    parallel_api_test(parallel(env_class, **settings), num_cycles=200)
    parallel_seed_test(lambda: parallel(env_class, **settings), num_cycles=50)
