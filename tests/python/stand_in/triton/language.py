# SPDX-License-Identifier: MIT
"""What the tests' kernels name of triton.language."""


class constexpr:
    """The annotation of parameters that are known at compile time."""
