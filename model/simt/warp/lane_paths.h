// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

// The lists of paths and convergence frames of a warp with independent lanes. The lanes that run now are in none of
// these paths.

/// Adds a path behind the others, or its lanes to one that stands at the same place and may run.
void add_path(warp_state& w, const lane_path& path);
bool may_any_run(const warp_state& w);
/// Makes the newest path that may run the active one; the lanes that were active must be somewhere else by now. False:
/// no path may run.
bool take_newest(warp_state& w);
/// The same with the oldest; one must be able to run.
void take_oldest(warp_state& w);

/// The frame in which the active lanes meet at `reconverge`, inside their present one, to go on at `resume`.
std::uint32_t open_frame(warp_state& w, std::uint32_t reconverge, std::uint32_t resume);
/// `lanes` have come to the frame's reconvergence point; when they were the last, all of them become a path of the
/// parent.
void arrive(warp_state& w, std::uint32_t frame, lane_mask lanes);
/// The lanes that have arrived wait no longer for the others.
void abandon(warp_state& w, std::uint32_t frame);
/// Abandons the innermost frame in which lanes wait. False: there is none.
bool abandon_innermost(warp_state& w);
/// Takes lanes out of all paths and frames; frames that wait for nobody else any more complete.
void remove_lanes(warp_state& w, lane_mask lanes);
/// `lanes`, in `frame`, go on as lanes of the enclosing frame `outer` (or no_frame).
void leave_frames(warp_state& w, lane_mask lanes, std::uint32_t frame, std::uint32_t outer);
/// The innermost frame that encloses (or is) both.
std::uint32_t common_frame(const warp_state& w, std::uint32_t a, std::uint32_t b);
/// Lets paths go on that wait for lanes which now wait likewise or have exited.
void grant_lanes(warp_state& w);

}  // namespace heddle::simt
