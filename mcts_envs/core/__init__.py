"""The ground on which all games and agents stand; :mod:`mcts_envs.core.contract` first."""
