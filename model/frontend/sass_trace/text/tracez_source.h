// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "heddle/frontend/sass_trace/text/byte_source.h"

namespace heddle::sass_trace {

/// The text of a .tracez file: what a .traceg of the same kernel contains. The file holds the head as text, a zstd
/// dictionary, the lines of each warp in zstd frames of their own, and an index of blocks, warps and frames at its end
/// (Accel-Sim 2.0, tracez_format.h). Memory does not depend on the file's size.
/// Throws input_error if the file cannot be read, is not a regular file or is no .tracez file. Its read() throws
/// std::runtime_error where the index, a warp or a frame contradicts another part of the file.
[[nodiscard]] std::unique_ptr<byte_source> open_tracez(const std::string& file);

/// Whether the file's name is that of a .tracez file.
[[nodiscard]] bool is_tracez(const std::string& file);

}  // namespace heddle::sass_trace
