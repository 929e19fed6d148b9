"""Training with Stable-Baselines3 and sb3-contrib, and the policies that come of it."""
