// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

// The lists of paths and convergence frames of a warp with independent lanes. The active lanes are in none of these
// paths.

/// Appends a path, or adds its lanes to a path that has the same pc and frame and can run.
void add_path(warp_state& w, const lane_path& path);
bool may_any_run(const warp_state& w);
/// Makes the newest path that can run the active one; the lanes that were active must have been stored elsewhere.
/// Returns false if no path can run.
bool take_newest(warp_state& w);
/// The same with the oldest path; one must be able to run.
void take_oldest(warp_state& w);

/// Opens the frame in which the active lanes reconverge at `reconverge` to continue at `resume`; it is nested in their
/// current frame.
std::uint32_t open_frame(warp_state& w, std::uint32_t reconverge, std::uint32_t resume);
/// `lanes` have reached the frame's reconvergence point. With the last arrival all of them become a path of the parent
/// frame.
void arrive(warp_state& w, std::uint32_t frame, lane_mask lanes);
/// The lanes that have arrived no longer wait for the others.
void abandon(warp_state& w, std::uint32_t frame);
/// Abandons the innermost frame in which lanes wait. Returns false if there is none.
bool abandon_innermost(warp_state& w);
/// Removes lanes from all paths and frames; frames without missing lanes complete.
void remove_lanes(warp_state& w, lane_mask lanes);
/// `lanes`, in `frame`, continue as lanes of the enclosing frame `outer` (or no_frame).
void leave_frames(warp_state& w, lane_mask lanes, std::uint32_t frame, std::uint32_t outer);
/// The innermost frame that is or encloses both.
std::uint32_t common_frame(const warp_state& w, std::uint32_t a, std::uint32_t b);
/// Releases paths that wait for lanes which now wait likewise or have exited.
void grant_lanes(warp_state& w);

}  // namespace heddle::simt
