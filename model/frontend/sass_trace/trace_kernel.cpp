// SPDX-License-Identifier: MIT
#include "frontend/sass_trace/trace_kernel.h"

#include <algorithm>

#include "config/error.h"

namespace heddle::sass_trace {

namespace {

constexpr std::uint64_t most_local_bytes = std::uint64_t{1} << 19;   // of a thread, on every chip
constexpr std::uint64_t global_mask = (std::uint64_t{1} << 48) - 1;

bool local_offset(const kernel_header& h, std::uint64_t a, std::uint64_t& offset) {
  if (h.local_base == 0 || a - h.local_base >= isa::window_bytes) return false;
  offset = (a - h.local_base) % most_local_bytes;
  return true;
}

bool may_be_local(const isa::instruction& i) { return i.mem_space == isa::space::local || i.mem_space == isa::space::generic; }

unsigned bytes_of(const isa::instruction& i) { return std::max(1u, isa::size_of(i.type)); }

// Local memory that the step's lanes reach, bytes.
std::uint64_t local_reach(const kernel_header& h, const isa::instruction& i, const block_trace& block, const trace_step& step) {
  std::uint64_t a[32];
  block.addresses.expand(step.addresses, step.mask, a);
  std::uint64_t reach = 0;
  for (std::uint32_t m = step.mask; m != 0; m &= m - 1) {
    const std::uint64_t address = a[__builtin_ctz(m)];
    std::uint64_t offset = 0;
    if (!local_offset(h, address, offset)) {
      if (i.mem_space == isa::space::generic) continue;
      offset = address % most_local_bytes;
    }
    reach = std::max(reach, offset / bytes_of(i) * bytes_of(i) + bytes_of(i));
  }
  return reach;
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
  p->recorded.emplace_back();   // the end of a warp, which no line has
  return p;
}

// Offsets in shared memory are mostly the same in all blocks.
void share_addresses(const trace_kernel& kernel, const std::shared_ptr<common_addresses>& common, block_trace& block) {
  const std::vector<isa::instruction>& code = kernel.program->code;
  block.common = common;
  common_addresses::origin o;
  for (trace_step& s : block.steps) {
    if (s.addresses == 0 || code[s.instruction].mem_space != isa::space::shared || !block.addresses.origin(s.addresses, o.words)) continue;
    o.instruction = s.instruction;
    o.mask = s.mask;
    const common_addresses::number n = common->find_or_add(static_cast<std::size_t>(&s - block.steps.data()), o, [&](isa::lane_addresses& to) {
      machine_addresses(kernel, block, s, to.at);
      for (std::uint32_t m = s.mask; m != 0; m &= m - 1) to.differing_bits |= to.at[__builtin_ctz(m)] ^ to.at[__builtin_ctz(s.mask)];
    });
    if (n != common_addresses::none) s.addresses = n | common_bit;
  }
}

// Puts the warps in order and sees to it that each ends.
void complete(const trace_kernel& kernel, block_trace& block) {
  const std::uint32_t exit = static_cast<std::uint32_t>(kernel.program->code.size() - 1);
  const std::uint32_t warps = kernel.header.warps();
  std::vector<warp_trace> ordered(warps);
  for (const warp_trace& w : block.warps) ordered[w.warp] = w;
  for (std::uint32_t n = 0; n < warps; ++n) {
    warp_trace& w = ordered[n];
    w.warp = n;
    if (w.count != 0) {
      const trace_step& last = block.steps[w.first + w.count - 1];
      if (kernel.program->code[last.instruction].op == isa::opcode::exit) continue;
      // The steps of a warp lie together, so they move to the end to have one more.
      const std::size_t first = block.steps.size();
      block.steps.reserve(first + w.count + 1);
      for (std::size_t k = 0; k < w.count; ++k) block.steps.push_back(block.steps[w.first + k]);
      w.first = first;
    } else {
      w.first = block.steps.size();
    }
    const std::uint32_t threads = std::min(kernel.header.threads() - n * isa::warp_size, isa::warp_size);
    block.steps.push_back({exit, threads == isa::warp_size ? ~std::uint32_t{0} : (1u << threads) - 1, 0});
    ++w.count;
  }
  block.warps = std::move(ordered);
}

}  // namespace

std::shared_ptr<const trace_kernel> read_kernel(const std::string& file, bool strict) {
  std::size_t room = 0;
  return read_kernel(file, strict, room);
}

std::shared_ptr<const trace_kernel> read_kernel(const std::string& file, bool strict, std::size_t& room) {
  trace_reader reader(file);
  auto k = std::make_shared<trace_kernel>();
  k->file = file;
  k->header = reader.header();
  k->code = reader.code();
  std::vector<std::uint64_t> executed;
  std::vector<const code_entry*> entries;
  std::uint64_t local = 0;
  std::vector<std::shared_ptr<block_trace>> kept;
  std::size_t taken = 0;
  auto next = std::make_shared<block_trace>();
  while (reader.next_block(*next)) {
    block_trace& block = *next;
    if (entries.size() != k->code->size()) entries = k->code->ordered();
    executed.resize(entries.size());
    for (const trace_step& s : block.steps) {
      ++executed[s.instruction];
      const code_entry& e = *entries[s.instruction];
      if (e.has_addresses && may_be_local(e.instruction)) local = std::max(local, local_reach(k->header, e.instruction, block, s));
    }
    k->warp_instructions += block.steps.size();
    if (taken > room) continue;
    taken += block.steps.size() * sizeof(trace_step) + block.addresses.bytes();
    if (taken > room) {
      kept.clear();
      continue;
    }
    kept.push_back(std::move(next));
    next = std::make_shared<block_trace>();
    next->reserve({block.steps.size() + k->header.warps(), block.addresses.size()});
  }
  k->blocks = reader.blocks();
  for (std::size_t n = 0; n < executed.size(); ++n)
    if (!entries[n]->known) k->unknown[entries[n]->opcode.substr(0, entries[n]->opcode.find('.'))] += executed[n];
  if (strict && !k->unknown.empty())
    throw input_error(file + ": opcode '" + k->unknown.begin()->first + "' of kernel '" + k->header.name + "' is not known of " +
                      name_of(k->header.generation) + " (binary version " + std::to_string(k->header.binary_version) + ")");
  k->code->freeze();
  auto program = program_of(file, k->header, *k->code);
  program->local_bytes = static_cast<std::uint32_t>((local + 3) / 4 * 4);
  k->program = std::move(program);
  if (taken <= room) room -= taken;
  const auto common = std::make_shared<common_addresses>();
  for (const auto& block : kept) {
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

std::shared_ptr<const block_trace> block_source::next() {
  if (delivered_ < kernel_->kept.size()) return kernel_->kept[delivered_++];
  auto block = std::make_shared<block_trace>();
  block->reserve(last_);
  if (reader_ && !reader_->next_block(*block)) {
    if (reader_->blocks() != kernel_->blocks) throw input_error("'" + kernel_->file + "' was changed while in use");
    reader_.reset();
  }
  last_ = {block->steps.size() + kernel_->header.warps(), block->addresses.size()};
  share_addresses(*kernel_, common_, *block);
  complete(*kernel_, *block);
  return block;
}

namespace {

// Applies f to the address of each lane in the mask.
template <class F>
void for_lanes(std::uint32_t mask, std::uint64_t addresses[32], F f) {
  if (mask == ~std::uint32_t{0}) {
    for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = f(addresses[lane]);
    return;
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    std::uint64_t& a = addresses[__builtin_ctz(m)];
    a = f(a);
  }
}

}  // namespace

void machine_addresses(const trace_kernel& kernel, const block_trace& block, const trace_step& step, std::uint64_t addresses[32]) {
  const isa::instruction& i = kernel.program->code[step.instruction];
  const kernel_header& h = kernel.header;
  const std::uint64_t aligned = ~std::uint64_t{bytes_of(i) - 1u};
  if ((step.addresses & common_bit) != 0) {
    const isa::lane_addresses& common = block.common->at(step.addresses & ~common_bit);
    for (std::uint32_t m = step.mask; m != 0; m &= m - 1) addresses[__builtin_ctz(m)] = common.at[__builtin_ctz(m)];
    return;
  }
  block.addresses.expand(step.addresses, step.mask, addresses);
  const std::uint64_t shared_base = h.shared_base;
  const std::uint64_t local_base = h.local_base;
  // A window whose base is not told is empty.
  const std::uint64_t shared_bytes = shared_base != 0 ? isa::window_bytes : 0;
  const std::uint64_t local_bytes = local_base != 0 ? isa::window_bytes : 0;
  switch (i.mem_space) {
    case isa::space::shared:
      for_lanes(step.mask, addresses, [=](std::uint64_t a) {
        return (a - shared_base < shared_bytes ? a - shared_base : a % isa::window_bytes) & aligned;
      });
      break;
    case isa::space::local:
      for_lanes(step.mask, addresses, [=](std::uint64_t a) {
        return (a - local_base < local_bytes ? a - local_base : a) % most_local_bytes & aligned;
      });
      break;
    case isa::space::generic:
      for_lanes(step.mask, addresses, [=](std::uint64_t a) {
        if (a - shared_base < shared_bytes) return (isa::shared_window_base + (a - shared_base)) & aligned;
        if (a - local_base < local_bytes) return (isa::local_window_base + (a - local_base) % most_local_bytes) & aligned;
        return std::max(a & global_mask, isa::heap_base) & aligned;
      });
      break;
    default:
      for_lanes(step.mask, addresses, [=](std::uint64_t a) { return a & global_mask & aligned; });
      break;
  }
}

namespace {

class replayed_block : public isa::recorded_block {
 public:
  replayed_block(std::shared_ptr<const trace_kernel> kernel, std::shared_ptr<const block_trace> block)
      : kernel_(std::move(kernel)), block_(std::move(block)) {}
  const std::uint32_t* index() const override { return block_->index; }
  isa::recorded_warp warp(std::uint32_t number) const override {
    const warp_trace& w = block_->warps[number];
    const trace_step* first = block_->steps.data() + w.first;
    return {first, first + (w.count - 1)};
  }
  void addresses(const isa::recorded_step& step, std::uint64_t addresses[32]) const override {
    machine_addresses(*kernel_, *block_, step, addresses);
  }
  const isa::lane_addresses* shared_addresses(const isa::recorded_step& step) const override {
    return (step.addresses & common_bit) != 0 ? &block_->common->at(step.addresses & ~common_bit) : nullptr;
  }

 private:
  std::shared_ptr<const trace_kernel> kernel_;
  std::shared_ptr<const block_trace> block_;
};

}  // namespace

std::shared_ptr<const isa::recorded_block> trace_recording::next() {
  if (!source_) source_ = std::make_unique<block_source>(kernel_);
  auto block = std::make_shared<replayed_block>(kernel_, source_->next());
  if (++delivered_ == blocks()) source_.reset();
  return block;
}

}  // namespace heddle::sass_trace
