// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/read_kernel.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "heddle/frontend/sass_trace/replay/machine_addresses.h"
#include "heddle/frontend/sass_trace/replay/prepare_block.h"

namespace heddle::sass_trace {

namespace {

bool may_be_local(const isa::instruction& i) {
  return i.mem_space == isa::space::local || i.mem_space == isa::space::generic;
}

std::shared_ptr<isa::program> program_of(const std::string& file, const kernel_header& h, const code_table& code) {
  auto p = std::make_shared<isa::program>();
  p->kernel = h.name;
  p->file = file;
  p->registers = std::max(1u, h.registers);
  p->shared_bytes = h.shared_bytes;
  for (const code_entry* e : code.ordered()) {
    p->code.push_back(e->instruction);
    p->timing.push_back(e->timing);
    p->flops.push_back(e->flops);
    p->recorded.push_back(e->opcode);
    if (e->instruction.op == isa::opcode::bar) p->barriers = 1;
  }
  isa::instruction last;
  last.op = isa::opcode::exit;
  p->code.push_back(last);
  p->timing.push_back(isa::op_class::branch);
  p->flops.push_back(isa::flop_rule::none);
  p->recorded.emplace_back();  // the added EXIT at the end of a warp, which has no line
  return p;
}

// Collects properties of a kernel while its file is read for the first time.
class survey {
 public:
  survey(trace_kernel& kernel, const kernel_header& h) : kernel_(kernel), header_(h) {}
  void add(const block_trace& part) {
    if (entries_.size() != kernel_.code->size()) entries_ = kernel_.code->ordered();
    executed_.resize(entries_.size());
    for (const trace_record& s : part.records) {
      ++executed_[s.instruction];
      const code_entry& e = *entries_[s.instruction];
      if (e.has_addresses && may_be_local(e.instruction))
        local_bytes = std::max(local_bytes, local_reach(header_, e.instruction, part.addresses, s));
    }
    kernel_.warp_instructions += part.records.size();
    for (const warp_trace& w : part.warps) follow(part, w);
  }
  /// The block is complete.
  void end_block() {
    end_warp();
    kernel_.absent_warps += header_.warps() - block_warps_;
    block_warps_ = 0;
  }
  void count_opcodes() {
    for (std::size_t n = 0; n < executed_.size(); ++n) {
      if (entries_[n]->bulk) kernel_.bulk_copies += executed_[n];
      if (!entries_[n]->known)
        kernel_.unknown[entries_[n]->opcode.substr(0, entries_[n]->opcode.find('.'))] += executed_[n];
    }
  }
  std::uint64_t local_bytes = 0;

 private:
  // Follows a warp, or a part of one: the parts of a warp come in sequence.
  void follow(const block_trace& part, const warp_trace& w) {
    if (!in_warp_ || w.warp != warp_) {
      end_warp();
      in_warp_ = true;
      warp_ = w.warp;
      ++block_warps_;
    }
    for (std::size_t k = w.first; k < w.first + w.count; ++k) {
      const trace_record& s = part.records[k];
      active_after_exit_ = active_after_exit_ || (s.mask & exited_) != 0;
      ended_ = entries_[s.instruction]->instruction.op == isa::opcode::exit;
      if (ended_) exited_ |= s.mask;
    }
  }
  void end_warp() {
    if (in_warp_) {
      kernel_.warps_without_exit += ended_ ? 0 : 1;
      kernel_.warps_after_exit += active_after_exit_ ? 1 : 0;
    }
    in_warp_ = ended_ = active_after_exit_ = false;
    exited_ = 0;
  }

  trace_kernel& kernel_;
  const kernel_header& header_;
  bool in_warp_ = false;
  bool ended_ = false;
  bool active_after_exit_ = false;
  std::uint32_t warp_ = 0;
  std::uint32_t exited_ = 0;  // lanes
  std::uint32_t block_warps_ = 0;
  std::vector<std::uint64_t> executed_;
  std::vector<const code_entry*> entries_;
};

}  // namespace

namespace {

// The program of a run of Heddle is in the trace, so its blocks are read only to be checked.
std::shared_ptr<const trace_kernel> read_own(trace_reader& reader, std::shared_ptr<trace_kernel> k) {
  k->program = reader.program();
  block_trace block;
  const auto count = [&k](const block_trace& part) {
    for (const trace_record& r : part.records) k->warp_instructions += (r.instruction & isa::step::precedes) == 0;
  };
  while (reader.next_block(block, k->store->part_bytes(), count)) count(block);
  k->blocks = reader.blocks();
  if (k->blocks != k->header.blocks())
    throw input_error("'" + k->file + "' has " + std::to_string(k->blocks) + " of the " +
                      std::to_string(k->header.blocks()) + " blocks of kernel '" + k->header.name +
                      "', it is truncated");
  k->code->freeze();
  return k;
}

}  // namespace

std::shared_ptr<const trace_kernel> read_kernel(const std::string& file, bool strict,
                                                const std::shared_ptr<trace_store>& store) {
  trace_reader reader(file);
  auto k = std::make_shared<trace_kernel>();
  k->file = file;
  k->header = reader.header();
  k->code = reader.code();
  k->store = store;
  if (k->header.own) return read_own(reader, k);
  survey found(*k, k->header);
  bool keep = true;
  const std::size_t room = store->kept_room();
  std::vector<std::shared_ptr<block_trace>> kept;
  std::size_t taken = 0;
  auto next = std::make_shared<block_trace>();
  const auto too_much = [&](const block_trace& part) {
    found.add(part);
    keep = false;
  };
  while (reader.next_block(*next, store->part_bytes(), too_much)) {
    found.add(*next);
    found.end_block();
    taken += next->bytes();
    keep = keep && taken <= room;
    if (!keep) {
      kept.clear();
      continue;
    }
    const block_trace::room as_much{next->records.size() + k->header.warps(), next->addresses.size()};
    kept.push_back(std::move(next));
    next = std::make_shared<block_trace>();
    next->reserve(as_much);
  }
  k->blocks = reader.blocks();
  if (k->blocks == 0)  // each block that ran has an EXIT
    throw input_error(file + ": no thread block of kernel '" + k->header.name + "' is in the trace, expected one of " +
                      std::to_string(k->header.blocks()) + ": was it cut off behind its head?");
  found.count_opcodes();
  if (strict && !k->unknown.empty())
    throw input_error(file + ": opcode '" + k->unknown.begin()->first + "' of kernel '" + k->header.name +
                      "' is not known of " + name_of(k->header.generation) + " (binary version " +
                      std::to_string(k->header.binary_version) + ")");
  const std::vector<std::uint32_t> numbers = k->code->freeze();
  auto program = program_of(file, k->header, *k->code);
  program->local_bytes = static_cast<std::uint32_t>((found.local_bytes + 3) / 4 * 4);
  k->program = std::move(program);
  if (!keep) return k;
  k->kept_room = trace_store::keep(store, taken);
  const auto common = std::make_shared<common_addresses>();
  const bool renumbered = !std::is_sorted(numbers.begin(), numbers.end());
  for (const auto& block : kept) {
    if (renumbered)
      for (trace_record& s : block->records) s.instruction = numbers[s.instruction];
    share_addresses(*k, common, *block);
    complete(*k, *block);
    k->kept.push_back(block);
  }
  return k;
}

}  // namespace heddle::sass_trace
