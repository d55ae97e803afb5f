// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/cuda/core/texture_types.h"
#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// The image that a resource is, as point-sampled texels of its own type; not zero: the resource is wrong, or of a kind
/// that is not modelled, which is said.
error_t image_of(const resource_descriptor& r, wire::texture_request& image);
/// How the image is read; not zero likewise.
error_t read_as(const texture_settings& s, const resource_descriptor& r, wire::texture_request& image);
/// The GPU's handle of it.
error_t handle_of(const wire::texture_request& image, std::uint64_t& handle);

}  // namespace heddle::cuda
