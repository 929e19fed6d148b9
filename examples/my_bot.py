"""A player of one's own: looks one move ahead in what it is shown, and takes the best reward."""


class Bot:
    """A greedy player."""

    def act(self, env):
        """Return an action of the action space."""
        game, rewards = env.unwrapped, {}
        before = game.clone_state()  # env is a copy: what is done with it changes nothing
        for action in game.legal_actions().tolist():
            rewards[action] = game.step(action)[1]  # what comes of it this time: the dice are not those to come
            game.restore_state(before)
        return max(rewards, key=rewards.get)
