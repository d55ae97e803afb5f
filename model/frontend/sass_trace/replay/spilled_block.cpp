// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/spilled_block.h"

#include <algorithm>
#include <cstring>

#include "heddle/frontend/sass_trace/replay/machine_addresses.h"

namespace heddle::sass_trace {

namespace {
constexpr std::size_t segment_records =
    64;  // in memory for each resident warp: 5,120 warps on a v100, up to 268 bytes a record
}

class spilled_block::segment_in_memory : public isa::recorded_segment {
 public:
  segment_in_memory(std::shared_ptr<const spilled_block> block, const place& p, bool last_of_warp)
      : block_(std::move(block)), records_(p.records) {
    const trace_store& store = *block_->kernel_->store;
    store.read(p.at, records_.data(), p.records * sizeof(trace_record));
    std::vector<std::uint64_t> words(p.words);
    if (p.words != 0)
      store.read(p.at + p.records * sizeof(trace_record), words.data(), p.words * sizeof(std::uint64_t));
    list_ = address_list(std::move(words), block_->addresses_);
    first = records_.data() + (p.position != 0 ? 1 : 0);
    last = records_.data() + (p.records - 1);
    position = p.position;
    ends = last_of_warp;
    next_lanes = p.next_lanes;
  }
  void addresses(const isa::execution_record& record, std::uint64_t addresses[32]) const override {
    machine_addresses(*block_->kernel_, list_, block_->common_.get(), record, addresses);
  }
  [[nodiscard]] const isa::lane_addresses* shared_addresses(const isa::execution_record& record) const override {
    return common_list(block_->common_.get(), record);
  }

 private:
  const std::shared_ptr<const spilled_block> block_;
  std::vector<trace_record> records_;
  address_list list_;
};

spilled_block::spilled_block(std::shared_ptr<const trace_kernel> kernel)
    : kernel_(std::move(kernel)), places_(kernel_->header.warps()) {}

spilled_block::~spilled_block() {
  for (const stretch& s : stretches_) kernel_->store->forget(s.begin, s.end - s.begin);
}

void spilled_block::append(const block_trace& part) {
  std::copy_n(part.index, 3, index_);
  common_ = part.common;
  for (const warp_trace& w : part.warps) {
    if (w.count == 0) continue;
    if (!in_warp_ || w.warp != warp_) {
      end_warp();
      warp_ = w.warp;
      in_warp_ = true;
    }
    for (std::size_t k = 0; k < w.count; ++k) add(part.records[w.first + k], part.addresses);
  }
}

void spilled_block::complete() {
  end_warp();
  for (warp_ = 0; warp_ < places_.size(); ++warp_) {
    if (!places_[warp_].empty()) continue;
    records_.push_back(kernel_->end_of(warp_));
    ++all_records_;
    close_segment();
  }
}

// Called for a record that is not its warp's last: sets the next active lanes of segments that end before it.
void spilled_block::followed(const trace_record& record) {
  if (record.mask == 0) return;
  std::vector<place>& all = places_[warp_];
  for (; open_places_ < all.size(); ++open_places_) all[open_places_].next_lanes = record.mask;
}

// The first record of a segment is also the last record of the previous one.
void spilled_block::add(const trace_record& record, const address_list& from) {
  trace_record s = record;
  if (!records_.empty()) followed(records_.back());
  if (records_.size() > segment_records && (records_.back().instruction & isa::step::precedes) == 0) {
    const trace_record before{records_.back().instruction, records_.back().mask, 0};
    records_.push_back({s.instruction, s.mask, 0});
    close_segment();
    position_ = read_;
    records_.push_back(before);
  }
  if (s.addresses != 0 && (s.addresses & common_bit) == 0) s.addresses = addresses_.add_from(from, s.addresses, s.mask);
  records_.push_back(s);
  ++read_;
  ++all_records_;
}

void spilled_block::end_warp() {
  if (!in_warp_) return;
  if (kernel_->program->code[records_.back().instruction & isa::step::index].op != isa::opcode::exit) {
    followed(records_.back());
    records_.push_back(kernel_->end_of(warp_));
  }
  close_segment();
  position_ = read_ = 0;
  open_places_ = 0;
  in_warp_ = false;
}

void spilled_block::close_segment() {
  const std::vector<std::uint64_t>& words = addresses_.words();
  const std::size_t of_records = records_.size() * sizeof(trace_record);
  const std::size_t of_words = words.size() * sizeof(std::uint64_t);
  std::vector<char> data(of_records + of_words);
  std::memcpy(data.data(), records_.data(), of_records);
  if (of_words != 0) std::memcpy(data.data() + of_records, words.data(), of_words);
  const std::uint64_t at = kernel_->store->append(data.data(), data.size());
  if (stretches_.empty() || stretches_.back().end != at) stretches_.push_back({at, at});
  stretches_.back().end += data.size();
  places_[warp_].push_back(
      {position_, at, static_cast<std::uint32_t>(records_.size()), static_cast<std::uint32_t>(words.size()), 0});
  records_.clear();
  addresses_.clear();
}

std::shared_ptr<const isa::recorded_segment> spilled_block::segment(std::uint32_t warp, std::uint64_t position) const {
  const std::vector<place>& all = places_[warp];
  const auto behind = std::upper_bound(all.begin(), all.end(), position,
                                       [](std::uint64_t p, const place& of) { return p < of.position; });
  auto found = std::make_shared<segment_in_memory>(shared_from_this(), behind[-1], behind == all.end());
  if (position - found->position > static_cast<std::uint64_t>(found->last - found->first)) return nullptr;
  return found;
}

}  // namespace heddle::sass_trace
