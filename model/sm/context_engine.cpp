// SPDX-License-Identifier: MIT
#include "heddle/sm/context_engine.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"

namespace heddle {

namespace {

constexpr unsigned line_words = line_bytes / 4;
constexpr unsigned places = 64;               // contexts of one SM that may be in memory at one time
constexpr std::uint64_t state_bytes = 65536;  // most bytes that a warp may need beside its registers
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

std::uint64_t place_bytes(const gpu_config& c) {
  const std::uint64_t most =
      std::uint64_t{c.sm.registers} * 4 + c.shared_memory.size_bytes + c.sm.max_warps * state_bytes;
  return (most + mebibyte - 1) / mebibyte * mebibyte;
}

}  // namespace

context_engine::context_engine(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config,
                               unsigned sm_id, class resource_manager& resources, class barrier_unit& barriers,
                               sc_core::sc_vector<sub_partition>& partitions, context_supervisor& supervisor)
    : sc_module(name),
      memory_socket({"memory_socket", this}),
      port_(memory_socket, *this),
      clock_(clock, *this),
      resources_(resources),
      barriers_(barriers),
      partitions_(partitions),
      supervisor_(supervisor),
      sub_partitions_(config.sm.sub_partitions),
      lines_in_flight_(config.context.lines_in_flight),
      sm_id_(sm_id),
      sm_count_(config.gpu.sm_count),
      base_(config.context.area_mib * mebibyte),
      place_bytes_(place_bytes(config)) {}

template <class F>
void context_engine::each_live_warp(const resident_block& b, F&& f) {
  for (const unsigned in_block : set_bits(b.live)) {
    f(static_cast<unsigned>(b.warps[in_block]), in_block);
  }
}

void context_engine::preempt(context_transaction& t, cycle_t cycle) {
  invariant(step_ == step::idle, "an SM was preempted in the middle of a context switch");
  current_ = &t;
  step_ = step::quiescing;
  cta_slots_.clear();
  for (unsigned s = 0; s < resources_.cta_slots(); ++s) {
    const resident_block& b = resources_.block(s);
    if (b.transaction == nullptr) continue;
    if (!t.leaving.empty() && std::find(t.leaving.begin(), t.leaving.end(), b.transaction) == t.leaving.end()) continue;
    cta_slots_.push_back(s);
    each_live_warp(b, [&](unsigned warp, unsigned) { partition_of(warp).contexts.stop(slot_of(warp), cycle); });
  }
  check_quiet(cycle);
}

void context_engine::on_cycle(cycle_t cycle) {
  switch (step_) {
    case step::idle:
    case step::quiet:
    case step::restored: return;
    case step::quiescing: return check_quiet(cycle);
    case step::waiting: return begin_restoring(cycle);
    case step::saving:
    case step::restoring: return move_lines(cycle);
  }
}

// Starts saving when the blocks are quiet: no instruction of theirs is outstanding, results of fixed latency are in the
// registers, and the stores of exited warps are acknowledged.
void context_engine::check_quiet(cycle_t cycle) {
  const auto ended = [this](unsigned s) { return resources_.block(s).transaction == nullptr; };
  cta_slots_.erase(std::remove_if(cta_slots_.begin(), cta_slots_.end(), ended), cta_slots_.end());
  cycle_t settled = cycle;
  bool quiet = true;
  for (const unsigned s : cta_slots_) {
    quiet = quiet && resources_.block(s).unsettled == 0;
    each_live_warp(resources_.block(s), [&](unsigned warp, unsigned) {
      const sub_partition& p = partition_of(warp);
      const warp_slot& w = p.at(slot_of(warp));
      quiet = quiet && !w.outstanding() && w.phase == warp_phase::stopped;
      if (quiet) settled = std::max(settled, p.contexts.settled(slot_of(warp)));
    });
  }
  if (!quiet) return;
  if (settled > cycle) return clock_.wake_at(settled);
  if (!current_->together) return begin_saving(cycle);
  step_ = step::quiet;
  resources_.report(*current_, cta_phase::ready, cycle);
}

void context_engine::proceed(const context_transaction& t, cycle_t cycle) {
  invariant(current_ == &t && (step_ == step::quiet || step_ == step::restored),
            "an SM was to go on with a switch that it does not make");
  if (step_ == step::quiet) begin_saving(cycle);
  else resume(cycle);
}

void context_engine::exchange(unsigned cta_slot) {
  resident_block& b = resources_.block(cta_slot);
  image_.exchange_bytes(b.shared.data(), b.launch->shared_bytes);
  image_.align(line_words);
  barriers_.exchange(cta_slot, image_, b.launch->program->cluster_barrier);
  each_live_warp(b, [&](unsigned warp, unsigned) { partition_of(warp).contexts.exchange(slot_of(warp), image_); });
  image_.align(line_words);
}

unsigned context_engine::free_place() const {
  for (unsigned place = 0; place < places; ++place)
    if (std::none_of(saved_.begin(), saved_.end(), [&](const saved_context& c) { return c.place == place; }))
      return place;
  throw internal_error("more contexts of one SM are in memory than there is room for");
}

void context_engine::begin_saving(cycle_t cycle) {
  current_->quiesced_cycle = cycle;
  const bool keeps = current_->mode != preemption_mode::flush;
  context_ = {};
  context_.transaction = current_;
  if (keeps) context_.place = free_place();
  image_.write();
  for (const unsigned s : cta_slots_) {
    const resident_block& b = resources_.block(s);
    switched_block record;
    record.transaction = b.transaction;
    record.launch = b.launch->launch_id;
    record.block = b.transaction->block;
    each_live_warp(b, [&](unsigned warp, unsigned) { record.warp_ids.push_back(narrow<std::uint8_t>(warp)); });
    const std::size_t from = image_.words().size();
    if (keeps) exchange(s);
    record.bytes_saved = (image_.words().size() - from) * 4;
    current_->blocks.push_back(std::move(record));
  }
  invariant(image_.words().size() * 4 <= place_bytes_, "a context is larger than its place in memory");
  next_word_ = 0;
  step_ = step::saving;
  move_lines(cycle);
}

// Sends the next line, and ends the transfer when all lines have been answered.
void context_engine::move_lines(cycle_t cycle) {
  if (!port_.nacked() && next_word_ < image_.words().size() && in_flight_ < lines_in_flight_) send_line(cycle);
  if (next_word_ < image_.words().size()) {
    if (!port_.nacked() && in_flight_ < lines_in_flight_) clock_.wake_at(cycle + 1);
    return;
  }
  if (in_flight_ != 0) return;
  if (step_ == step::saving) end_saving(cycle);
  else end_restoring(cycle);
}

bool context_engine::send_line(cycle_t cycle) {
  line_access& l = lines_.take();
  // The line's traffic counts for the launch of the block that it belongs to.
  std::size_t block = 0, end = 0;
  const auto& records = current_->blocks;
  for (; block < records.size(); ++block)
    if (next_word_ < (end += records[block].bytes_saved / 4)) break;
  const bool saves = step_ == step::saving;
  l.word = next_word_;
  lsu_transaction& t = l.transaction;
  t.launch = records[block].transaction->launch;
  t.kind = saves ? lsu_kind::store : lsu_kind::load;
  t.global_mask = simt::all_lanes;
  t.bypass_l1 = true;
  t.bytes_per_lane = 4;
  t.faulted = false;
  const std::uint64_t line = address(context_.place, next_word_ * 4);
  for (unsigned lane = 0; lane < line_words; ++lane) t.own_addresses[lane] = line + 4 * lane;
  if (saves) std::memcpy(t.words[0], &image_.words()[next_word_], line_bytes);
  l.access = {};
  l.access.origin = l1_origin::context;
  l.access.transaction = &t;
  l.access.line = line;
  l.access.lanes = simt::all_lanes;
  l.access.sectors = (1u << sectors_per_line) - 1;
  const l1_answer answer = port_.send(l.access, cycle);
  invariant(answer != l1_answer::hit, "the L1 kept a line of a context");
  if (answer == l1_answer::nacked) {
    lines_.give_back(l);
    return false;
  }
  ++in_flight_;
  next_word_ += line_words;
  return true;
}

void context_engine::l1_responds(l1_access& access) {
  const auto& all = lines_.all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& l) { return &l->access == &access; });
  invariant(found != all.end(), "context engine: unexpected response");
  line_access& l = **found;
  if (l.transaction.faulted) supervisor_.program_fault("a context switch failed: " + l.transaction.fault);
  if (step_ == step::restoring) std::memcpy(&image_.words()[l.word], l.transaction.words[0], line_bytes);
  lines_.give_back(l);
  --in_flight_;
  clock_.wake_at(clock_.cycle());
}

// The context is in memory: frees everything that the blocks hold on the SM.
void context_engine::end_saving(cycle_t cycle) {
  context_transaction& t = *current_;
  t.saved_cycle = cycle;
  for (std::size_t k = 0; k < cta_slots_.size(); ++k) {
    const unsigned s = cta_slots_[k];
    std::uint64_t executed = 0;
    each_live_warp(resources_.block(s), [&](unsigned warp, unsigned) {
      executed += partition_of(warp).contexts.swap_out(slot_of(warp), cycle);
    });
    t.blocks[k].executed = resources_.block(s).executed += executed;
    barriers_.open(s, 0, 0);
    if (t.drops) supervisor_.dropped(resources_.block(s), cycle);
    context_.blocks.push_back(resources_.swap_out(s, cycle));
  }
  if (t.mode == preemption_mode::flush) note_executed(t);
  std::vector<std::uint32_t>().swap(image_.words());
  if (!context_.blocks.empty() && !t.drops) saved_.push_back(std::move(context_));
  context_ = {};
  step_ = step::idle;
  resources_.report(t, cta_phase::saved, cycle);
}

// No operation of the blocks is on the way.
void context_engine::note_executed(context_transaction& t) {
  for (resident_block& b : context_.blocks) {
    block_counts* const counts = std::exchange(b.context.counts, nullptr);
    if (counts == nullptr) continue;
    const std::uint32_t launch = b.launch->launch_id;
    const std::size_t instructions = b.launch->decoded->code.size();
    auto of = std::find_if(t.executed.begin(), t.executed.end(), [&](const auto& e) { return e.launch == launch; });
    if (of == t.executed.end())
      of = t.executed.insert(of, executed_instructions{launch, {zero_counts(instructions), instructions, nullptr}});
    of->counts.add(*counts);
    counts->owner()->end_block(*counts);
  }
}

void context_engine::restore(context_transaction& t, cycle_t cycle) {
  invariant(step_ == step::idle, "blocks were called back in the middle of a context switch");
  const auto found =
      std::find_if(saved_.begin(), saved_.end(), [&](const saved_context& c) { return c.transaction == &t; });
  invariant(found != saved_.end(), "blocks are restored that were not saved by this SM");
  current_ = &t;
  context_ = std::move(*found);
  saved_.erase(found);
  for (resident_block& b : context_.blocks) resources_.reserve(b, cycle);
  if (t.mode == preemption_mode::flush) return run_anew(cycle);
  step_ = step::waiting;
  begin_restoring(cycle);
}

void context_engine::begin_restoring(cycle_t cycle) {
  for (const resident_block& b : context_.blocks)
    if (!resources_.warp_ids_free(b)) return;
  current_->restore_cycle = cycle;
  cta_slots_.clear();
  std::size_t words = 0;
  for (std::size_t k = 0; k < context_.blocks.size(); ++k) {
    const unsigned s = resources_.swap_in(std::move(context_.blocks[k]), cycle);
    const resident_block& b = resources_.block(s);
    cta_slots_.push_back(s);
    supervisor_.divide_cache();
    each_live_warp(b, [&](unsigned warp, unsigned in_block) {
      partition_of(warp).contexts.swap_in(slot_of(warp), *b.launch, b.context, in_block,
                                          b.allocation.registers_per_warp / isa::warp_size, cycle);
    });
    words += current_->blocks[k].bytes_saved / 4;
  }
  image_.words().assign(words, 0);
  next_word_ = 0;
  step_ = step::restoring;
  move_lines(cycle);
}

// Restarts dropped blocks on the sub-partitions that they had; their warps take any free warp ids there.
void context_engine::run_anew(cycle_t cycle) {
  context_transaction& t = *current_;
  t.restore_cycle = t.resumed_cycle = cycle;
  for (std::size_t k = 0; k < context_.blocks.size(); ++k) {
    const unsigned s = resources_.run_anew(std::move(context_.blocks[k]), cycle);
    t.blocks[k].restored_warp_ids = resources_.block(s).warps;
  }
  context_ = {};
  step_ = step::idle;
  resources_.report(t, cta_phase::resumed, cycle);
}

void context_engine::end_restoring(cycle_t cycle) {
  context_transaction& t = *current_;
  image_.read(std::move(image_.words()));
  try {
    for (const unsigned s : cta_slots_) exchange(s);
  } catch (const program_error& e) {
    return supervisor_.program_fault(e.what());
  }
  if (!t.together) return resume(cycle);
  step_ = step::restored;
  resources_.report(t, cta_phase::ready, cycle);
}

void context_engine::resume(cycle_t cycle) {
  context_transaction& t = *current_;
  t.resumed_cycle = cycle;
  for (std::size_t k = 0; k < cta_slots_.size(); ++k) {
    const resident_block& b = resources_.block(cta_slots_[k]);
    switched_block& record = t.blocks[k];
    record.bytes_restored = record.bytes_saved;
    each_live_warp(b, [&](unsigned warp, unsigned) {
      record.restored_warp_ids.push_back(narrow<std::uint8_t>(warp));
      partition_of(warp).contexts.resume(slot_of(warp), cycle);
    });
    resources_.check_prerequisite(cta_slots_[k], cycle);
  }
  std::vector<std::uint32_t>().swap(image_.words());
  context_ = {};
  step_ = step::idle;
  resources_.report(t, cta_phase::resumed, cycle);
}

void context_engine::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, reinterpret_cast<const unsigned char&>(step_), base + ".step");
  sc_core::sc_trace(file, in_flight_, base + ".lines_in_flight");
  sc_core::sc_trace(file, next_word_, base + ".next_word");
}

}  // namespace heddle
