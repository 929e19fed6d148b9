"""Scripted players, as ``advise`` kernels: weights over actions."""
