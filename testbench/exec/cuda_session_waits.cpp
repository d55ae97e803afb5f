// SPDX-License-Identifier: MIT
// Host functions of the program, what the program waits for, and memory that it shares with kernels and children.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "testbench/exec/cuda_session.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

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
    if (!op->begun || op->passed_on || op->done) continue;
    op->passed_on = true;
    op->passed_on_at = std::chrono::steady_clock::now();
    m_.queues.host_waits(*op);
    out.body.put(number);
    return true;
  }
  if (host_functions_.empty()) out.body.put(std::uint64_t{0});
  return host_functions_.empty();
}

bool cuda_session::runs_host_function(double seconds) const {
  const auto before = std::chrono::steady_clock::now() - std::chrono::duration<double>(seconds);
  return std::any_of(host_functions_.begin(), host_functions_.end(), [&](const auto& f) {
    return f.second->passed_on && !f.second->done && f.second->passed_on_at <= before;
  });
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
  h.managed = h.in_place = true;
  variables_[address] = std::move(memory);
  return wire::success;
}

// Of memory that the program has registered.
void cuda_session::end_sharing(std::uint64_t address, const host_memory& h) {
  if (h.inherited || allocations_.count(address) != 0) return;
  if (variables_.count(address) != 0) {
    m_.chip.driver().unmap(address);
    m_.in_place.remove(address);
    return;
  }
  m_.chip.driver().unmap(address);
  m_.in_place.remove(address);
  m_.memory.unshare(address);
}

void cuda_session::inherit(cuda_session& parent) {
  parent.has_children_ = true;
  // They use each other's streams, which are those of one client.
  if (parent.client_ == 0) parent.client_ = m_.join(parent.program_, parent.share_);
  client_ = parent.client_;
  share_ = parent.share_;
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
  for (auto& [address, h] : host_memory_) h.inherited = true;
}

bool cuda_session::is_on_device(std::uint64_t address) {
  const auto* const h = host_at(address);
  return h == nullptr || h->second.in_place;
}

std::uint64_t cuda_session::word_at(std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t word = 0;
  if (is_on_device(address)) {
    m_.chip.driver().read(address, &word, bytes);
  } else {
    program_memory_.read(address, &word, bytes);
  }
  return word;
}

void cuda_session::set_word(std::uint64_t address, std::uint64_t word, std::uint32_t bytes) {
  if (is_on_device(address)) {
    m_.chip.driver().write(address, &word, bytes);
  } else {
    static_cast<void>(program_memory_.write(address, &word, bytes));  // the program may have unmapped it
  }
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
  if (program_memory_.take_failure() && is_running(process_) && m_.warned.insert(program_ + ", registered").second)
    message_log::warning(program_ + ": kernels access registered memory that the program has unmapped or protected: " +
                         "they read 0, and what they write is lost");
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
  out.then = [this](call_answer& a) { note_failed_copy(a); };
}

// A program that polls must let simulated time advance.
void cuda_session::query(wire::reader& in, call_answer& out) {
  const auto kind = in.get<wire::wait_kind>();
  const auto number = in.get<std::uint32_t>();
  const std::vector<queue_entry> left = pending(kind, number, out);
  if (out.status != wire::success) return;
  if (std::all_of(left.begin(), left.end(), [](const queue_entry& op) { return op->done; })) {
    learn(kind, number);
    note_failed_copy(out);
  } else {
    out.status = wire::not_ready;
  }
}

bool cuda_session::is_replaced() const {
  std::uint64_t number = 0;
  if (program_memory_.read(mark_.address, &number, sizeof number)) return number != mark_.number;
  char program = 0;  // one that ends has none any more, nor memory
  return ::readlink(("/proc/" + std::to_string(process_) + "/exe").c_str(), &program, 1) >= 0 || errno == EACCES;
}

}  // namespace heddle::testbench
