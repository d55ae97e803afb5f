// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace heddle {

/// The other end of a copy from global to shared memory.
struct copy_target {
  std::uint64_t offsets[32];  // by lane, in the block's shared memory
  std::uint32_t lanes = 0;    // that copy, or write zeros
  std::uint32_t group = 0;    // in the warp's copy_groups
};

/// A warp's groups of copies from global to shared memory, of which the last one takes further copies (PTX ISA,
/// cp.async.commit_group). Lanes that diverge have their groups in common, so a wait lasts at least as long as it must.
class copy_groups {
 public:
  /// A copy issues. Returns its group.
  std::uint32_t add() {
    if (incomplete_.empty()) incomplete_.push_back(0);
    ++incomplete_.back();
    return first_ + static_cast<std::uint32_t>(incomplete_.size()) - 1;
  }
  /// A copy of `group` is complete.
  void completed(std::uint32_t group) {
    --incomplete_[group - first_];
    retire();
  }
  /// The copies since the last call are a group.
  void commit() {
    if (incomplete_.empty()) return;  // all groups are complete: so is a further one without copies
    incomplete_.push_back(0);
    retire();
  }
  /// Committed groups that are not complete, or follow one that is not.
  [[nodiscard]] std::uint32_t pending() const {
    return incomplete_.empty() ? 0 : static_cast<std::uint32_t>(incomplete_.size()) - 1;
  }
  /// A copy of the group that takes further ones is incomplete.
  [[nodiscard]] bool open() const { return !incomplete_.empty() && incomplete_.back() != 0; }
  void clear() { incomplete_.clear(); }
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(incomplete_, first_);
  }

 private:
  // Groups complete in order.
  void retire() {
    std::size_t done = 0;
    while (done + 1 < incomplete_.size() && incomplete_[done] == 0) ++done;
    if (done == 0) return;
    incomplete_.erase(incomplete_.begin(), incomplete_.begin() + static_cast<std::ptrdiff_t>(done));
    first_ += static_cast<std::uint32_t>(done);
  }

  std::vector<std::uint32_t> incomplete_;  // copies by group, oldest first
  std::uint32_t first_ = 0;                // number of the oldest
};

/// A warp's groups of bulk copies from shared memory (cp.async.bulk.commit_group): by what has been written, and by
/// what has been read of shared memory.
struct bulk_groups {
  copy_groups written, read;

  void commit() {
    written.commit();
    read.commit();
  }
  void clear() {
    written.clear();
    read.clear();
  }
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(written, read);
  }
};

}  // namespace heddle
