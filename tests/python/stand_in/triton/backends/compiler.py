# SPDX-License-Identifier: MIT
"""The target of a compilation."""
from typing import NamedTuple, Union


class GPUTarget(NamedTuple):
    backend: str
    arch: Union[int, str]
    warp_size: int
