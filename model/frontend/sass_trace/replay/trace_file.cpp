// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/trace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/read_kernel.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/hash/splitmix64.h"

namespace heddle::sass_trace {

namespace {

isa::program without_code(const isa::program& p) {
  isa::program q;
  q.kernel = p.kernel;
  q.registers = p.registers;
  q.most_registers = p.most_registers;
  q.shared_bytes = p.shared_bytes;
  q.local_bytes = p.local_bytes;
  q.barriers = p.barriers;
  std::copy(std::begin(p.max_threads), std::end(p.max_threads), std::begin(q.max_threads));
  std::copy(std::begin(p.required_threads), std::end(p.required_threads), std::begin(q.required_threads));
  return q;
}

trace_traits traits_of(const trace_kernel& k) {
  const kernel_header& h = k.header;
  trace_traits t;
  t.own = h.own;
  t.binary_version = h.binary_version;
  t.generation = h.generation;
  std::copy(std::begin(h.grid), std::end(h.grid), std::begin(t.grid));
  std::copy(std::begin(h.block), std::end(h.block), std::begin(t.block));
  t.shared_bytes = h.shared_bytes;
  t.carveout = h.carveout;
  t.priority = h.priority;
  t.machine = h.machine;
  t.program = without_code(*k.program);
  return t;
}

std::string text_of(const trace_traits& t) {
  const isa::program& p = t.program;
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}", t.own, t.binary_version, t.shared_bytes, t.carveout,
                                 t.priority, p.registers, p.most_registers, p.shared_bytes, p.local_bytes, p.barriers);
  for (unsigned k = 0; k < 3; ++k)
    text += fmt::format(" {} {} {} {}", t.grid[k], t.block[k], p.max_threads[k], p.required_threads[k]);
  return text + "\n" + t.machine + "\n" + p.kernel;
}

std::unique_ptr<const trace_oddities> oddities_of(const trace_kernel& k) {
  const bool any = k.absent_warps != 0 || k.warps_without_exit != 0 || k.warps_after_exit != 0 || k.bulk_copies != 0 ||
                   !k.unknown.empty() || !k.header.unknown_keys.empty();
  if (!any) return nullptr;
  return std::make_unique<trace_oddities>(trace_oddities{k.absent_warps, k.warps_without_exit, k.warps_after_exit,
                                                         k.bulk_copies, k.unknown, k.header.unknown_keys});
}

}  // namespace

trace_set::trace_set(bool strict, std::shared_ptr<trace_store> store, std::size_t open_bytes)
    : strict_(strict), store_(std::move(store)), room_(open_bytes) {}

std::shared_ptr<const trace_traits> trace_set::shared(const trace_kernel& k) {
  trace_traits t = traits_of(k);
  std::shared_ptr<const trace_traits>& known = traits_[text_of(t)];
  if (!known) known = std::make_shared<const trace_traits>(std::move(t));
  return known;
}

bool trace_set::take(std::size_t bytes) {
  if (bytes > room_) return false;
  room_ -= bytes;
  return true;
}

trace_file::trace_file(std::string file, std::shared_ptr<trace_set> set)
    : file_(std::move(file)), set_(std::move(set)), state_(state_now()) {
  const std::shared_ptr<const trace_kernel> k = read_kernel(file_, set_->strict_, set_->store_);
  traits_ = set_->shared(*k);
  oddities_ = oddities_of(*k);
  blocks_ = k->blocks;
  warp_instructions_ = k->warp_instructions;
  launch_cycle_ = k->header.launch_cycle;
  stream_ = k->header.stream;
  stay_open(k);
}

trace_file::~trace_file() { close(); }

std::uint64_t trace_file::state_now() const {
  struct stat s {};
  if (::stat(file_.c_str(), &s) != 0) return 0;  // reading says why
  std::uint64_t state = 0;
  for (const auto n : {s.st_size, static_cast<off_t>(s.st_mtim.tv_sec), static_cast<off_t>(s.st_mtim.tv_nsec)})
    state = splitmix64::at(state, static_cast<std::uint64_t>(n));
  return state;
}

std::shared_ptr<const trace_kernel> trace_file::read() const {
  const std::uint64_t now = state_now();
  auto k = read_kernel(file_, set_->strict_, set_->store_);
  // Launches of one trace have one program, so that they share it in the instruction caches.
  const std::shared_ptr<const isa::program> before = opened_->program.lock();
  const bool same = now == state_ && k->blocks == blocks_ && k->warp_instructions == warp_instructions_ &&
                    (before == nullptr || before->code.size() == k->program->code.size());
  if (!same) throw input_error("'" + file_ + "' was changed while in use");
  if (before == nullptr) return k;
  auto with_program = std::make_shared<trace_kernel>(*k);
  with_program->program = before;
  return with_program;
}

void trace_file::stay_open(const std::shared_ptr<const trace_kernel>& k) const {
  const std::size_t bytes = k->bytes();
  if (opened_ != nullptr && opened_->stays != nullptr) return;
  if (!set_->take(bytes)) return;
  if (opened_ == nullptr) opened_ = std::make_unique<opened>();
  opened_->bytes = bytes;
  opened_->stays = k;
}

void trace_file::close() const {
  if (opened_ == nullptr || opened_->stays == nullptr) return;
  opened_->stays.reset();
  set_->give_back(opened_->bytes);
}

std::shared_ptr<const trace_kernel> trace_file::open() const {
  if (opened_ == nullptr) opened_ = std::make_unique<opened>();
  std::shared_ptr<const trace_kernel> k = opened_->stays != nullptr ? opened_->stays : opened_->current.lock();
  if (k == nullptr) k = read();
  opened_->current = k;
  opened_->program = k->program;
  if (launches_left_ != 0) --launches_left_;
  if (launches_left_ == 0) close();
  else stay_open(k);
  return k;
}

}  // namespace heddle::sass_trace
