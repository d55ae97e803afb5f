// SPDX-License-Identifier: MIT
#include "heddle/observe/pipeline_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "heddle/isa/set_bits.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/observe/code_line.h"
#include "heddle/observe/module_scope.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

constexpr unsigned pipeline = kanata_writer::pipeline_lane;
constexpr unsigned stalls = kanata_writer::stall_lane;

// States in which a warp is held by its last issued instruction.
bool is_held(partition_signals::state s) {
  for (const warp_stall h : {warp_stall::barrier, warp_stall::membar, warp_stall::sleeping, warp_stall::drain})
    if (s == partition_signals::state_of(h)) return true;
  return false;
}

const memory_operation* operation_of(const lsu_transaction& t) { return t.operation; }

}  // namespace

pipeline_view::pipeline_view(gpu& g, const std::string& path, const std::string& scope, cycle_t first, cycle_t last)
    : gpu_(g), writer_(path), first_(first), last_(last) {
  find_partitions(scope, first, last);
  // Registered after the sub-partitions' signals, which it reads.
  g.core_clock().observe(*this);
}

void pipeline_view::find_partitions(const std::string& scope, cycle_t first, cycle_t last) {
  const auto wanted = units_in_scope(gpu_, scope);
  watched_.assign(gpu_.sm_count(), false);
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) {
    sm& s = gpu_.sm_at(i);
    for (sub_partition& p : s.partitions) {
      const auto is_p = [&p](const unit_in_scope& u) { return u.module == &p; };
      if (std::none_of(wanted.begin(), wanted.end(), is_p)) continue;
      auto t = std::make_unique<partition_track>();
      t->view = this;
      t->partition = &p;
      t->signals = &p.watch(first, last);
      t->sm = i;
      t->index = p.index();
      t->warps.resize(p.slots());
      p.memory.observe(t.get());
      partitions_.push_back(std::move(t));
      watched_[i] = true;
    }
    if (watched_[i]) s.l1.observe(this);
  }
  if (partitions_.empty())
    throw input_error("--trace-scope: '" + scope +
                      "' holds no sub-partition, which --pipeline shows, expected for instance gpu.sm0*");
  for (unsigned i = 0; i < gpu_.slice_count(); ++i)
    if (const auto* slice = dynamic_cast<const l2_slice*>(&gpu_.slice_at(i))) slice->observe(this);
}

pipeline_view::~pipeline_view() { stop(); }

void pipeline_view::stop() {
  if (stopped_) return;
  stopped_ = true;
  gpu_.core_clock().ignore(*this);
  for (const auto& p : partitions_) {
    p->partition->memory.observe(nullptr);
    gpu_.sm_at(p->sm).l1.observe(nullptr);
  }
  for (unsigned i = 0; i < gpu_.slice_count(); ++i)
    if (const auto* slice = dynamic_cast<const l2_slice*>(&gpu_.slice_at(i))) slice->observe(nullptr);
}

void pipeline_view::after_cycle() {
  const cycle_t cycle = gpu_.cycle();
  if (cycle < first_ || cycle >= last_) return;
  now_ = cycle;
  writer_.advance(cycle);
  for (const auto& p : partitions_)
    for (unsigned slot = 0; slot < p->warps.size(); ++slot) follow(*p, slot);
}

// Records what the warp in a slot did in this cycle.
void pipeline_view::follow(partition_track& p, unsigned slot) {
  warp_track& w = p.warps[slot];
  const partition_signals::state state = p.signals->states[slot];
  if (state == partition_signals::no_warp) {
    if (w.here) leave(w);
    return;
  }
  w.here = true;
  const unsigned per_warp = static_cast<unsigned>(gpu_.config().sm.sub_partitions);
  if (p.signals->issued != 0 && p.signals->slots[0].warp / per_warp == slot) issue(p, slot);
  else wait(p, slot, state);
}

// The warp has left the slot: its next instruction will not issue.
void pipeline_view::leave(warp_track& w) {
  if (w.head != none) writer_.retire(w.head, true);
  w.head = none;
  release(w);
  w.writer.fill(0);
  w.here = false;
}

// The instruction that held the warp is complete.
void pipeline_view::release(warp_track& w) {
  if (w.held_by != none) writer_.retire(w.held_by, false);
  w.held_by = none;
}

void pipeline_view::wait(partition_track& p, unsigned slot, partition_signals::state state) {
  warp_track& w = p.warps[slot];
  const char* reason = partition_signals::name_of(state);
  if (w.held_by != none && is_held(state)) {
    writer_.begin(w.held_by, stalls, reason);
    return;
  }
  // A replay of an issued instruction: the next one is not recorded yet.
  if (state == partition_signals::state_of(warp_stall::selected)) return;
  release(w);
  if (is_held(state)) return;
  const partition_signals::warp_place at = p.signals->at(slot);
  const std::uint32_t pc = at.pc;
  if (pc >= at.program->code.size()) return;  // the warp is being restored, and its pc is not known yet
  if (w.head != none && w.head_pc != pc) {
    writer_.retire(w.head, true);
    w.head = none;
  }
  if (w.head == none) {
    w.head = open(p, slot, pc);
    w.head_pc = pc;
  }
  const bool fetching = state == partition_signals::state_of(warp_stall::no_instruction) ||
                        state == partition_signals::state_of(warp_stall::branch_resolving);
  writer_.begin(w.head, pipeline, fetching ? "F" : "Ib");
  writer_.begin(w.head, stalls, reason);
}

pipeline_view::id_t pipeline_view::open(partition_track& p, unsigned slot, std::uint32_t pc) {
  warp_track& w = p.warps[slot];
  const partition_signals::warp_place at = p.signals->at(slot);
  const decoded_instruction& d = at.program->code[pc];
  const gpu_config& c = gpu_.config();
  const unsigned warp = slot * c.sm.sub_partitions + p.index;
  const auto& b = at.block->index;
  const std::string label = fmt::format("sm{} w{:02} {:4}: {}", p.sm, warp, pc, text_of(*at.program, pc));
  const isa::program& program = *at.program->program;
  const std::string place = line_text(program, d.instruction->line);
  const std::string ptx = at.recorded ? " of " + program.file
                          : program.source == nullptr || program.source->at(d.instruction->line) == nullptr
                              ? ""
                              : fmt::format(" ({}:{})", program.file, d.instruction->line);
  const std::string details =
      fmt::format("{}, {}{}, block ({},{},{}) warp {}", program.kernel, place, ptx, b.x, b.y, b.z, at.warp_in_block);
  const id_t id = writer_.open(w.instructions++, p.sm * c.sm.max_warps + warp, label, details);
  arrows(w, d, id);
  return id;
}

const std::string& pipeline_view::text_of(const decoded_program& program, std::uint32_t pc) {
  std::vector<std::string>& texts = texts_[&program];
  if (texts.empty()) texts.resize(program.code.size());
  if (texts[pc].empty()) texts[pc] = isa::text_of(*program.program, pc);
  return texts[pc];
}

// Draws dependences on producers that are still in flight.
void pipeline_view::arrows(warp_track& w, const decoded_instruction& d, id_t id) {
  std::array<id_t, 32> drawn{};
  unsigned count = 0;
  const auto draw = [&](id_t writer) {
    if (writer == 0 || !writer_.is_open(writer - 1)) return;
    if (std::find(drawn.begin(), drawn.begin() + count, writer) != drawn.begin() + count || count == drawn.size())
      return;
    drawn[count++] = writer;
    writer_.depends(id, writer - 1);
  };
  for (const isa::operand& o : d.instruction->src)
    if (o.is_reg())
      for (unsigned k = 0; k < o.count; ++k) draw(w.writer[(o.reg + k) % registers]);
  for (const unsigned predicate : set_bits(d.predicates)) draw(w.writer[registers + predicate]);
}

void pipeline_view::note_results(warp_track& w, const isa::instruction& i, id_t id) {
  if (i.dst != isa::rz)
    for (unsigned k = 0; k < i.dst_count; ++k) w.writer[(i.dst + k) % registers] = id + 1;
  for (const auto p : i.pdst)
    if (p != isa::pt && p < predicates) w.writer[registers + p] = id + 1;
}

void pipeline_view::issue(partition_track& p, unsigned slot) {
  warp_track& w = p.warps[slot];
  release(w);
  for (unsigned k = 0; k < p.signals->issued; ++k) {
    const std::uint32_t pc = p.signals->slots[k].pc;
    id_t id = w.head;
    if (id != none && w.head_pc != pc) {
      writer_.retire(id, true);
      id = none;
    }
    if (id == none) id = open(p, slot, pc);
    w.head = none;
    writer_.end(id, stalls);
    writer_.begin(id, pipeline, "Is");
    issue_one(p, slot, id, pc);
  }
  w.memory = nullptr;
}

void pipeline_view::issue_one(partition_track& p, unsigned slot, id_t id, std::uint32_t pc) {
  warp_track& w = p.warps[slot];
  const decoded_instruction& d = p.signals->at(slot).program->code[pc];
  switch (d.kind) {
    case issue_kind::arithmetic:
      note_results(w, *d.instruction, id);
      arithmetic(id, d, d.bank_conflicts != 0 ? p.partition->register_file.conflict_cycles : 0);
      break;
    case issue_kind::memory:
      note_results(w, *d.instruction, id);
      if (w.memory != nullptr && w.memory_pc == pc && w.memory_at == now_) {
        flights_[w.memory] = {id, depth::queue};
        writer_.begin_at(now_ + 1, id, "Lq");
      } else {
        writer_.retire_at(now_ + 1, id);  // no lane is active
      }
      break;
    case issue_kind::branch:
      writer_.begin_at(now_ + 1, id, "Ex");
      writer_.retire_at(now_ + std::max<cycle_t>(d.latency_cycles, 1), id);
      break;
    default:
      // Their duration is known when the warp continues.
      note_results(w, *d.instruction, id);
      writer_.begin_at(now_ + 1, id, "Ex");
      w.held_by = id;
  }
}

// Issue, operands, execution, write-back: the first of `latency_cycles` is the issue, the last one the write-back.
void pipeline_view::arithmetic(id_t id, const decoded_instruction& d, unsigned conflicts) {
  const cycle_t ready = now_ + std::max<cycle_t>(d.latency_cycles + conflicts, 1);
  const isa::instruction& i = *d.instruction;
  const bool writes = (i.dst != isa::rz && i.dst_count != 0) || d.written_predicates != 0;
  const cycle_t write = writes ? std::max(ready - 1, now_ + 1) : ready;
  const cycle_t execute = now_ + 2 + conflicts;
  if (now_ + 1 < write) writer_.begin_at(now_ + 1, id, "Op");
  if (execute < write) writer_.begin_at(execute, id, "Ex");
  if (writes && write < ready) writer_.begin_at(write, id, "Wb");
  writer_.retire_at(ready, id);
}

void pipeline_view::partition_track::memory_issued(unsigned slot, std::uint32_t pc, const memory_operation& operation) {
  warps[slot].memory = &operation;
  warps[slot].memory_pc = pc;
  warps[slot].memory_at = view->gpu_.cycle();
}

void pipeline_view::partition_track::memory_taken(const memory_operation& operation, const lsu_transaction& t) {
  const auto f = view->flights_.find(&operation);
  if (f == view->flights_.end()) return;
  const char* stage = t.kind == lsu_kind::constant_load ? "Cc"
                      : t.cluster_mask != 0             ? "Ds"
                      : t.global_mask == 0              ? "Sh"
                                                        : "L1";
  // A copy to shared memory goes there when its data have come.
  if (operation.consists_of == memory_operation::parts::copy && t.kind == lsu_kind::store)
    return view->writer_.begin_at(view->gpu_.cycle(), f->second.id, stage);
  view->advance(f->second, depth::l1, stage, view->gpu_.cycle());
}

void pipeline_view::partition_track::memory_done(const memory_operation& operation, cycle_t written) {
  const auto f = view->flights_.find(&operation);
  if (f == view->flights_.end()) return;
  const cycle_t cycle = view->gpu_.cycle();
  const id_t id = f->second.id;
  view->flights_.erase(f);
  const isa::instruction& i = *operation.first.decoded->instruction;
  if (i.dst == isa::rz || i.dst_count == 0) {
    view->writer_.retire_at(cycle, id);
    return;
  }
  const cycle_t write = std::max(written, cycle);
  view->writer_.begin_at(write, id, "Wb");
  view->writer_.retire_at(write + 1, id);
}

void pipeline_view::advance(flight& f, depth to, const char* stage, cycle_t cycle) {
  if (f.at >= to) return;
  f.at = to;
  writer_.begin_at(cycle, f.id, stage);
}

void pipeline_view::advance(const lsu_transaction& transaction, depth to) {
  const auto f = flights_.find(operation_of(transaction));
  if (f == flights_.end()) return;
  // The memory system has other clocks: what happens between two core cycles is shown in the later one.
  advance(f->second, to, to == depth::l2 ? "L2" : "Dr", std::max(now_ + 1, gpu_.cycle()));
}

// The look-up takes one cycle.
void pipeline_view::left_l1(const lsu_transaction& transaction) {
  const auto f = flights_.find(operation_of(transaction));
  if (f != flights_.end()) advance(f->second, depth::interconnect, "Ic", gpu_.cycle() + 1);
}

void pipeline_view::reached_l2(const gpu_request& request) {
  if (request.sm < watched_.size() && watched_[request.sm])
    gpu_.sm_at(request.sm).l1.each_waiting(request.token, [&](const lsu_transaction& t) { advance(t, depth::l2); });
}

void pipeline_view::reached_memory(const gpu_request& request) {
  if (request.sm < watched_.size() && watched_[request.sm])
    gpu_.sm_at(request.sm).l1.each_waiting(request.token, [&](const lsu_transaction& t) { advance(t, depth::dram); });
}

void pipeline_view::close(const std::string& mark) {
  stop();
  // Completes events between the last sampled cycle and now.
  writer_.advance(std::max(now_, std::min(gpu_.cycle(), last_)));
  if (!mark.empty()) {
    const auto id = writer_.open(0, 0, mark, "");
    writer_.begin(id, kanata_writer::pipeline_lane, "Cut");
    writer_.retire(id, true);
  }
  writer_.close();
}

}  // namespace heddle
