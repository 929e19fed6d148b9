"""What is behind ``@kernel``: when kernels are compiled, what their compiled code is kept under, and how it travels."""
