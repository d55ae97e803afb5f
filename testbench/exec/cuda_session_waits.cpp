// SPDX-License-Identifier: MIT
// Host functions of the program, what the program waits for, and memory that it shares with kernels and children.
#include <algorithm>
#include <cstring>

#include "testbench/exec/connection.h"
#include "testbench/exec/cuda_session.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

namespace {
constexpr std::size_t exchanged_bytes = std::size_t{1} << 20;
}  // namespace

void cuda_session::add_host_function(wire::reader& in, call_answer& out) {
  const std::uint32_t stream = stream_of(in.get<std::uint32_t>(), out);
  const auto number = in.get<std::uint64_t>();
  if (out.status != wire::success) return;
  auto op = std::make_shared<queue_operation>();
  op->what = queue_operation::kind::host_function;
  op->stream = stream;
  host_functions_[number] = op;
  append(op);
}

void cuda_session::end_host_function(wire::reader& in, call_answer& out) {
  const auto found = host_functions_.find(in.get<std::uint64_t>());
  if (found == host_functions_.end()) {
    out.status = wire::invalid_value;
    return;
  }
  const queue_entry op = found->second;
  host_functions_.erase(found);
  m_.queues.finish(op);
}

bool cuda_session::take_host_function(call_answer& out) {
  for (const auto& [number, op] : host_functions_) {
    if (!op->begun || op->passed_on) continue;
    op->passed_on = true;
    m_.queues.host_waits(*op);
    return_memory();
    out.body.put(number);
    return true;
  }
  if (host_functions_.empty()) out.body.put(std::uint64_t{0});
  return host_functions_.empty();
}

bool cuda_session::runs_host_function() const {
  return std::any_of(host_functions_.begin(), host_functions_.end(), [](const auto& f) { return f.second->passed_on; });
}

std::vector<queue_entry> cuda_session::pending(wire::wait_kind kind, std::uint32_t number, call_answer& out) const {
  std::vector<queue_entry> until;
  if (kind == wire::wait_kind::device) return work();
  if (kind == wire::wait_kind::stream) {
    const std::uint32_t stream = stream_of(number, out);
    if (out.status == wire::success)
      if (queue_entry last = m_.queues.last_of(stream)) until.push_back(last);
    return until;
  }
  const auto event = events_.find(number);
  if (event == events_.end()) {
    out.status = wire::invalid_handle;
  } else if (event->second.recorded && !event->second.recorded->done) {
    until.push_back(event->second.recorded);
  }
  return until;
}

std::pair<const std::uint64_t, cuda_session::host_memory>* cuda_session::host_at(std::uint64_t address) {
  auto h = host_memory_.upper_bound(address);
  if (h == host_memory_.begin()) return nullptr;
  --h;
  return address - h->first < h->second.bytes ? &*h : nullptr;
}

void cuda_session::use_pinned(std::uint64_t address, host_memory& h) {
  if (h.used) return;
  if (allocations_.count(address) == 0) m_.chip.driver().map(address, h.bytes);
  h.used = true;
  --unused_;
  if (!h.inherited && !h.in_place) compared_.insert(address);
}

// A kernel that receives an address of pinned memory may access that memory.
void cuda_session::use_pinned(const std::vector<std::uint8_t>& parameters) {
  if (unused_ == 0) return;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= parameters.size(); ++at) {  // structures may be packed
    std::uint64_t word = 0;
    std::memcpy(&word, parameters.data() + at, sizeof word);
    if (auto* const h = host_at(word); h != nullptr) use_pinned(h->first, h->second);
  }
}

// The managed variables of a module that has just been loaded, which is not running yet. The program maps the file.
wire::status cuda_session::share_variables(std::uint64_t address, std::uint64_t bytes, int file) {
  constexpr std::uint64_t page = 4096;  // kernels may access the rest of the last one, as of other variables
  const auto known = managed_.find(address);
  if (known == managed_.end() || bytes % wire::shared_unit != 0 || bytes < known->second ||
      host_memory_.count(address) != 0)
    return wire::invalid_value;
  std::unique_ptr<shared_memory> memory = shared_memory::open(process_, file, bytes);
  if (!memory) return wire::out_of_memory;
  host_driver& driver = m_.chip.driver();
  driver.read(address, memory->data(), bytes);
  m_.in_place.add(address, bytes, memory->data());
  driver.unmap(address);  // functional execution forgets what it has of them
  driver.map(address, (known->second + page - 1) / page * page);
  host_memory& h = host_memory_[address];
  h.bytes = bytes;
  h.managed = h.used = h.in_place = true;
  variables_[address] = std::move(memory);
  return wire::success;
}

bool cuda_session::awaits_exchange(connection& link) {
  exchanges_pages_ = exchanges_pages_ && link.wait();
  return exchanges_pages_;
}

// Pages of the program that contain registered memory. Memory of which the GPU has a copy must not lie in their units.
wire::status cuda_session::share_pages(std::uint64_t address, std::uint64_t bytes, int file) {
  constexpr std::uint64_t unit = wire::shared_unit;
  const std::uint64_t first = address / unit * unit, end = (address + bytes + unit - 1) / unit * unit;
  for (const auto& [at, h] : host_memory_)
    if (!h.in_place && h.used && at < end && at + h.bytes > first) return wire::not_supported;
  if (!m_.pages.add(process_, file, address, bytes)) return wire::not_supported;
  pages_[address] = bytes;
  return wire::success;
}

// Parts of such runs can end before the others.
void cuda_session::end_pages(std::uint64_t address, std::uint64_t bytes) {
  m_.pages.remove(address, bytes);
  const auto run = pages_.upper_bound(address);
  if (run == pages_.begin()) return;
  const auto [begin, size] = *std::prev(run);
  pages_.erase(begin);
  if (begin < address) pages_[begin] = address - begin;
  if (address + bytes < begin + size) pages_[address + bytes] = begin + size - address - bytes;
}

// Of memory that the program has registered.
void cuda_session::end_sharing(std::uint64_t address, const host_memory& h) {
  if (h.inherited || allocations_.count(address) != 0) return;
  if (variables_.count(address) != 0) {
    m_.chip.driver().unmap(address);
    m_.in_place.remove(address);
    return;
  }
  if (h.used) m_.chip.driver().unmap(address);
  m_.memory.unshare(address);
}

void cuda_session::inherit(cuda_session& parent) {
  parent.has_children_ = true;
  modules_ = parent.modules_;
  targets_ = parent.targets_;
  constant_bytes_ = parent.constant_bytes_;
  functions_ = parent.functions_;
  events_ = parent.events_;
  next_event_ = parent.next_event_;
  default_stream_ = parent.default_stream_;
  family_ = parent.family_;
  family_->insert(process_);
  inherited_streams_ = parent.inherited_streams_;
  inherited_streams_.insert(parent.streams_.begin(), parent.streams_.end());
  host_memory_ = parent.host_memory_;
  unused_ = parent.unused_;
  for (auto& [address, h] : host_memory_) h.inherited = true;
  memory_is_away_ = parent.memory_is_away_;
}

bool cuda_session::shares_memory(bool in_place) const {
  if (!in_place && !compared_.empty()) return true;
  return std::any_of(host_memory_.begin(), host_memory_.end(), [](const auto& h) { return h.second.in_place; });
}

// Gives what the program may have written in memory shared with kernels to the GPU before the next kernel.
void cuda_session::take_memory() {
  for (const std::uint64_t address : compared_) {
    host_memory& h = host_memory_[address];
    exchange(address, h, 0, h.bytes, false);
    memory_is_away_ = true;
  }
}

void cuda_session::return_memory() {
  if (!memory_is_away_) return;
  exchange_shared();
  memory_is_away_ = !work().empty();
}

void cuda_session::exchange_shared() {
  if (!memory_is_away_) return;
  for (const std::uint64_t address : compared_) {
    host_memory& h = host_memory_[address];
    exchange(address, h, 0, h.bytes, true);
  }
}

void cuda_session::exchange(std::uint64_t address, std::uint64_t bytes) {
  auto* const h = host_at(address);
  if (h == nullptr || compared_.count(h->first) == 0) return;
  const std::uint64_t from = address - h->first;
  exchange(h->first, h->second, from, std::min(bytes, h->second.bytes - from), true);
}

namespace {

// The first byte from `at` on in which they differ; the size: none.
std::size_t difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, std::size_t at) {
  constexpr std::size_t block = 64;
  while (at + block <= a.size() && std::memcmp(&a[at], &b[at], block) == 0) at += block;
  while (at < a.size() && a[at] == b[at]) ++at;
  return at;
}

// The bytes in which `now` differs from `was`.
std::vector<remote_memory::run> changes(const std::vector<std::uint8_t>& was, const std::vector<std::uint8_t>& now) {
  std::vector<remote_memory::run> all;
  for (std::size_t end = 0;;) {
    const std::size_t at = difference(was, now, end);
    if (at == now.size()) return all;
    for (end = at; end < now.size() && was[end] != now[end];) ++end;
    all.push_back({at, end - at});
  }
}

}  // namespace

// The program and the GPU have a copy each of memory that both use. What either has written since the two
// were the same goes to the other one, byte by byte: where both have written, what the program has. Without `from_gpu`
// only what the program has written.
void cuda_session::exchange(std::uint64_t address, host_memory& h, std::uint64_t from, std::uint64_t bytes,
                            bool from_gpu) {
  host_driver& driver = m_.chip.driver();
  const bool is_new = h.same.empty();
  if (is_new) h.same.resize(h.bytes), from = 0, bytes = h.bytes;
  std::vector<std::uint8_t> own, gpu, both;
  for (std::uint64_t done = from; done < from + bytes; done += own.size()) {
    const std::size_t size = std::min<std::uint64_t>(exchanged_bytes, from + bytes - done);
    own.resize(size);
    if (!program_memory_.read(address + done, own.data(), size)) return;  // the program has unmapped it
    std::uint8_t* const same = h.same.data() + done;
    const auto to_gpu = [&](const std::vector<std::uint8_t>& has) {
      for (const auto& [at, n] : changes(has, both)) driver.write(address + done + at, both.data() + at, n);
    };
    if (is_new) {
      both = own;
      driver.write(address + done, both.data(), size);
    } else if (from_gpu) {
      gpu.resize(size);
      driver.read(address + done, gpu.data(), size);
      if (std::memcmp(own.data(), same, size) == 0 && own == gpu) continue;
      both = gpu;
      for (std::size_t i = 0; i < size; ++i)
        if (own[i] != same[i]) both[i] = own[i];
      to_gpu(gpu);
      if (!program_memory_.write(address + done, both.data(), changes(own, both))) return;
    } else {
      if (std::memcmp(own.data(), same, size) == 0) continue;
      both = own;
      gpu.assign(same, same + size);
      to_gpu(gpu);
    }
    std::copy(both.begin(), both.end(), same);
  }
}

// Registered memory of the program is not.
bool cuda_session::is_on_device(std::uint64_t address) {
  const auto* const h = host_at(address);
  return h == nullptr || h->second.in_place;
}

std::uint64_t cuda_session::word_at(std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t word = 0;
  exchange(address, bytes);
  if (is_on_device(address)) {
    m_.chip.driver().read(address, &word, bytes);
  } else {
    program_memory_.read(address, &word, bytes);
  }
  return word;
}

void cuda_session::set_word(std::uint64_t address, std::uint64_t word, std::uint32_t bytes) {
  exchange(address, bytes);
  if (is_on_device(address)) {
    m_.chip.driver().write(address, &word, bytes);
  } else {
    static_cast<void>(program_memory_.write(address, &word, bytes));  // the program may have unmapped it
  }
  exchange(address, bytes);
}

void cuda_session::memory_value(wire::reader& in, call_answer& out) {
  const auto r = in.get<wire::value_request>();
  const std::uint32_t stream = stream_of(r.stream, out);
  if (r.bytes != 4 && r.bytes != 8) out.status = wire::invalid_value;
  if (out.status != wire::success) return;
  auto op = std::make_shared<queue_operation>();
  op->stream = stream;
  if (r.what == wire::value_operation::write) {
    op->act = [this, r] { set_word(r.address, r.value, r.bytes); };
  } else {
    op->due = [this, r] {
      const std::uint64_t all = r.bytes == 4 ? 0xffffffffu : ~std::uint64_t{0};
      const std::uint64_t word = word_at(r.address, r.bytes), value = r.value & all;
      switch (r.what) {  // the first one is cyclic
        case wire::value_operation::at_least: return ((word - value) & all) <= all / 2;
        case wire::value_operation::equal: return word == value;
        case wire::value_operation::any_bit: return (word & value) != 0;
        default: return (~(word | value) & all) != 0;
      }
    };
  }
  append(op);
}

// The program comes to know that this has ended.
void cuda_session::learn(wire::wait_kind kind, std::uint32_t number) {
  if (kind == wire::wait_kind::device) return m_.queues.host_waits();
  if (kind == wire::wait_kind::stream) return m_.queues.host_waits(number == 0 ? *default_stream_ : number);
  const auto event = events_.find(number);
  if (event != events_.end() && event->second.recorded) m_.queues.host_waits(*event->second.recorded);
}

// A GPU's driver would have been stopped by the processor: the program has no such memory.
void cuda_session::note_failed_copy(call_answer& out) {
  if (!copy_failed_) return;
  copy_failed_ = false;
  if (!is_running(process_)) return;
  message_log::error(program_ + ": a copy is from or to memory of the host that the program does not have");
  out.status = wire::invalid_value;
}

void cuda_session::wait(wire::reader& in, call_answer& out) {
  const auto kind = in.get<wire::wait_kind>();
  const auto number = in.get<std::uint32_t>();
  out.until = pending(kind, number, out);
  if (out.status == wire::success) learn(kind, number);
  out.then = [this](call_answer& a) {
    return_memory();
    note_failed_copy(a);
  };
}

// A program that polls must let simulated time advance.
void cuda_session::query(wire::reader& in, call_answer& out) {
  const auto kind = in.get<wire::wait_kind>();
  const auto number = in.get<std::uint32_t>();
  const std::vector<queue_entry> left = pending(kind, number, out);
  if (out.status != wire::success) return;
  if (std::all_of(left.begin(), left.end(), [](const queue_entry& op) { return op->done; })) {
    learn(kind, number);
    return_memory();
    note_failed_copy(out);
  } else {
    out.status = wire::not_ready;
  }
}

}  // namespace heddle::testbench
