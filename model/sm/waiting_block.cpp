// SPDX-License-Identifier: MIT
#include "heddle/sm/waiting_block.h"

#include <algorithm>
#include <tuple>

namespace heddle {

namespace {

std::string place_of(const waiting_block& b) {
  return "(" + std::to_string(b.index.x) + "," + std::to_string(b.index.y) + "," + std::to_string(b.index.z) + ")";
}

// "warp 3 waits at …"; consecutive warps in the same state are merged: "warps 3 to 7 wait at …".
void add_warps(std::string& text, const waiting_block& b) {
  for (std::size_t w = 0; w < b.warps.size();) {
    std::size_t end = w + 1;
    while (end < b.warps.size() && b.warps[end].second == b.warps[w].second &&
           b.warps[end].first == b.warps[end - 1].first + 1)
      ++end;
    for (std::string place : b.warps[w].second) {
      const std::size_t verb = place.find("waits");
      if (end - w > 1 && verb != std::string::npos) place.replace(verb, 5, "wait");
      text += end - w == 1
                  ? "\n  warp " + std::to_string(b.warps[w].first)
                  : "\n  warps " + std::to_string(b.warps[w].first) + " to " + std::to_string(b.warps[end - 1].first);
      text += " " + place;
    }
    w = end;
  }
}

bool alike(const waiting_block& a, const waiting_block& b) {
  return a.launch == b.launch && a.for_ever == b.for_ever && a.warps == b.warps;
}

// Lists the blocks by index; blocks that are consecutive in the grid are merged to "from to".
void add_blocks(std::string& text, const std::vector<const waiting_block*>& blocks) {
  text += blocks.size() == 1 ? "\n  and so in block " : "\n  and so in blocks ";
  for (std::size_t k = 0; k < blocks.size();) {
    std::size_t end = k + 1;
    while (end < blocks.size() && blocks[end]->number == blocks[end - 1]->number + 1) ++end;
    text += (k == 0 ? "" : ", ") + place_of(*blocks[k]);
    if (end - k > 1) text += " to " + place_of(*blocks[end - 1]);
    k = end;
  }
}

}  // namespace

std::string describe_deadlock(std::vector<waiting_block> blocks) {
  std::sort(blocks.begin(), blocks.end(), [](const waiting_block& a, const waiting_block& b) {
    return std::make_tuple(!a.for_ever, a.launch, a.number) < std::make_tuple(!b.for_ever, b.launch, b.number);
  });
  std::string text;
  std::vector<char> listed(blocks.size(), 0);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (listed[k]) continue;
    const waiting_block& b = blocks[k];
    const std::string where = "kernel '" + b.program->kernel + "', block " + place_of(b);
    if (text.empty())
      text = b.program->file + ": deadlock at a barrier in " + where +
             ": every warp that has not exited waits, and no barrier can complete";
    else text += "\n  likewise in " + where + (b.for_ever ? ":" : ", where other warps had not come to a barrier yet:");
    add_warps(text, b);
    std::vector<const waiting_block*> same;
    for (std::size_t n = k + 1; n < blocks.size(); ++n)
      if (!listed[n] && alike(b, blocks[n])) {
        same.push_back(&blocks[n]);
        listed[n] = 1;
      }
    if (!same.empty()) add_blocks(text, same);
  }
  return text;
}

}  // namespace heddle
