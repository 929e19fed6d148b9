"""Networks of Stable-Baselines3 as plain arrays, held against PyTorch before they are written."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from agents.learning.saved import network as networks
from agents.learning.saved import normalizing, storage
from agents.learning.saved.fitting import check_actions
from agents.learning.saved.network import Layer, Network, NotLayersError, check_numbers
from agents.learning.saved.policy import NetworkPolicy, Policy
from agents.learning.saved.recurrent import refuse
from mcts_envs.core.typing import Singles

TOLERANCE = 1e-5
"""How far the arrays may be from PyTorch, in units of the greatest output where that is above 1."""

_STATES = 256
_ACTIVATIONS = {"Identity": "identity", "ReLU": "relu", "Tanh": "tanh"}


def export(
    path: Path | str,
    to: Path | str | None = None,
    *,
    algorithm: str | None = None,
    normalization: normalizing.Given = None,
) -> Path:
    """Write the network of a saved policy as plain arrays, which play without Stable-Baselines3 and PyTorch.

    Parameters
    ----------
    path : str or Path
        A zip of Stable-Baselines3 or sb3-contrib. Only load files from people you trust.
    to : str or Path, optional
        Where to write; by default ``NAME.npz`` beside ``NAME.zip``.
    algorithm : str, optional
        For a zip that does not say which made it.
    normalization : str, Path or False, optional
        Statistics of ``VecNormalize``, as for :class:`agents.planners.sb3.SB3Agent`; they are written with the network.

    Returns
    -------
    Path
        Of the file written.

    Raises
    ------
    FileNotFoundError, ValueError, ImportError
        If the policy cannot be read or is recurrent, its network is no MLP of Tanh or ReLU layers, or weights are not
        finite.
    """
    saved = storage.load(path, algorithm, normalization=normalization)
    refuse(saved, "plain arrays remember nothing")
    network = network_of(saved.model.policy, saved.path)
    target = Path(to) if to is not None else saved.path.with_suffix(networks.SUFFIX)
    space, choices = saved.described_space, {"n": network.actions}
    known = {"algorithm": saved.algorithm, "observation_space": space, "action_space": choices}
    networks.write(target, network, {**known, **saved.about})
    return target


def plain_arrays(saved: "storage.SavedPolicy") -> Policy:
    """Return a policy of Stable-Baselines3 as plain arrays; as it is, if they cannot say it.

    Raises
    ------
    ValueError
        If its weights are not finite, or its actions are not numbered.
    """
    try:
        network = network_of(saved.model.policy, saved.path)
    except NotLayersError:
        return saved
    about = {"observation_space": saved.described_space, **saved.about}
    return NetworkPolicy(saved.path, saved.algorithm, network, about=about)


def network_of(policy: Any, path: Path) -> Network:
    """Return the network of a policy of Stable-Baselines3, checked against PyTorch on 256 observations.

    Parameters
    ----------
    policy : BasePolicy
        What a model has as ``policy``.
    path : Path
        What messages call it by.

    Raises
    ------
    NotLayersError
        If it cannot be said in dense layers; the part that cannot is named.
    ValueError
        If weights are not finite.
    """
    _check_extractor(policy, path)
    if own := storage.own_way(policy):
        raise NotLayersError(f"{path} says by {own} what no layers say; play it as sb3:PATH")
    if hasattr(policy, "q_net"):
        network = Network(_layers(policy.q_net.q_net), (), "action_values", _scale(policy))
    elif hasattr(policy, "quantile_net"):
        layers, n = _layers(policy.quantile_net.quantile_net), policy.quantile_net.n_quantiles
        network = Network((*layers[:-1], _mean_of(layers[-1], n)), (), "action_values", _scale(policy))
    elif type(getattr(policy, "mlp_extractor", None)).__name__ == "MlpExtractor":
        actor, critic = policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net
        towers = [(*_layers(actor), *_layers([policy.action_net])), (*_layers(critic), *_layers([policy.value_net]))]
        network = Network(towers[0], towers[1], "logits", _scale(policy))
    else:
        raise NotLayersError(f"{path}: a {type(policy).__name__} has no towers of dense layers; play it as sb3:PATH")
    _check_against_torch(policy, path, network)
    return network


def _check_extractor(policy: Any, path: Path) -> None:
    check_actions(path, policy.action_space)
    whole = policy.q_net if hasattr(policy, "q_net") else getattr(policy, "quantile_net", policy)
    kind = type(whole.features_extractor).__name__
    if kind != "FlattenExtractor" or not isinstance(policy.observation_space, spaces.Box):
        seen = type(policy.observation_space).__name__
        raise NotLayersError(f"{path} sees a {seen} through a {kind}; only a flattened Box can be exported")


def _scale(policy: Any) -> float:
    from stable_baselines3.common.preprocessing import is_image_space

    space = policy.observation_space
    return 255.0 if policy.normalize_images and is_image_space(space) else 1.0


def _layers(modules: Any) -> tuple[Layer, ...]:
    """Return the layers of a sequence of modules of PyTorch."""
    found: list[Layer] = []
    for module in modules if isinstance(modules, Iterable) else [modules]:
        kind = type(module).__name__
        if kind == "Linear":
            weights = module.weight.detach().cpu().numpy()
            bias = np.zeros(len(weights)) if module.bias is None else module.bias.detach().cpu().numpy()
            found.append(Layer(check_numbers("a layer", weights.T), check_numbers("a layer", bias), "identity"))
        elif kind in _ACTIVATIONS and found and found[-1].activation == "identity":
            found[-1] = found[-1]._replace(activation=_ACTIVATIONS[kind])
        elif kind != "Flatten":
            allowed = ", ".join(["Linear", *_ACTIVATIONS])
            raise NotLayersError(f"the network has a {kind}, which plain arrays cannot say; they know {allowed}")
    return tuple(found)


def _mean_of(layer: Layer, n: int) -> Layer:
    """Return a layer whose outputs are the means of ``n`` quantiles, which is what QR-DQN acts on."""
    weights = layer.weights.reshape(len(layer.weights), n, -1).mean(1)
    return Layer(check_numbers("a layer", weights), layer.bias.reshape(n, -1).mean(0), layer.activation)


def _check_against_torch(policy: Any, path: Path, network: Network) -> None:
    space, most = policy.observation_space, 10.0 if network.scale == 1.0 else network.scale
    low, high = (np.clip(np.asarray(bound, np.float64), -most, most) for bound in (space.low, space.high))
    shown = np.random.default_rng(0).uniform(low, high, (_STATES, *space.shape)).astype(np.float32)
    ours = ("scores", network.scores), ("values", network.values)
    for (what, here), there in zip(ours, _torch(policy, shown), strict=True):
        if there is None:
            continue
        apart = float(np.abs(here(shown) - there).max() / max(1.0, float(np.abs(there).max())))
        if not apart <= TOLERANCE:  # nor where it is no number
            raise NotLayersError(f"{path}: {what} of the arrays are {apart:.1e} from PyTorch's, above {TOLERANCE:g}")


def _torch(policy: Any, shown: Singles) -> tuple[Any, Any]:
    """Return what PyTorch says of each action, and its values if it has any."""
    import torch

    with torch.no_grad():
        seen, _ = policy.obs_to_tensor(shown)
        if hasattr(policy, "q_net"):
            return policy.q_net(seen).numpy(force=True), None
        if hasattr(policy, "quantile_net"):
            return policy.quantile_net(seen).mean(1).numpy(force=True), None
        features = policy.extract_features(seen)
        acted, judged = (features, features) if policy.share_features_extractor else features
        actor, critic = policy.mlp_extractor.forward_actor(acted), policy.mlp_extractor.forward_critic(judged)
        return policy.action_net(actor).numpy(force=True), policy.value_net(critic).numpy(force=True)[:, 0]
