// SPDX-License-Identifier: MIT
// Host functions of the program, and what the program waits for.
#include <algorithm>

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

// A word of pinned memory is the program's until a kernel may use it.
std::uint64_t cuda_session::word_at(std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t word = 0;
  if (is_on_device(address)) {
    m_.chip.driver().read(address, &word, bytes);
  } else {
    program_memory_.read(address, &word, bytes);
  }
  return word;
}

bool cuda_session::is_on_device(std::uint64_t address) const {
  auto h = host_memory_.upper_bound(address);
  if (h == host_memory_.begin()) return true;
  --h;
  return address - h->first >= h->second.bytes || (memory_is_away_ && (h->second.managed || h->second.used));
}

void cuda_session::memory_value(wire::reader& in, call_answer& out) {
  const auto r = in.get<wire::value_request>();
  const std::uint32_t stream = stream_of(r.stream, out);
  if (r.bytes != 4 && r.bytes != 8) out.status = wire::invalid_value;
  if (out.status != wire::success) return;
  auto op = std::make_shared<queue_operation>();
  op->stream = stream;
  if (r.what == wire::value_operation::write) {
    op->act = [this, r] {
      if (is_on_device(r.address)) {
        m_.chip.driver().write(r.address, &r.value, r.bytes);
      } else {
        static_cast<void>(program_memory_.write(r.address, &r.value, r.bytes));  // the program may have unmapped it
      }
    };
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
