// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/launch_profile.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/memory/common/zero_bytes.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/warp/warp_slot.h"

namespace heddle {

namespace {

// Of `size` items, those that count something, with their places. `counts(i)`: whether item i does; `exchange_one(i)`.
template <class Counts, class Exchange>
void exchange_counting(state_image& image, std::size_t size, Counts&& counts, Exchange&& exchange_one) {
  std::uint32_t left = 0;
  for (std::size_t i = 0; !image.reading() && i < size; ++i) left += counts(i);
  image(left);
  for (std::uint32_t i = 0; left != 0; ++i) {
    if (!image.reading() && !counts(i)) continue;
    image(i);
    if (i >= size) throw state_error("the profile of a launch has more instructions than its program");
    exchange_one(i);
    --left;
  }
}

bool counts_anything(const instruction_traffic& t) {
  constexpr instruction_traffic none{};
  return std::memcmp(&t, &none, sizeof t) != 0;
}

}  // namespace

void launch_profile::begin(std::shared_ptr<const decoded_program> program) {
  if (program_ != nullptr) return;
  program_ = std::move(program);
  lines_.resize(program_->code.size());
  traffic_.resize(program_->access_count);
}

void launch_profile::drop() {
  invariant(counts_no_block(), "the counts of a launch were dropped while a block counts");
  launch_profile rest;
  rest.program_ = std::move(program_);
  rest.dropped_ = true;
  *this = std::move(rest);
}

std::size_t launch_profile::dropped_size() const { return program_->code.size(); }

std::uint32_t launch_profile::access_of(const decoded_instruction& d) const {
  return program_->accesses[static_cast<std::size_t>(&d - program_->code.data())];
}

instruction_traffic launch_profile::traffic(std::size_t instruction) const {
  if (!accesses_memory(program_->code[instruction])) return {};
  return traffic_[program_->accesses[instruction]];
}

// Most blocks of a large program execute little of it. Only what they count in is given memory.
std::shared_ptr<execution_count> launch_profile::counts_of_block() {
  const std::size_t instructions = program_->code.size(), bytes = instructions * sizeof(execution_count);
  constexpr std::size_t small_bytes = 4096, large_bytes = std::size_t{1} << 20;
  if (bytes < small_bytes) return zero_counts(instructions);
  if (zeros_left_ < bytes) {
    zeros_left_ = std::max(large_bytes, bytes);
    zeros_ = zero_bytes(zeros_left_);
  }
  zeros_left_ -= bytes;
  return {zeros_, reinterpret_cast<execution_count*>(zeros_.get() + zeros_left_)};
}

block_counts& launch_profile::begin_block() {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<block_counts>(counts_of_block(), program_->code.size(), this));
    free_blocks_.push_back(blocks_.back().get());
  }
  block_counts& counts = *free_blocks_.back();
  free_blocks_.pop_back();
  counts.clear();
  return counts;
}

void launch_profile::end_block(block_counts& counts) { free_blocks_.push_back(&counts); }

instruction_profile instruction_sum::profile() const {
  instruction_profile p;
  p.executed = counts[launch_profile::executed];
  p.lanes = counts[launch_profile::lanes];
  for (unsigned s = 0; s < state_count; ++s) add_state(p, s, counts[launch_profile::what(s)]);
  return p;
}

instruction_profile launch_profile::at(std::size_t instruction) const {
  instruction_sum one;
  one.counts = counts_of(instruction);
  return one.profile();
}

traffic_counts warp_slot::traffic_of(const decoded_instruction& d) const {
  return {&profile->traffic_of(d), counts != nullptr ? &counts->moved : nullptr};
}

void launch_code::add(const launch_profile& of_sm) {
  if (of_sm.size() == 0) return;
  program = of_sm.program();
  counts.resize(of_sm.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    instruction_sum& sum = counts[i];
    for (std::size_t n = 0; n < sum.counts.size(); ++n) sum.counts[n] += of_sm.lines_[i].low[n];
    if (!of_sm.high_.empty())
      for (std::size_t n = 0; n < sum.counts.size(); ++n) sum.counts[n] += of_sm.high_[i][n] << 32;
    if (!accesses_memory(program->code[i])) continue;
    const instruction_traffic moved = of_sm.traffic(i);
    sum.traffic.add(moved);
    // A product's passes are those that its operands need.
    const std::uint64_t executed = of_sm.count(i, launch_profile::executed);
    if (program->code[i].kind != issue_kind::product && moved.shared_passes > executed)
      sum.bank_conflicts += moved.shared_passes - executed;
  }
}

void launch_profile::exchange(state_image& image, const resident_launch& launch) {
  bool begun = program_ != nullptr;
  image(begun);
  if (!begun) return;
  if (image.reading()) begin(launch.decoded);
  bool dropped = dropped_;
  image(dropped);
  if (dropped) {
    if (image.reading()) drop();
    return;
  }
  image.same(lines_.size(), "instructions of a launch");
  exchange_counting(
      image, lines_.size(), [this](std::size_t i) { return counts_of(i) != profile_counts{}; },
      [&](std::size_t i) { exchange_counts(image, i); });
  exchange_counting(
      image, traffic_.size(), [this](std::size_t i) { return counts_anything(traffic_[i]); },
      [&](std::size_t i) { image.numbers(traffic_[i]); });
  image.name(lines_.data(), lines_.size());
  image.name(traffic_.data(), traffic_.size());
  exchange_blocks(image);
}

profile_counts launch_profile::counts_of(std::size_t instruction) const {
  profile_counts all;
  for (unsigned n = 0; n < all.size(); ++n) all[n] = count(instruction, n);
  return all;
}

// Not by halves: an account that was settled early may have been below zero meanwhile, and left a high half of zero.
void launch_profile::exchange_counts(state_image& image, std::size_t instruction) {
  profile_counts all = counts_of(instruction);
  image.sparse(all.data(), sizeof all);
  if (!image.reading()) return;
  lines_[instruction] = {};
  for (unsigned n = 0; n < all.size(); ++n) add(lines_[instruction], n, all[n]);
}

void launch_profile::exchange_blocks(state_image& image) {
  std::uint32_t count = static_cast<std::uint32_t>(blocks_.size());
  image(count);
  if (image.reading())
    for (std::uint32_t i = 0; i < count; ++i)
      blocks_.push_back(std::make_unique<block_counts>(counts_of_block(), program_->code.size(), this));
  for (const auto& b : blocks_) {
    b->exchange(image, program_->code.size());
    image.name(b.get());
    image.name(&b->moved);
  }
  image(free_blocks_);
}

void launch_profile::carry(const profile_line& from, unsigned what, std::uint64_t high) {
  if (high_.empty()) high_.resize(lines_.size());
  high_[static_cast<std::size_t>(&from - lines_.data())][what] += high;
}

}  // namespace heddle
