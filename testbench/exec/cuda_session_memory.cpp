// SPDX-License-Identifier: MIT
// Memory, streams and events of a CUDA program.
#include <algorithm>
#include <cstring>

#include "testbench/exec/cuda_session.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;  // stays in a processor's cache during the copy
// Within the device: the first and the last pages that a chunk touches are looked up for the next one again.
constexpr std::size_t device_chunk_bytes = std::size_t{1} << 20;

}  // namespace

void cuda_session::allocate(wire::reader& in, call_answer& out) {
  const auto bytes = in.get<std::uint64_t>();
  const auto kind = in.get<wire::memory_kind>();
  const std::string caller = in.get_text();
  const bool pages_migrate = compute_capability(m_.chip.config()) >= 60;  // at an access, since Pascal
  const std::uint64_t address =
      m_.memory.allocate(bytes, kind == wire::memory_kind::device                      ? device_memory::use::device
                                : kind == wire::memory_kind::managed && !pages_migrate ? device_memory::use::migrates
                                                                                       : device_memory::use::host);
  if (address == 0) {
    out.status = wire::out_of_memory;
    return;
  }
  device_allocation& a = allocations_[address];
  a = device_allocation();
  a.bytes = bytes;
  a.kind = kind;
  a.caller = caller;
  if (kind != wire::memory_kind::device) {
    host_memory& h = host_memory_[address];
    h = host_memory();
    h.bytes = bytes;
    h.managed = kind == wire::memory_kind::managed;
  }
  out.body.put(address);
}

// As in CUDA, it waits for running work.
void cuda_session::release(wire::reader& in, call_answer& out) {
  const auto address = in.get<std::uint64_t>();
  if (allocations_.count(address) == 0) {
    out.status = wire::invalid_value;
    return;
  }
  out.until = work();
  m_.queues.host_waits();
  out.then = [this, address](call_answer&) {
    if (allocations_.count(address) == 0) return;
    m_.memory.release(address);
    m_.in_place.remove(address);
    host_memory_.erase(address);
    allocations_.erase(address);
  };
}

// The program's library knows what is mapped where (driver_virtual_memory.cpp).
void cuda_session::virtual_memory(wire::reader& in, call_answer& out) {
  const auto r = in.get<wire::virtual_request>();
  switch (r.what) {
    case wire::virtual_step::reserve: {
      const std::uint64_t address = m_.memory.reserve(r.bytes, r.number);
      if (address == 0) out.status = wire::out_of_memory;
      out.body.put(address);
      return;
    }
    case wire::virtual_step::forget: return m_.memory.forget(r.address);
    case wire::virtual_step::take:
      if (!m_.memory.take(r.bytes)) out.status = wire::out_of_memory;
      return;
    case wire::virtual_step::give: unmapped_.erase(r.number); return m_.memory.give(r.bytes);
    case wire::virtual_step::map:
      used_before_.erase(r.address);
      if (const auto kept = unmapped_.find(r.number); kept != unmapped_.end()) {
        m_.chip.driver().write(r.address, kept->second.data(), std::min<std::size_t>(r.bytes, kept->second.size()));
        unmapped_.erase(kept);
        used_before_.insert(r.address);
      }
      return;
    case wire::virtual_step::open: return m_.memory.open(r.address, r.bytes, used_before_.count(r.address) != 0);
    default:
      out.until = work();
      m_.queues.host_waits();
      out.then = [this, r](call_answer&) { end_access(r); };
  }
}

void cuda_session::end_access(const wire::virtual_request& r) {
  if (r.what == wire::virtual_step::close) {
    used_before_.insert(r.address);
    return m_.memory.close(r.address);
  }
  std::vector<std::uint8_t>& kept = unmapped_[r.number];
  kept.resize(r.bytes);
  m_.chip.driver().read(r.address, kept.data(), kept.size());
}

bool cuda_session::registers(const connection::request& r) {
  if (r.what != wire::call::host_range) return false;
  wire::reader in(r.arguments);
  in.take(2 * sizeof(std::uint64_t));
  return in.get<wire::range_step>() == wire::range_step::registered;
}

void cuda_session::host_range(wire::reader& in, call_answer& out) {
  const auto address = in.get<std::uint64_t>();
  const auto bytes = in.get<std::uint64_t>();
  const auto file = [&in] { return static_cast<int>(in.get<std::uint32_t>()); };
  using step = wire::range_step;
  switch (in.get<step>()) {
    case step::forget: return forget_range(address, out);
    case step::registered: out.status = add_registered(address, bytes, in.get<std::uint32_t>() != 0); return;
    case step::variables: out.status = share_variables(address, bytes, file()); return;
    case step::allocation: out.status = share_allocation(address, bytes, file()); return;
  }
  out.status = wire::invalid_value;
}

// Work that has not ended may use it.
void cuda_session::forget_range(std::uint64_t address, call_answer& out) {
  if (host_memory_.count(address) == 0) {
    out.status = wire::invalid_value;
    return;
  }
  out.until = work();
  m_.queues.host_waits();
  out.then = [this, address](call_answer&) {
    const auto h = host_memory_.find(address);
    if (h == host_memory_.end()) return;
    end_sharing(address, h->second);
    host_memory_.erase(h);
    variables_.erase(address);
  };
}

wire::status cuda_session::add_registered(std::uint64_t address, std::uint64_t bytes, bool shared) {
  if (const auto h = host_memory_.lower_bound(address); h != host_memory_.end() && h->first - address < bytes)
    return h->second.inherited ? wire::success : wire::already_registered;
  if (const auto* const h = host_at(address); h != nullptr && !h->second.inherited) return wire::already_registered;
  if (!m_.memory.share(address, bytes)) {
    message_log::error(program_ + ": cudaHostRegister: another process of this run has registered memory at the same " +
                       "address, which heddle exec does not support: use cudaHostAlloc");
    return wire::not_supported;
  }
  host_memory& h = host_memory_[address];
  h.bytes = bytes;
  m_.in_place.add(address, bytes, program_memory_, shared);
  m_.chip.driver().map(address, bytes);
  return wire::success;
}

wire::status cuda_session::share_allocation(std::uint64_t address, std::uint64_t bytes, int file) {
  const auto h = host_memory_.find(address);
  const auto a = allocations_.find(address);
  if (h == host_memory_.end() || a == allocations_.end() || bytes % wire::shared_unit != 0 || bytes < a->second.bytes ||
      bytes - a->second.bytes >= wire::shared_unit)
    return wire::invalid_value;
  a->second.memory = shared_memory::open(process_, file, bytes);
  if (!a->second.memory) return wire::out_of_memory;
  h->second.in_place = true;
  m_.in_place.add(address, bytes, a->second.memory->data());
  return wire::success;
}

// `data`: the bytes, if they are no longer to be read at `from`.
bool cuda_session::move_row(const wire::copy_request& r, const std::uint8_t* data, std::uint64_t from, std::uint64_t to,
                            std::uint64_t bytes, std::vector<std::uint8_t>& chunk) {
  host_driver& driver = m_.chip.driver();
  const bool is_watched = m_.chip.checks() != nullptr;  // what it does not see did not happen
  std::uint8_t* const there = r.destination_on_host || is_watched ? nullptr : m_.in_place.find_all(to, bytes);
  if (data == nullptr && !r.source_on_host && !is_watched) data = m_.in_place.find_all(from, bytes);
  if (data == nullptr) {
    chunk.resize(there == nullptr ? bytes : 0);
    std::uint8_t* const into = there != nullptr ? there : chunk.data();
    if (!r.source_on_host) driver.read(from, into, bytes);
    else if (!program_memory_.read(from, into, bytes)) return false;
    data = into;
  }
  if (r.destination_on_host) return program_memory_.write(to, data, bytes);
  if (there == nullptr) driver.write(to, data, bytes);
  else if (there != data) std::memmove(there, data, bytes);
  return true;
}

// Rows that are large enough go through the window, if there is one: the thread that waits for the copy moves them.
bool cuda_session::move_box(const wire::copy_request& r, const std::vector<std::uint8_t>& staged, copy_window* window) {
  host_driver& driver = m_.chip.driver();
  std::vector<std::uint8_t> chunk;
  const std::uint64_t most = r.source_on_host || r.destination_on_host ? chunk_bytes : device_chunk_bytes;
  // Rows without gaps on both sides are copied as one row.
  const bool rows_touch = r.source_pitch == r.width && r.destination_pitch == r.width;
  const bool layers_touch =
      rows_touch && r.source_layer == r.width * r.height && r.destination_layer == r.width * r.height;
  const std::uint64_t width = layers_touch ? r.width * r.height * r.depth : rows_touch ? r.width * r.height : r.width;
  const std::uint64_t height = rows_touch ? 1 : r.height;
  const std::uint64_t depth = layers_touch ? 1 : r.depth;
  bool shared = window != nullptr && width >= chunk_bytes && staged.empty() &&
                r.source_on_host != r.destination_on_host &&
                window->reaches(r.source_on_host ? r.source : r.destination,
                                (depth - 1) * (r.source_on_host ? r.source_layer : r.destination_layer) +
                                    (height - 1) * (r.source_on_host ? r.source_pitch : r.destination_pitch) + width,
                                r.destination_on_host);
  for (std::uint64_t z = 0; z < depth; ++z)
    for (std::uint64_t y = 0; y < height; ++y)
      for (std::uint64_t x = 0, bytes = 0; x < width; x += bytes) {
        const std::uint64_t from = r.source + z * r.source_layer + y * r.source_pitch + x;
        const std::uint64_t to = r.destination + z * r.destination_layer + y * r.destination_pitch + x;
        if (shared) {
          bytes =
              r.source_on_host
                  ? window->fetch(from, width, [&](auto at, auto* data, auto n) { driver.write(to + at, data, n); })
                  : window->deliver(to, width, [&](auto at, auto* data, auto n) { driver.read(from + at, data, n); });
          shared = bytes == width;
          continue;
        }
        bytes = std::min<std::uint64_t>(most, width - x);
        if (!move_row(r, staged.empty() ? nullptr : &staged[(z * height + y) * width + x], from, to, bytes, chunk))
          return false;
      }
  return true;
}

void cuda_session::copy(wire::reader& in, call_answer& out, std::shared_ptr<copy_window> window) {
  auto r = in.get<wire::copy_request>();
  const std::uint32_t stream = stream_of(r.stream, out);
  if (out.status != wire::success) return;
  if (r.width > m_.memory.capacity() || r.height > m_.memory.capacity() || r.depth > m_.memory.capacity()) {
    out.status = wire::invalid_value;
    return;
  }
  if (r.width == 0 || r.height == 0 || r.depth == 0) return;
  const auto* const from = host_at(r.source);
  const auto* const to = host_at(r.destination);
  if (from != nullptr && from->second.managed) r.source_on_host = 0;
  if (to != nullptr && to->second.managed) r.destination_on_host = 0;
  auto op = std::make_shared<queue_operation>();
  op->what = queue_operation::kind::transfer;
  op->stream = stream;
  op->bytes = r.width * r.height * r.depth;
  op->by = r.source_on_host && !r.destination_on_host   ? queue_operation::route::to_device
           : r.destination_on_host && !r.source_on_host ? queue_operation::route::to_host
                                                        : queue_operation::route::on_device;
  std::vector<std::uint8_t> staged;
  if (r.source_on_host && !r.source_is_kept) {
    staged.resize(op->bytes);
    for (std::uint64_t z = 0; z < r.depth; ++z)
      for (std::uint64_t y = 0; y < r.height; ++y)
        if (!program_memory_.read(r.source + z * r.source_layer + y * r.source_pitch,
                                  staged.data() + (z * r.height + y) * r.width, r.width)) {
          out.status = wire::invalid_value;
          return;
        }
  }
  if (from != nullptr && from->second.in_place && staged.empty()) r.source_on_host = 0;
  if (to != nullptr && to->second.in_place) r.destination_on_host = 0;
  const bool to_device = op->by == queue_operation::route::to_device;
  op->act = [this, r, to_device, staged = std::move(staged), window = std::move(window)] {
    copy_failed_ |= !move_box(r, staged, window.get());
    if (to_device) m_.chip.copied(r.destination, r.width * r.height * r.depth);
  };
  append(op);
}

void cuda_session::fill_row(std::uint64_t address, const std::vector<std::uint8_t>& values, std::uint64_t bytes) {
  if (is_on_device(address)) m_.chip.driver().write(address, values.data(), bytes);
  else copy_failed_ |= !program_memory_.write(address, values.data(), bytes);
}

void cuda_session::fill(wire::reader& in, call_answer& out) {
  const auto r = in.get<wire::fill_request>();
  const std::uint32_t stream = stream_of(r.stream, out);
  if (out.status != wire::success) return;
  const bool sane = (r.value_bytes == 1 || r.value_bytes == 2 || r.value_bytes == 4) && r.width % r.value_bytes == 0 &&
                    r.width <= m_.memory.capacity() && r.height <= m_.memory.capacity() &&
                    r.depth <= m_.memory.capacity();
  if (!sane) {
    out.status = wire::invalid_value;
    return;
  }
  if (r.width == 0 || r.height == 0 || r.depth == 0) return;
  auto op = std::make_shared<queue_operation>();
  op->what = queue_operation::kind::transfer;
  op->stream = stream;
  op->bytes = r.width * r.height * r.depth;
  op->act = [this, r] {
    std::vector<std::uint8_t> chunk(std::min<std::uint64_t>(chunk_bytes, r.width));
    for (std::size_t k = 0; k < chunk.size(); ++k)
      chunk[k] = static_cast<std::uint8_t>(r.value >> (8 * (k % r.value_bytes)));
    for (std::uint64_t z = 0; z < r.depth; ++z)
      for (std::uint64_t y = 0; y < r.height; ++y)
        for (std::uint64_t x = 0; x < r.width; x += chunk.size())
          fill_row(r.address + z * r.layer + y * r.pitch + x, chunk,
                   std::min<std::uint64_t>(chunk.size(), r.width - x));
  };
  append(op);
}

std::uint32_t cuda_session::stream_of(std::uint32_t number, call_answer& out) const {
  if (number == 0) return *default_stream_;
  const bool is_known =
      streams_.count(number) != 0 || (inherited_streams_.count(number) != 0 && m_.queues.has_stream(number));
  if (!is_known) out.status = wire::invalid_handle;
  return number;
}

void cuda_session::streams_and_events(wire::call what, wire::reader& in, call_answer& out) {
  switch (what) {
    case wire::call::make_stream: {
      const auto flags = in.get<std::uint32_t>();
      const auto priority = in.get<std::int32_t>();
      const bool blocking = (flags & wire::stream_flag::non_blocking) == 0;
      const std::uint32_t number = m_.queues.make_stream(*default_stream_, blocking, priority);
      streams_.insert(number);
      out.body.put(number);
      return;
    }
    case wire::call::drop_stream: {
      const auto number = in.get<std::uint32_t>();
      if (streams_.erase(number) != 0) {
        m_.queues.drop_stream(number);
      } else if (inherited_streams_.erase(number) == 0) {
        out.status = wire::invalid_handle;
      }
      return;
    }
    case wire::call::make_event:
      events_[next_event_];
      out.body.put(next_event_++);
      return;
    case wire::call::drop_event:
      if (events_.erase(in.get<std::uint32_t>()) == 0) out.status = wire::invalid_handle;
      return;
    case wire::call::record_event:
    case wire::call::wait_event: return record_or_wait(what, in, out);
    case wire::call::elapsed: return elapsed(in, out);
    case wire::call::host_function: return add_host_function(in, out);
    case wire::call::next_host_function: out.host_function = true; return;
    case wire::call::host_function_done: return end_host_function(in, out);
    case wire::call::memory_value: return memory_value(in, out);
    default: out.status = wire::not_supported;
  }
}

void cuda_session::record_or_wait(wire::call what, wire::reader& in, call_answer& out) {
  auto number = in.get<std::uint32_t>();
  auto second = in.get<std::uint32_t>();
  if (what == wire::call::wait_event) std::swap(number, second);
  const auto event = events_.find(number);
  const std::uint32_t stream = stream_of(second, out);
  if (event == events_.end()) out.status = wire::invalid_handle;
  if (out.status != wire::success) return;
  auto op = std::make_shared<queue_operation>();
  op->stream = stream;
  if (what == wire::call::record_event) {
    event->second.time = std::make_shared<sc_core::sc_time>();
    op->act = [time = event->second.time] { *time = sc_core::sc_time_stamp(); };
    event->second.recorded = op;
  } else {
    if (!event->second.recorded) return;
    if (event->second.recorded->done) return m_.queues.follows(stream, *event->second.recorded);
    op->after.push_back(event->second.recorded);
  }
  append(op);
}

void cuda_session::elapsed(wire::reader& in, call_answer& out) {
  const auto a = events_.find(in.get<std::uint32_t>());
  const auto b = events_.find(in.get<std::uint32_t>());
  if (a == events_.end() || b == events_.end() || !a->second.recorded || !b->second.recorded) {
    out.status = wire::invalid_handle;
  } else if (!a->second.recorded->done || !b->second.recorded->done) {
    out.status = wire::not_ready;
  } else {
    out.body.put((b->second.time->to_seconds() - a->second.time->to_seconds()) * 1e9);
  }
}

}  // namespace heddle::testbench
