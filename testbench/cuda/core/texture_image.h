// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/cuda/core/texture_types.h"
#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// Describes a resource as an image with point sampling and its own texel type. Returns an error if the resource is
/// invalid, or of an unsupported kind, which is also reported.
error_t image_of(const resource_descriptor& r, wire::texture_request& image);
/// False for linear or pitched memory of which no texture object can be made: it is not the device's or not aligned.
bool is_placed(const resource_descriptor& r);
/// Applies the settings for reading to the image; errors as above.
error_t read_as(const texture_settings_v2& s, const resource_descriptor& r, wire::texture_request& image);
/// The texels as a view of the resource has them.
error_t see_as(const resource_view& v, const resource_descriptor& r, wire::texture_request& image);
/// Texels of this format that linear memory may have.
std::size_t most_texels(const channel_format& f);
/// Creates the GPU's handle of the image.
error_t handle_of(const wire::texture_request& image, std::uint64_t& handle);

}  // namespace heddle::cuda
