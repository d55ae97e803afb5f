// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/machine_addresses.h"
#include "heddle/frontend/sass_trace/replay/replayed_block.h"
#include "heddle/frontend/sass_trace/replay/spilled_block.h"
#include "heddle/isa/set_bits.h"

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
    p->recorded.push_back(e->opcode);
    if (e->instruction.op == isa::opcode::bar) p->barriers = 1;
  }
  isa::instruction last;
  last.op = isa::opcode::exit;
  p->code.push_back(last);
  p->timing.push_back(isa::op_class::branch);
  p->recorded.emplace_back();  // the added EXIT at the end of a warp, which has no line
  return p;
}

// Replaces addresses in shared memory by common ones: the offsets are mostly equal in all blocks.
void share_addresses(const trace_kernel& kernel, const std::shared_ptr<common_addresses>& common, block_trace& block) {
  const std::vector<isa::instruction>& code = kernel.program->code;
  block.common = common;
  common_addresses::origin o;
  for (trace_record& s : block.records) {
    if (s.addresses == 0 || code[s.instruction].mem_space != isa::space::shared ||
        !block.addresses.origin(s.addresses, o.words))
      continue;
    o.instruction = s.instruction;
    o.mask = s.mask;
    const common_addresses::number n =
        common->find_or_add(static_cast<std::size_t>(&s - block.records.data()), o, [&](isa::lane_addresses& to) {
          machine_addresses(kernel, block.addresses, common.get(), s, to.at);
          for (const unsigned lane : set_bits(s.mask)) to.differing_bits |= to.at[lane] ^ to.at[__builtin_ctz(s.mask)];
        });
    if (n != common_addresses::none) s.addresses = n | common_bit;
  }
}

bool ends(const trace_kernel& kernel, const block_trace& block, const warp_trace& w) {
  return w.count != 0 && kernel.program->code[block.records[w.first + w.count - 1].instruction].op == isa::opcode::exit;
}

// Bytes that complete() will add.
std::size_t added_bytes(const trace_kernel& kernel, const block_trace& block) {
  std::size_t records = kernel.header.warps() - block.warps.size();
  for (const warp_trace& w : block.warps)
    if (!ends(kernel, block, w)) records += w.count + 1;
  return records * sizeof(trace_record);
}

// Orders the warps and adds a missing EXIT to each.
void complete(const trace_kernel& kernel, block_trace& block) {
  const std::uint32_t warps = kernel.header.warps();
  std::vector<warp_trace> ordered(warps);
  for (const warp_trace& w : block.warps) ordered[w.warp] = w;
  for (std::uint32_t n = 0; n < warps; ++n) {
    warp_trace& w = ordered[n];
    w.warp = n;
    if (ends(kernel, block, w)) continue;
    // The records of a warp are contiguous, so they move to the end of the list to gain one.
    const std::size_t first = block.records.size();
    block.records.reserve(first + w.count + 1);
    for (std::size_t k = 0; k < w.count; ++k) block.records.push_back(block.records[w.first + k]);
    w.first = first;
    block.records.push_back(kernel.end_of(n));
    ++w.count;
  }
  block.warps = std::move(ordered);
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
  void count_unknown() {
    for (std::size_t n = 0; n < executed_.size(); ++n)
      if (!entries_[n]->known)
        kernel_.unknown[entries_[n]->opcode.substr(0, entries_[n]->opcode.find('.'))] += executed_[n];
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
      revived_ = revived_ || (s.mask & exited_) != 0;
      ended_ = entries_[s.instruction]->instruction.op == isa::opcode::exit;
      if (ended_) exited_ |= s.mask;
    }
  }
  void end_warp() {
    if (in_warp_) {
      kernel_.unended_warps += ended_ ? 0 : 1;
      kernel_.revived_warps += revived_ ? 1 : 0;
    }
    in_warp_ = ended_ = revived_ = false;
    exited_ = 0;
  }

  trace_kernel& kernel_;
  const kernel_header& header_;
  bool in_warp_ = false;
  bool ended_ = false;
  bool revived_ = false;
  std::uint32_t warp_ = 0;
  std::uint32_t exited_ = 0;  // lanes
  std::uint32_t block_warps_ = 0;
  std::vector<std::uint64_t> executed_;
  std::vector<const code_entry*> entries_;
};

}  // namespace

trace_record trace_kernel::end_of(std::uint32_t warp) const {
  const std::uint32_t threads = std::min(header.threads() - warp * isa::warp_size, isa::warp_size);
  return {static_cast<std::uint32_t>(program->code.size() - 1),
          threads == isa::warp_size ? ~std::uint32_t{0} : (1u << threads) - 1, 0};
}

std::shared_ptr<const trace_kernel> read_kernel(const std::string& file, bool strict,
                                                const std::shared_ptr<trace_store>& store) {
  trace_reader reader(file);
  auto k = std::make_shared<trace_kernel>();
  k->file = file;
  k->header = reader.header();
  k->code = reader.code();
  k->store = store;
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
  found.count_unknown();
  if (strict && !k->unknown.empty())
    throw input_error(file + ": opcode '" + k->unknown.begin()->first + "' of kernel '" + k->header.name +
                      "' is not known of " + name_of(k->header.generation) + " (binary version " +
                      std::to_string(k->header.binary_version) + ")");
  const std::vector<std::uint32_t> numbers = k->code->freeze();
  auto program = program_of(file, k->header, *k->code);
  program->local_bytes = static_cast<std::uint32_t>((found.local_bytes + 3) / 4 * 4);
  k->program = std::move(program);
  if (!keep) return k;
  store->keep(taken);
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

block_source::block_source(std::shared_ptr<const trace_kernel> kernel)
    : kernel_(std::move(kernel)), common_(std::make_shared<common_addresses>()) {
  if (kernel_->kept.empty()) reader_ = std::make_unique<trace_reader>(kernel_->file, kernel_->code);
}

std::shared_ptr<const isa::recorded_block> block_source::next() {
  if (delivered_ < kernel_->kept.size())
    return std::make_shared<replayed_block>(kernel_, kernel_->kept[delivered_++], 0);
  auto block = std::make_shared<block_trace>();
  block->reserve(last_);
  std::shared_ptr<spilled_block> spilled;
  const auto spill = [&](block_trace& part) {
    if (!spilled) spilled = std::make_shared<spilled_block>(kernel_);
    share_addresses(*kernel_, common_, part);
    spilled->append(part);
  };
  try {
    if (reader_ && !reader_->next_block(*block, kernel_->store->part_bytes(), spill)) {
      if (reader_->blocks() != kernel_->blocks) throw input_error("'" + kernel_->file + "' was changed while in use");
      reader_.reset();
    }
  } catch (const input_error& e) {
    throw input_error(std::string(e.what()) + ", while kernel '" + kernel_->header.name + "' was running");
  }
  last_ = {block->records.size() + kernel_->header.warps(), block->addresses.size()};
  const std::size_t bytes = block->bytes() + added_bytes(*kernel_, *block);
  if (spilled || !kernel_->store->take(bytes)) {
    spill(*block);
    spilled->complete();
    return spilled;
  }
  share_addresses(*kernel_, common_, *block);
  complete(*kernel_, *block);
  return std::make_shared<replayed_block>(kernel_, std::move(block), bytes);
}

std::shared_ptr<const isa::recorded_block> trace_recording::next() {
  if (!source_) source_ = std::make_unique<block_source>(kernel_);
  auto block = source_->next();
  if (++delivered_ == blocks()) source_.reset();
  return block;
}

}  // namespace heddle::sass_trace
