"""Adapters for environments of Gymnasium, PettingZoo and MiniGrid."""
