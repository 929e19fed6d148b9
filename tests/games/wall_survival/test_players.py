"""Players of wall survival: the report's agent after its text, and what our own see."""

import tempfile
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from papers.wall_positions import after, dead_end, legal, mover, positions, safe, solved, threatened, winning, wins
from papers.wall_positions import walk as games

import agents
from agents.arena import AgentSpec, Plan, compare
from mcts_envs.core.kernel import interpreted, record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.view import View
from mcts_envs.games.wall_survival.players import report, values
from mcts_envs.games.wall_survival.position import place, position
from mcts_envs.games.wall_survival.rules import ends
from mcts_envs.games.wall_survival.rules.layout import STATE
from mcts_envs.games.wall_survival.spec import wall_survival

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the module imports an environment of PettingZoo in a way that it deprecates
    from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, render_test, seed_test

ID = "mcts_envs/WallSurvival-v0"
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def some_states(size, number, **settings):
    """Return a game and states from the middle of games in it."""
    game, found = wall_survival(size, **settings), []
    for seed in range(number):
        states = [state.copy() for state in games(game, seed)]
        found += states[seed % len(states) :: 7]
    return game, found


def distance(first, second):
    return abs(first[0] - second[0]) + abs(first[1] - second[1])


class TestEnds:
    @pytest.mark.parametrize("size", [4, 6, 9])
    def test_the_winning_wall_is_found_if_there_is_one(self, size):
        game, states = some_states(size, 60)
        found = 0
        for state in states:
            player, points, rewards = mover(game, state), np.zeros(2), np.zeros(2)
            winners = set()
            for action in legal(game, state):
                following = state.copy()
                game.step(following, np.full(2, action), rewards)
                if rewards[player] == 1.0:
                    winners.add(action)
            action = ends.winning_wall(state, player)
            assert (action in winners) if winners else action == -1
            found += len(winners) > 0
            game.evaluate(state, points)
            values.evaluate_threats(state, rewards)
            assert rewards[player] == (1.0 if winners else points[player])
        assert found > 5

    def test_positions_are_what_they_say(self):
        game = wall_survival(6)
        for kind in (winning, threatened, dead_end):
            for state, right in map(positions(game, kind), range(10)):
                assert set(right) <= set(legal(game, state))
                assert bool(wins(game, state)) == (kind is winning)
                if kind is not winning:
                    assert right == safe(game, state)


class TestReport:
    @pytest.mark.parametrize("settings", [{}, {"optional_wall": True}])
    def test_shares_of_the_classes(self, settings):
        game, states = some_states(7, 12, **settings)
        for state in states:
            player, weights = mover(game, state), np.zeros(game.actions)
            report.advise_classes(state, player, weights)
            here = position(state)
            mine, other = here[f"p{player}"], here[f"p{1 - player}"]
            members = [[], [], []]
            for action in legal(game, state):
                cell = action // 4 if action < 4 * 49 else action - 4 * 49
                change = distance(divmod(cell, 7), other) - distance(mine, other)
                members[(change > 0) - (change < 0) + 1].append(weights[action])
            for share, found in zip((0.35, 0.45, 0.20), members, strict=True):
                assert sum(found) == pytest.approx(share if found else 0.0)
                assert len(set(found)) <= 1
            assert np.count_nonzero(weights) == len(legal(game, state))

    def test_what_speaks_against_an_action(self):
        game, states = some_states(6, 12)
        for state in states:
            player = mover(game, state)
            chances, walls, room, nothing = (np.zeros(game.actions) for _ in range(4))
            report.advise_classes(state, player, chances)
            report.advise_tree(state, player, walls)
            report.advise_tree_room(state, player, room)
            report.advise_tree_plain(state, player, nothing)
            for action in legal(game, state):
                following = after(game, state, action)
                digit = int(position(following)["walls"][action // 4], 16)
                assert int(walls[action]) == digit.bit_count()
                assert walls[action] % 1 == pytest.approx(0.999 * chances[action])
                assert nothing[action] == pytest.approx(0.999 * chances[action])
                assert 0 <= int(room[action]) <= 10
            illegal = np.setdiff1d(np.arange(game.actions), legal(game, state))
            assert not walls[illegal].any()

    def test_room_counts_the_cells_of_the_next_turn(self):
        game = wall_survival(6)
        open_board = "".join(
            f"{(r == 0) + 2 * (c == 5) + 4 * (r == 5) + 8 * (c == 0):x}" for r in range(6) for c in range(6)
        )
        state = state_from_position(game, {"p0": [0, 0], "p1": [5, 5], "walls": open_board, "turn": 0})
        room = np.zeros(game.actions)
        report.advise_tree_room(state, 0, room)
        # Three steps reach 25 cells on open ground; from (0, 0) with a wall to its right 4 in its column, 3 in the next
        # and 1 in the one after that, from a cell of the edge 16 less the 2 that a wall to its right takes away.
        assert int(room[1]) == int(10 * (1 - 8 / 25))
        assert int(room[4 * 3 + 1]) == int(10 * (1 - 13 / 25))

    def test_it_closes_the_last_side(self):
        game, closed = wall_survival(6), 0
        for seed in range(150):
            for state in games(game, seed):
                player, actions = mover(game, state), np.zeros(game.actions, np.int64)
                count = report.legal_closing(state, player, actions)
                every = legal(game, state)
                if count == len(every):
                    continue
                closed += 1
                (action,) = actions[:count]
                assert action in every
                other, walls = position(state)[f"p{1 - player}"], position(state)["walls"]
                assert int(walls[6 * other[0] + other[1]], 16).bit_count() == 3
                following = after(game, state, int(action))
                assert record(following, STATE).area[1 - player] == 1
        assert closed > 10

    def test_ends_are_seen_as_moves_are_listed(self):
        game, states = some_states(6, 40)
        actions = np.zeros(game.actions, np.int64)
        for state in states:
            count = report.legal_ending(state, mover(game, state), actions)
            winners = wins(game, state)
            assert (count == 1 and actions[0] in winners) if winners else count == len(legal(game, state))

    def test_kernels_compiled_and_interpreted(self):
        game, states = some_states(5, 3)
        for name, change in report.VARIANTS.items():
            for state in states[:4]:
                plain, weights = np.zeros(game.actions), np.zeros(game.actions)
                change["advise"](state, 0, weights)
                interpreted(change["advise"])(state, 0, plain)
                assert np.allclose(plain, weights), name

    def test_named_agent(self):
        env = gym.make(ID, board_size=6)
        env.reset(seed=3)
        agent = agents.make("mcts_report", simulations=60)
        result = agent.search(env)
        assert result.simulations == 60
        again = agents.make("mcts_report", simulations=60).search(env)
        assert np.array_equal(result.visits, again.visits)
        # The virtual child counts 1: nothing is tried before what is known is worth less.
        assert np.count_nonzero(result.visits) < env.unwrapped.view().legal_actions().size

    def test_it_beats_the_random_walk(self):
        points = play(agents.make("mcts_report", simulations=100), agents.make("random_walk"), 6, range(10))
        assert sum(points) >= 17


def play(first, second, size, seeds):
    """Return the points of the first of two players, on every board from both seats."""
    game, points = wall_survival(size), []
    for seed in seeds:
        for seat in range(2):
            state, rewards = game.new_state(), np.zeros(2)
            first.reseed(seed)
            second.reseed(seed)
            game.reset(state, np.uint64(seed))
            while game.active(state):
                player = mover(game, state)
                action = (first if player == seat else second).act(View(game, state, player))
                game.step(state, np.full(2, action), rewards)
            points.append(0.5 + 0.5 * rewards[seat])
    return points


class TestPlanners:
    @pytest.mark.parametrize("size", [6, pytest.param(9, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("kind", [winning, threatened, dead_end])
    def test_at_2000_simulations_it_sees_what_wins_and_what_loses(self, kind, size):
        game = wall_survival(size)
        spots = [*map(positions(game, kind), range(50))]
        assert len(spots) == 50
        assert all(solved(game, spot, n, "mcts_voronoi", {"simulations": 2000}) for n, spot in enumerate(spots))

    def test_alpha_beta_sees_it_too(self):
        game = wall_survival(6)
        for kind in (winning, threatened, dead_end):
            spots = enumerate(map(positions(game, kind), range(30)))
            assert all(solved(game, spot, n, "best", {"simulations": 4000}) for n, spot in spots)

    def test_both_beat_mobility(self):
        mobility = agents.make("mobility")
        for name, settings in (("mcts_voronoi", {"simulations": 8000}), ("best", {"max_steps": 20_000})):
            assert sum(play(agents.make(name, **settings), mobility, 6, range(5))) >= 8

    def test_best_is_alpha_beta(self):
        env = gym.make(ID, board_size=5)
        env.reset(seed=1)
        result = agents.make("best", max_steps=500).search(env)
        assert result.depth >= 1
        assert result.steps == 500


class TestOpponents:
    def returns(self, opponent, seeds=60, **settings):
        env, found = gym.make(ID, board_size=5, opponent=opponent, **settings), []
        rng = np.random.default_rng(1)
        for seed in range(seeds):
            _, info = env.reset(seed=seed)
            over = False
            while not over:
                # The other player may have ended the game before this one's first move: any action will do then.
                legal = np.flatnonzero(info["action_mask"])
                _, reward, over, _, info = env.step(rng.choice(legal) if len(legal) else 0)
            found.append(reward)
        return found

    def test_scripted_players_by_name(self):
        assert np.mean(self.returns("random_walk")) > np.mean(self.returns("greedy")) + 0.5
        assert self.returns("scripted", 10) == self.returns("greedy", 10)
        assert self.returns(["random_walk"], 10, seat=1) == self.returns("random_walk", 10, seat=1)
        assert np.mean(self.returns("agents:random_walk", 20)) > 0.3

    def test_the_batched_face_plays_the_same_games(self):
        env = gym.make(ID, board_size=5, opponent="random_walk", seat=1)
        batch = gym.make_vec(ID, num_envs=2, board_size=5, opponent="random_walk", seat=1)
        single, info = env.reset(seed=7)
        many, infos = batch.reset(seed=7)
        for _ in range(4):
            assert np.array_equal(single, many[0])
            action = int(np.flatnonzero(info["action_mask"])[-1])
            other = int(np.flatnonzero(infos["action_mask"][1])[0])
            single, _, over, _, info = env.step(action)
            many, _, _, _, infos = batch.step(np.array([action, other]))
            if over or infos["action_mask"].any(1).min() == 0:
                break

    def test_unknown_names(self):
        with pytest.raises(ValueError, match=r"unknown opponent 'nobody'; known: .*random_walk"):
            gym.make(ID, opponent="nobody")
        with pytest.raises(ValueError, match="one name of a scripted player"):
            gym.make_vec(ID, num_envs=2, opponent="agents:mobility")


class TestPettingZoo:
    @pytest.mark.filterwarnings("ignore:Observation", "ignore:Action mask numpy array is all zeros")
    def test_its_own_tests(self, monkeypatch):
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

        def aec(**settings):
            return pettingzoo.make("aec", ID, board_size=12, **settings)

        def parallel(**settings):
            return pettingzoo.make("parallel", ID, board_size=12, **settings)

        def seeded(env):
            reset = env.reset

            def reset_with_seed(*args, **given):
                for agent in env.possible_agents:
                    env.action_space(agent).seed(0)
                return reset(*args, **{"seed": 3, **given})

            env.reset = reset_with_seed
            return env

        class Module:
            # A cycle is a move of each player in turn, but one step of the parallel face, where one of them moves.
            env = staticmethod(lambda max_cycles: seeded(aec(max_steps=2 * max_cycles, optional_wall=True)))
            parallel_env = staticmethod(lambda max_cycles: seeded(parallel(max_steps=max_cycles, optional_wall=True)))

        api_test(aec(), num_cycles=60)
        seed_test(aec, 20)
        parallel_api_test(parallel(), 60)
        render_test(aec)
        max_cycles_test(Module)

    def test_positions_and_snapshots(self):
        env = pettingzoo.make("aec", ID, board_size=6)
        env.reset(seed=2)
        face = env.unwrapped
        snapshot = face.clone_state()
        before = face.position()
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
        assert face.position() != before
        face.restore_state(snapshot)
        assert face.position() == before
        env.reset(options={"position": before})
        assert face.position() == before


def test_place_is_the_inverse_of_position():
    game, states = some_states(8, 5)
    for state in states:
        assert position(state_from_position(game, position(state))) == position(state)
    assert place is game.place


def test_games_that_are_over_before_the_first_move_count():
    """On 3x3 the greedy player ends most games at once; the agent in the second seat is not asked then."""
    settings = {"board_size": 3, "opponent": "greedy", "seat": 1}
    plan = Plan("WallSurvival-v0", (AgentSpec("mobility", "mobility"),), settings)
    with tempfile.TemporaryDirectory() as folder:
        report = compare(plan, 30, folder=Path(folder) / "results")
    (summary,) = report.summaries
    assert (summary.games, summary.errors) == (30, 0)
    env = gym.make(ID, **settings)
    agent = agents.make("mobility").bind(env)
    ended = 0
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        action, _ = agent.predict(observation)
        ended += not info["action_mask"].any()
        _, _, over, _, _ = env.step(int(action))
        assert over or info["action_mask"].any()
    assert ended > 5
