// SPDX-License-Identifier: MIT
#include "sm/waiting_block.h"

#include <algorithm>
#include <tuple>

namespace heddle {

namespace {

constexpr std::size_t most_warps = 64;   // named one by one, of all blocks

std::string title(const waiting_block& b) {
  return "kernel '" + b.program->kernel + "', block (" + std::to_string(b.index.x) + "," + std::to_string(b.index.y) + "," +
         std::to_string(b.index.z) + ")";
}

std::string counted(std::size_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

}  // namespace

std::string describe_deadlock(std::vector<waiting_block> blocks) {
  std::sort(blocks.begin(), blocks.end(), [](const waiting_block& a, const waiting_block& b) {
    return std::make_tuple(!a.for_ever, a.launch, a.number) < std::make_tuple(!b.for_ever, b.launch, b.number);
  });
  std::string text;
  std::size_t named = 0, more = 0, more_blocks = 0;
  for (const waiting_block& b : blocks) {
    const std::size_t count = std::min(b.warps.size(), most_warps - named);
    if (text.empty())
      text = b.program->file + ": deadlock at a barrier in " + title(b) + ": every warp that has not exited waits, and no barrier can complete";
    else if (count != 0)
      text += "\n  likewise in " + title(b) + (b.for_ever ? ":" : ", where other warps had not come to a barrier yet:");
    for (std::size_t w = 0; w < count; ++w)
      for (const std::string& place : b.warps[w].second) text += "\n  warp " + std::to_string(b.warps[w].first) + " " + place;
    named += count;
    more += b.warps.size() - count;
    if (count != b.warps.size()) ++more_blocks;
  }
  if (more != 0) text += "\n  and " + counted(more, "more warp") + " in " + counted(more_blocks, "block") + (more == 1 ? " waits" : " wait") + " at barriers likewise";
  return text;
}

}  // namespace heddle
