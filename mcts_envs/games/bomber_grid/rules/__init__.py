"""What happens: the kernels of the contract and what they are made of."""
