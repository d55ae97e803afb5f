// SPDX-License-Identifier: MIT
#include "heddle/simt/warp/lane_paths.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle::simt {

namespace {

bool may_run(const lane_path& p) { return p.wait == path_wait::nothing; }

void take(warp_state& w, std::vector<lane_path>::iterator at) {
  w.pc = at->pc;
  w.active = at->mask;
  w.frame = at->frame;
  w.granted = at->granted;
  w.reconverge = w.frame == no_frame ? isa::no_target : w.frames[w.frame].reconverge;
  w.back_edges = 0;
  w.paths.erase(at);
}

// Completes a frame whose remaining lanes have all arrived; they continue. A frame without lanes can be reused.
void complete(warp_state& w, std::uint32_t frame) {
  convergence_frame& f = w.frames[frame];
  if (f.participants != f.arrived) return;
  const lane_mask lanes = f.arrived;
  f.participants = f.arrived = 0;
  if (lanes != 0) add_path(w, {f.resume, lanes, f.parent, path_wait::nothing, false, 0});
  while (!w.frames.empty() && w.frames.back().participants == 0) w.frames.pop_back();
}

unsigned depth_of(const warp_state& w, std::uint32_t frame) {
  unsigned depth = 0;
  for (; frame != no_frame; frame = w.frames[frame].parent) ++depth;
  return depth;
}

// The lanes that a path waits for, transitively, together with its own. Returns them if all of them wait, otherwise 0.
lane_mask complete_group(const warp_state& w, const lane_path& first) {
  lane_mask here = first.mask, wanted = first.wanted & w.live;
  for (bool grown = true; grown;) {
    grown = false;
    for (const lane_path& q : w.paths) {
      if (q.wait != path_wait::lanes || (q.mask & wanted & ~here) == 0) continue;
      here |= q.mask;
      wanted |= q.wanted & w.live;
      grown = true;
    }
  }
  return (wanted & ~here) == 0 ? here : 0;
}

// The waiting lanes of `group` continue: as one path for all lanes at the same instruction, in the frame that encloses
// them all.
void let_go(warp_state& w, lane_mask group) {
  std::vector<lane_path> waiting;
  for (const lane_path& p : w.paths)
    if (p.wait == path_wait::lanes && (p.mask & group) != 0) waiting.push_back(p);
  w.paths.erase(std::remove_if(w.paths.begin(), w.paths.end(),
                               [&](const lane_path& p) { return p.wait == path_wait::lanes && (p.mask & group) != 0; }),
                w.paths.end());
  for (std::size_t k = 0; k < waiting.size(); ++k) {
    lane_path together = waiting[k];
    if (together.mask == 0) continue;
    for (std::size_t n = k + 1; n < waiting.size(); ++n)
      if (waiting[n].pc == together.pc) together.frame = common_frame(w, together.frame, waiting[n].frame);
    together.mask = 0;
    for (std::size_t n = k; n < waiting.size(); ++n) {
      if (waiting[n].pc != together.pc) continue;
      leave_frames(w, waiting[n].mask, waiting[n].frame, together.frame);
      together.mask |= waiting[n].mask;
      waiting[n].mask = 0;
    }
    together.wait = path_wait::nothing;
    together.granted = true;
    together.wanted = 0;
    w.paths.push_back(together);
  }
}

}  // namespace

void add_path(warp_state& w, const lane_path& path) {
  for (lane_path& p : w.paths) {
    if (p.pc != path.pc || p.frame != path.frame || !may_run(p) || p.granted || !may_run(path) || path.granted)
      continue;
    p.mask |= path.mask;
    return;
  }
  w.paths.push_back(path);
}

bool may_any_run(const warp_state& w) { return std::any_of(w.paths.begin(), w.paths.end(), may_run); }

bool take_newest(warp_state& w) {
  const auto at = std::find_if(w.paths.rbegin(), w.paths.rend(), may_run);
  if (at == w.paths.rend()) return false;
  take(w, std::next(at).base());
  return true;
}

void take_oldest(warp_state& w) { take(w, std::find_if(w.paths.begin(), w.paths.end(), may_run)); }

std::uint32_t open_frame(warp_state& w, std::uint32_t reconverge, std::uint32_t resume) {
  std::uint32_t unused = no_frame;
  for (std::uint32_t k = 0; k < w.frames.size(); ++k) {
    convergence_frame& f = w.frames[k];
    if (f.participants == 0) {
      if (unused == no_frame) unused = k;
    } else if (f.reconverge == reconverge && f.parent == w.frame) {
      f.participants |= w.active;  // lanes that abandoned the frame reconverge with the others
      return k;
    }
  }
  if (unused == no_frame) {
    unused = static_cast<std::uint32_t>(w.frames.size());
    w.frames.emplace_back();
  }
  w.frames[unused] = {reconverge, resume, w.active, 0, w.frame, 0};
  return unused;
}

void arrive(warp_state& w, std::uint32_t frame, lane_mask lanes) {
  convergence_frame& f = w.frames[frame];
  f.arrived |= lanes;
  f.back_edges = 0;
  complete(w, frame);
}

void abandon(warp_state& w, std::uint32_t frame) {
  convergence_frame& f = w.frames[frame];
  const lane_mask lanes = f.arrived;
  f.participants &= ~lanes;
  f.arrived = 0;
  f.back_edges = 0;
  add_path(w, {f.resume, lanes, f.parent, path_wait::nothing, false, 0});
}

bool abandon_innermost(warp_state& w) {
  std::uint32_t innermost = no_frame;
  unsigned deepest = 0;
  for (std::uint32_t k = 0; k < w.frames.size(); ++k) {
    if (w.frames[k].arrived == 0) continue;
    const unsigned depth = depth_of(w, k);
    if (depth <= deepest) continue;
    deepest = depth;
    innermost = k;
  }
  if (innermost == no_frame) return false;
  abandon(w, innermost);
  return true;
}

void remove_lanes(warp_state& w, lane_mask lanes) {
  for (lane_path& p : w.paths) p.mask &= ~lanes;
  w.paths.erase(std::remove_if(w.paths.begin(), w.paths.end(), [](const lane_path& p) { return p.mask == 0; }),
                w.paths.end());
  for (convergence_frame& f : w.frames) {
    f.participants &= ~lanes;
    f.arrived &= ~lanes;
  }
  for (std::uint32_t k = 0; k < w.frames.size(); ++k) complete(w, k);
}

void leave_frames(warp_state& w, lane_mask lanes, std::uint32_t frame, std::uint32_t outer) {
  while (frame != outer) {
    invariant(frame != no_frame, "lanes left a frame for one that does not enclose it");
    const std::uint32_t parent = w.frames[frame].parent;
    w.frames[frame].participants &= ~lanes;
    complete(w, frame);
    frame = parent;
  }
}

std::uint32_t common_frame(const warp_state& w, std::uint32_t a, std::uint32_t b) {
  unsigned depth_a = depth_of(w, a), depth_b = depth_of(w, b);
  for (; depth_a > depth_b; --depth_a) a = w.frames[a].parent;
  for (; depth_b > depth_a; --depth_b) b = w.frames[b].parent;
  while (a != b) {
    a = w.frames[a].parent;
    b = w.frames[b].parent;
  }
  return a;
}

void grant_lanes(warp_state& w) {
  for (std::size_t k = 0; k < w.paths.size();) {
    const lane_mask group = w.paths[k].wait == path_wait::lanes ? complete_group(w, w.paths[k]) : 0;
    if (group == 0) {
      ++k;
    } else {
      let_go(w, group);
      k = 0;
    }
  }
}

}  // namespace heddle::simt
