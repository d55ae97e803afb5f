// SPDX-License-Identifier: MIT
// Memory that the program registers: files in memory take the place of its pages, so that the simulator can map them,
// too.
#pragma once

#include <cstdint>
#include <mutex>

namespace heddle::cuda {

/// Held while memory is registered, or is no longer, so that other threads do not exchange the same pages.
std::unique_lock<std::recursive_mutex> lock_pages();

/// All pages that contain these bytes become pages of such files, with the same bytes. False: they stay as they are,
/// since some are not private and writable memory, or hold the stack frames of this call.
bool take_pages(std::uint64_t address, std::uint64_t bytes);
/// Those of these pages that no registered memory needs any more become private memory again.
void give_back_pages(std::uint64_t address, std::uint64_t bytes);

}  // namespace heddle::cuda
