// SPDX-License-Identifier: MIT
#include "heddle/simt/warp/context_image.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"

namespace heddle::simt {

// Structured bindings name every member, so that a new member does not compile here until it is saved as well.

void context_image::operator()(stack_entry& e) {
  auto& [pc, reconverge, mask] = e;
  (*this)(pc);
  (*this)(reconverge);
  (*this)(mask);
}

void context_image::operator()(lane_path& p) {
  auto& [pc, mask, frame, wait, granted, wanted] = p;
  (*this)(pc);
  (*this)(mask);
  (*this)(frame);
  (*this)(wait);
  (*this)(granted);
  (*this)(wanted);
}

void context_image::operator()(convergence_frame& f) {
  auto& [reconverge, resume, participants, arrived, parent, back_edges] = f;
  (*this)(reconverge);
  (*this)(resume);
  (*this)(participants);
  (*this)(arrived);
  (*this)(parent);
  (*this)(back_edges);
}

// Not part of the image: the model's addresses of registers and block, and the warp's ids, which do not change.
void context_image::operator()(warp_state& w) {
  auto& [regs, predicates, pc, active, live, reconverge, slot, independent, granted, frame, back_edges, warp_in_block,
         block, stack, paths, frames, clock_low, cycle, time_ns] = w;
  (*this)(predicates);
  (*this)(pc);
  (*this)(active);
  (*this)(live);
  (*this)(stack);
  (*this)(reconverge);
  (*this)(independent);
  (*this)(granted);
  (*this)(frame);
  (*this)(back_edges);
  (*this)(paths);
  (*this)(frames);
  (*this)(clock_low);
  (*this)(cycle);
  (*this)(time_ns);
}

void context_image::exchange(std::uint32_t* data, std::size_t count) {
  if (!reading_) {
    words_.insert(words_.end(), data, data + count);
    return;
  }
  need(count);
  std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(at_), count, data);
  at_ += count;
}

void context_image::blank(std::size_t count) {
  if (reading_) {
    need(count);
    at_ += count;
  } else {
    words_.resize(words_.size() + count);
  }
}

void context_image::exchange_bytes(std::uint8_t* data, std::size_t count) {
  const std::size_t words = (count + 3) / 4;
  if (reading_) {
    need(words);
    if (count != 0) std::memcpy(data, words_.data() + at_, count);
    at_ += words;
  } else {
    const std::size_t from = words_.size();
    words_.resize(from + words);
    if (count != 0) std::memcpy(words_.data() + from, data, count);
  }
}

void context_image::align(std::size_t count) {
  if (reading_) at_ = (at_ + count - 1) / count * count;
  else words_.resize((words_.size() + count - 1) / count * count);
}

void context_image::need(std::size_t words) const {
  if (at_ > words_.size() || words > words_.size() - at_)
    throw program_error("a context that was swapped out came back damaged from memory");
}

bool plausible(const warp_state& w, std::size_t instructions) {
  const auto is_frame = [&](std::uint32_t f) { return f == no_frame || f < w.frames.size(); };
  if (w.pc >= instructions || (w.active & ~w.live) != 0 || !is_frame(w.frame)) return false;
  const auto bad_entry = [&](const stack_entry& e) { return e.pc >= instructions; };
  const auto bad_path = [&](const lane_path& p) {
    return p.pc >= instructions || !is_frame(p.frame) || p.wait > path_wait::lanes;
  };
  const auto bad_frame = [&](const convergence_frame& f) {
    if (f.participants != 0 && (f.reconverge >= instructions || f.resume >= instructions)) return true;
    // Frames are nested: a parent was opened before its children, or reused a free entry; there must be no cycle.
    std::uint32_t parent = f.parent;
    for (std::size_t depth = 0; parent != no_frame; ++depth) {
      if (parent >= w.frames.size() || depth > w.frames.size()) return true;
      parent = w.frames[parent].parent;
    }
    return false;
  };
  return std::none_of(w.stack.begin(), w.stack.end(), bad_entry) &&
         std::none_of(w.paths.begin(), w.paths.end(), bad_path) &&
         std::none_of(w.frames.begin(), w.frames.end(), bad_frame);
}

}  // namespace heddle::simt
