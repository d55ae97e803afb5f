// SPDX-License-Identifier: MIT
#include "heddle/sm/tma/tma.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"

namespace heddle {

namespace {

constexpr std::size_t most_maps = 32;  // tensor maps that the unit remembers

bool fills_shared(simt::bulk_kind k) { return k == simt::bulk_kind::load; }
bool reads_shared(simt::bulk_kind k) {
  return k == simt::bulk_kind::store || k == simt::bulk_kind::reduction || k == simt::bulk_kind::cluster;
}

std::string illegal(std::uint64_t address, unsigned bytes) {
  char text[96];
  std::snprintf(text, sizeof text, "illegal global address 0x%08llx of a bulk copy (%u bytes)",
                static_cast<unsigned long long>(address), bytes);
  return text;
}

}  // namespace

tma::tma(sc_core::sc_module_name name, unit_clock& clock, const gpu_config& config, const address_ranges& ranges,
         bulk_supervisor& supervisor)
    : sc_module(name),
      memory_socket({"memory_socket", this}),
      port_(memory_socket, *this),
      clock_(clock, *this),
      limit_(config.tma.requests_in_flight),
      latency_(config.tma.latency_cycles),
      interval_(config.tma.issue_interval_cycles),
      ranges_(ranges),
      supervisor_(supervisor) {}

bulk_command& tma::command() {
  bulk_command& c = commands_.take();
  c = {};
  return c;
}

void tma::accept(bulk_command& c, cycle_t cycle) {
  c.begins = cycle + latency_;
  ++counters[c.launch->launch_id].copies;
  waiting_.push_back(&c);
  queued_ = static_cast<unsigned>(waiting_.size());
  sleep(cycle);
}

void tma::on_cycle(cycle_t cycle) {
  complete_due(cycle);
  if (!port_.nacked() && !send_staged(cycle) && !waiting_.empty()) advance(cycle);
  sleep(cycle);
}

void tma::sleep(cycle_t cycle) {
  cycle_t next = due_.empty() ? never : due_.front().cycle;
  if (!port_.nacked()) {
    if (!staged_.empty()) next = std::min(next, staged_.front()->due);
    if (!waiting_.empty() && !waiting_.front()->fetches_map && in_flight_ < limit_) {
      const bulk_command& c = *waiting_.front();
      next = std::min(next, c.begun ? cycle + 1 : std::max(c.begins, free_));
    }
  }
  if (next != never) clock_.wake_at(std::max(next, cycle + 1));
}

// The oldest copy that is not sent completely goes on.
void tma::advance(cycle_t cycle) {
  bulk_command& c = *waiting_.front();
  if (!c.begun && !begin(c, cycle)) return;
  if (in_flight_ < limit_) move(c, cycle);
}

bool tma::begin(bulk_command& c, cycle_t cycle) {
  if (c.fetches_map || cycle < std::max(c.begins, free_)) return false;
  if (c.request.tensor) {
    if (!find_map(c, cycle)) return false;
    const std::string problem = simt::problem_of(c.request, c.map, c.launch->shared_bytes);
    if (!problem.empty()) return fail(c, problem, cycle), false;
    c.walk = simt::bulk_walk(c.request, c.map);
  } else {
    c.walk = simt::bulk_walk(c.request);
    const bool global = c.request.kind != simt::bulk_kind::cluster && c.request.bytes != 0;
    ranges_.refresh(hint_);
    if (global && !ranges_.find(c.request.global, c.request.bytes, hint_))
      return fail(c, illegal(c.request.global, c.request.bytes), cycle), false;
  }
  if (c.request.reduces) {
    c.atomic.op = isa::opcode::red;
    if (c.request.kind == simt::bulk_kind::cluster) c.atomic.mem_space = isa::space::shared;
    c.atomic.sub = static_cast<std::uint8_t>(c.request.op);
    c.atomic.type = simt::reduction_type(c.request, c.request.tensor ? &c.map : nullptr);
  }
  c.begun = true;
  free_ = cycle + interval_;
  next_segment(c, cycle);
  return !c.all_sent;
}

bool tma::find_map(bulk_command& c, cycle_t cycle) {
  if (simt::parameter_map(*c.launch, c.request.global, c.map)) return true;
  const auto known =
      std::find_if(maps_.begin(), maps_.end(), [&](const known_map& k) { return k.address == c.request.global; });
  if (known != maps_.end()) {
    c.map = known->map;
    return true;
  }
  fetch_map(c, cycle);
  return false;
}

// A map in global memory is read as any other bytes are.
void tma::fetch_map(bulk_command& c, cycle_t cycle) {
  simt::bulk_request map;
  map.global = c.request.global;
  map.bytes = sizeof(isa::tensor_map);
  ranges_.refresh(hint_);
  if (map.global % 64 != 0 || !ranges_.find(map.global, map.bytes, hint_))
    return fail(c, illegal(map.global, map.bytes) + ", expected a tensor map", cycle);
  simt::bulk_walk walk(map);
  simt::bulk_segment p;
  c.fetches_map = true;
  while (walk.next(p)) {
    request& r = make_request(c, p, lsu_kind::load);
    r.of_map = true;
    r.transaction.policy = 0;
    r.due = cycle;
    staged_.push_front(&r);
    ++in_flight_;
    ++c.outstanding;
  }
}

tma::request& tma::make_request(bulk_command& c, const simt::bulk_segment& p, lsu_kind kind) {
  request& r = requests_.take();
  static_cast<l1_access&>(r) = {};
  r.command = &c;
  r.segment = p;
  r.of_map = false;
  r.due = 0;
  lsu_transaction& t = r.transaction;
  t.launch = c.launch;
  t.instruction = kind == lsu_kind::reduction ? &c.atomic : nullptr;
  t.traffic = c.traffic;
  t.policy = c.request.policy;
  t.kind = kind;
  t.warp = static_cast<std::uint16_t>(c.warp);
  t.bytes_per_lane = p.unit;
  t.bypass_l1 = true;
  t.faulted = false;
  t.data = c.request.kind != simt::bulk_kind::prefetch || kind != lsu_kind::load;
  t.global_mask = 0;
  t.shared_mask = 0;
  t.shared_addresses = nullptr;
  t.differing_bits = lsu_transaction::not_known;
  for (unsigned lane = 0; lane * p.unit < p.bytes; ++lane) {
    t.own_addresses[lane] = p.global + lane * p.unit;
    t.global_mask |= 1u << lane;
  }
  const auto offset = static_cast<unsigned>(p.global % line_bytes);
  r.origin = l1_origin::bulk;
  r.l1_access::transaction = &t;
  r.line = p.global - offset;
  r.lanes = t.global_mask;
  for (unsigned s = offset / sector_bytes; s * sector_bytes < offset + p.bytes; ++s) r.sectors |= 1u << s;
  return r;
}

// Gives a request to the memory system; false: it has no room.
bool tma::send(request& r, cycle_t cycle) {
  const l1_answer answer = port_.send(r, cycle);
  invariant(answer != l1_answer::hit, "the L1 kept bytes of a bulk copy");
  if (answer == l1_answer::nacked) return false;
  tma_counters& c = counters[r.transaction.launch->launch_id];
  switch (r.transaction.kind) {
    case lsu_kind::load:
      ++c.read_requests;
      c.read_bytes += r.segment.bytes;
      break;
    case lsu_kind::store: ++c.write_requests; break;
    case lsu_kind::atomic:
    case lsu_kind::reduction: ++c.reductions; break;
    case lsu_kind::constant_load: throw internal_error("a bulk copy read constant memory");
  }
  if (r.transaction.kind != lsu_kind::load) c.written_bytes += r.segment.bytes;
  return true;
}

// Moves the copy's next segment.
void tma::move(bulk_command& c, cycle_t cycle) {
  const simt::bulk_segment p = c.segment;
  const simt::bulk_kind kind = c.request.kind;
  if (!p.outside && c.request.tensor) {
    ranges_.refresh(hint_);
    if (!ranges_.find(p.global, p.bytes, hint_)) return fail(c, illegal(p.global, p.bytes), cycle);
  }
  if (reads_shared(kind)) {
    const bool reduces = kind == simt::bulk_kind::reduction;
    if (!p.outside && reduces && p.unit != isa::size_of(c.atomic.type))
      return fail(c, "misaligned reduction of a bulk copy", cycle);
    if (!p.outside) read_shared(c, cycle);
    return next_segment(c, cycle);
  }
  if (p.outside) {
    if (fills_shared(kind)) {
      request& r = make_request(c, p, lsu_kind::store);
      std::uint8_t bytes[simt::bulk_walk::line];
      c.walk.fill(p, bytes);
      c.ready = std::max(c.ready, supervisor_.bulk_write(c, p, bytes, r.transaction, cycle));
      counters[c.launch->launch_id].filled_bytes += p.bytes;
      requests_.give_back(r);
    }
    return next_segment(c, cycle);
  }
  request& r = make_request(c, p, lsu_kind::load);
  if (!send(r, cycle)) return requests_.give_back(r);
  ++in_flight_;
  ++c.outstanding;
  next_segment(c, cycle);
}

void tma::read_shared(bulk_command& c, cycle_t cycle) {
  const bool reduces = c.request.kind == simt::bulk_kind::reduction;
  request& r = make_request(c, c.segment, reduces ? lsu_kind::reduction : lsu_kind::store);
  std::uint8_t bytes[simt::bulk_walk::line * 2];
  r.due = supervisor_.bulk_read(c, c.segment, bytes, r.transaction, cycle);
  for (unsigned lane = 0; lane * c.segment.unit < c.segment.bytes; ++lane)
    for (unsigned k = 0; k < (c.segment.unit + 3u) / 4; ++k) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes + lane * c.segment.unit + 4 * k, std::min<unsigned>(c.segment.unit, 4));
      r.transaction.words[k][lane] = word;
    }
  staged_.push_back(&r);
  ++in_flight_;
  ++c.outstanding;
  ++c.unread;
}

// Sends the oldest segment that shared memory has delivered. Returns true if the cycle is used.
bool tma::send_staged(cycle_t cycle) {
  if (staged_.empty() || staged_.front()->due > cycle) return false;
  request& r = *staged_.front();
  bulk_command& c = *r.command;
  if (c.request.kind == simt::bulk_kind::cluster) {
    std::uint8_t bytes[simt::bulk_walk::line];
    for (unsigned lane = 0; lane * r.segment.unit < r.segment.bytes; ++lane)
      for (unsigned k = 0; k < (r.segment.unit + 3u) / 4; ++k)
        std::memcpy(bytes + lane * r.segment.unit + 4 * k, &r.transaction.words[k][lane],
                    std::min<unsigned>(r.segment.unit, 4));
    c.ready = std::max(c.ready, supervisor_.bulk_write(c, r.segment, bytes, r.transaction, cycle));
    staged_.pop_front();
    --c.unread;
    answered(r, cycle);
    return true;
  }
  if (!send(r, cycle)) return true;
  staged_.pop_front();
  if (r.of_map) return true;
  if (--c.unread == 0 && c.all_sent) supervisor_.bulk_has_read(c, cycle);
  return true;
}

void tma::next_segment(bulk_command& c, cycle_t cycle) {
  if (c.walk.next(c.segment)) return;
  c.all_sent = true;
  waiting_.pop_front();
  queued_ = static_cast<unsigned>(waiting_.size());
  if (c.unread == 0 && reads_shared(c.request.kind)) supervisor_.bulk_has_read(c, cycle);
  check_end(c, cycle);
}

// The copy is complete when all its requests have been answered, and its last bytes are in shared memory.
void tma::check_end(bulk_command& c, cycle_t cycle) {
  if (!c.all_sent || c.outstanding != 0) return;
  const completion done{std::max(c.ready, cycle + 1), &c};
  const auto at = std::upper_bound(due_.begin(), due_.end(), done,
                                   [](const completion& a, const completion& b) { return a.cycle < b.cycle; });
  due_.insert(at, done);
  clock_.wake_at(done.cycle);
}

void tma::complete_due(cycle_t cycle) {
  while (!due_.empty() && due_.front().cycle <= cycle) {
    bulk_command& c = *due_.front().command;
    due_.erase(due_.begin());
    if (!c.completed && !c.failed) supervisor_.bulk_complete(c, cycle);
    c.completed = true;
    if (c.messages != 0) continue;  // it comes here again
    supervisor_.bulk_ended(c, cycle);
    commands_.give_back(c);
  }
}

void tma::message_answered(bulk_command& c, cycle_t cycle) {
  if (--c.messages == 0 && c.completed) check_end(c, cycle);
}

void tma::fail(bulk_command& c, const std::string& what, cycle_t cycle) {
  c.failed = c.all_sent = true;
  waiting_.pop_front();
  queued_ = static_cast<unsigned>(waiting_.size());
  supervisor_.bulk_failed(c, what);
  check_end(c, cycle);
}

void tma::l1_responds(l1_access& access) {
  const cycle_t cycle = clock_.cycle();
  request& r = static_cast<request&>(access);
  invariant(r.command != nullptr, "TMA: unexpected response");
  bulk_command& c = *r.command;
  if (r.transaction.faulted && !c.failed) {
    c.failed = true;
    supervisor_.bulk_failed(c, r.transaction.fault);
  }
  if (r.transaction.kind == lsu_kind::load && r.transaction.data && !c.failed) {
    std::uint8_t bytes[simt::bulk_walk::line];
    for (unsigned lane = 0; lane * r.segment.unit < r.segment.bytes; ++lane)
      std::memcpy(bytes + lane * r.segment.unit, &r.transaction.words[0][lane], r.segment.unit);
    if (r.of_map) std::memcpy(c.map_bytes.data() + r.segment.at, bytes, r.segment.bytes);
    else c.ready = std::max(c.ready, supervisor_.bulk_write(c, r.segment, bytes, r.transaction, cycle));
  }
  answered(r, cycle);
  clock_.wake_at(cycle);
}

void tma::answered(request& r, cycle_t cycle) {
  bulk_command& c = *r.command;
  const bool of_map = r.of_map;
  r.command = nullptr;
  requests_.give_back(r);
  --in_flight_;
  --c.outstanding;
  if (!of_map) return check_end(c, cycle);
  if (c.outstanding != 0) return;
  c.fetches_map = false;
  std::memcpy(static_cast<void*>(&c.map), c.map_bytes.data(), sizeof c.map);
  if (maps_.size() == most_maps) maps_.erase(maps_.begin());
  maps_.push_back({c.request.global, c.map});
}

void tma::name_objects(state_image& image) {
  commands_.exchange(image);
  commands_.each_in_use([&image](bulk_command& c) {
    image.name(&c);
    image.name(&c.atomic);
  });
  requests_.exchange(image);
  requests_.each_in_use([&image](request& r) {
    image.name(&r);
    image.name<l1_access>(&r);
    image.name(&r.transaction);
  });
}

void tma::clear_undefined() {
  requests_.each_in_use([](request& r) {
    if (r.transaction.kind == lsu_kind::load) r.transaction.clear_words(r.transaction.global_mask);
  });
}

void tma::exchange(state_image& image) {
  image.part(name());
  commands_.each_in_use([&image](bulk_command& c) { image(c); });
  requests_.each_in_use([&image](request& r) { image(r); });
  image(port_, waiting_, staged_, due_, maps_, free_, in_flight_, queued_);
  counters.exchange(image, [&image](std::uint32_t, tma_counters& c) { image.numbers(c); });
}

void tma::restart() {
  invariant(idle(), "TMA: reset with copies in flight");
  maps_.clear();
  free_ = 0;
}

void tma::trace(sc_core::sc_trace_file* file) const {
  const std::string prefix = std::string(name()) + ".";
  sc_core::sc_trace(file, queued_, prefix + "queued");
  sc_core::sc_trace(file, in_flight_, prefix + "requests_in_flight");
}

}  // namespace heddle
