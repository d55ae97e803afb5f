// SPDX-License-Identifier: MIT
#include "heddle/memory/noc/crossbar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"

namespace heddle {

namespace {

cycle_t whole_cycles(unsigned bytes, unsigned bytes_per_cycle) {
  return std::max(1u, (bytes + bytes_per_cycle - 1) / bytes_per_cycle);
}

// The time of a packet at a port.
std::uint32_t ticks(cycle_t time) {
  if (time > std::numeric_limits<std::uint32_t>::max())
    throw input_error(
        "interconnect: a port takes more than 65535 cycles of interconnect.clock_mhz for a packet, expected ports and "
        "clocks that take fewer");
  return static_cast<std::uint32_t>(time);
}

}  // namespace

crossbar::crossbar(const shape& s)
    : shape_(s),
      words_((s.inputs + 63) / 64),
      slots_(s.inputs, slot_counter(std::max(1u, s.input_entries))),
      input_free_(s.inputs, 0),
      lanes_(std::size_t{s.inputs} * s.outputs),
      candidates_(std::size_t{s.outputs} * words_, 0),
      waiting_(s.outputs, 0),
      active_((s.outputs + 63) / 64, 0),
      output_free_(s.outputs, 0),
      grantable_(s.outputs, 0),
      first_input_(s.outputs, 0),
      wires_(s.outputs),
      in_flight_(s.outputs, 0),
      last_pop_(s.outputs, 0),
      due_(s.outputs, never),
      flying_((s.outputs + 63) / 64, 0),
      input_ticks_(static_cast<cycle_t>(std::llround(s.input.cycles * ticks_per_cycle))),
      output_ticks_(static_cast<cycle_t>(std::llround(s.output.cycles * ticks_per_cycle))) {
  if (s.input.bytes == 0 || s.output.bytes == 0 || input_ticks_ == 0 || output_ticks_ == 0)
    throw input_error("interconnect: a port must move at least one byte per cycle");
  for (const shared_ports& p : s.shared) {
    const unsigned last = *std::max_element(p.of_output.begin(), p.of_output.end());
    shared_.push_back({p.of_output, p.rate.cycles * ticks_per_cycle / p.rate.bytes, std::vector<cycle_t>(last + 1, 0)});
  }
}

void crossbar::append(fifo& list, std::uint32_t p) {
  packets_[p].next = none;
  if (list.head == none) list.head = p;
  else packets_[list.tail].next = p;
  list.tail = p;
}

void crossbar::push(unsigned input, unsigned output, unsigned bytes, tlm::tlm_generic_payload& payload,
                    cycle_t arrival) {
  if (free_packets_.empty()) {
    packets_.emplace_back();
    free_packets_.push_back(static_cast<std::uint32_t>(packets_.size() - 1));
  }
  const std::uint32_t p = free_packets_.back();
  free_packets_.pop_back();
  packets_[p].payload = &payload;
  packets_[p].at = arrival;
  packets_[p].bytes = bytes;
  packets_[p].in = ticks(whole_cycles(bytes, shape_.input.bytes) * input_ticks_);
  packets_[p].out = ticks(whole_cycles(bytes, shape_.output.bytes) * output_ticks_);
  append(lane(input, output), p);
  candidates_[std::size_t{output} * words_ + input / 64] |= std::uint64_t{1} << (input % 64);
  if (waiting_[output]++ == 0) active_[output / 64] |= std::uint64_t{1} << (output % 64);
  grantable_[output] = std::min(grantable_[output], std::max(arrival, output_free_[output] >> tick_bits));
  next_grant_ = std::min(next_grant_, grantable_[output]);
  ++packets_in_use_;
  ++packets_in_;
  bytes_ += bytes;
}

cycle_t crossbar::arbitrate(cycle_t now) {
  granted_.clear();
  if (next_grant_ > now) return next_grant_;
  cycle_t next = never;
  next_grant_ = never;
  // Outputs may compete for an input, so the output that is served first rotates and none starves.
  const unsigned first = static_cast<unsigned>(now % shape_.outputs);
  for (const bool wrapped : {false, true}) {
    for (std::size_t w = wrapped ? 0 : first / 64; w < (wrapped ? first / 64 + 1 : active_.size()); ++w) {
      const std::uint64_t from_first = w == first / 64 ? ~std::uint64_t{0} << (first % 64) : ~std::uint64_t{0};
      const std::uint64_t asked = wrapped ? w == first / 64 ? ~from_first : ~std::uint64_t{0} : from_first;
      for (const unsigned bit : set_bits(active_[w] & asked)) {
        const unsigned o = static_cast<unsigned>(w * 64) + bit;
        if (grantable_[o] <= now) next = std::min(next, grant(o, now));
        if (waiting_[o] != 0) next_grant_ = std::min(next_grant_, grantable_[o]);
      }
    }
  }
  return std::min(next, next_grant_);
}

// The cycle from which all ports that the output shares with others are free.
cycle_t crossbar::shared_free(unsigned output) const {
  cycle_t tick = 0;
  for (const shared_state& s : shared_) tick = std::max(tick, s.free[s.of_output[output]]);
  return tick >> tick_bits;
}

// Grants one packet to an output if possible and computes when to try again. Returns the cycle in which the packet at
// the head of the output is complete there, if one was granted; else never.
cycle_t crossbar::grant(unsigned output, cycle_t now) {
  if (full(output)) {
    grantable_[output] = never;  // until a packet is popped
    return never;
  }
  if (!shared_.empty()) {
    if (const cycle_t free = shared_free(output); free > now) {
      grantable_[output] = free;
      return never;
    }
  }
  const std::uint64_t* set = &candidates_[std::size_t{output} * words_];
  cycle_t next = never;
  const unsigned from = first_input_[output];
  // Visits all inputs once, starting at `from`; the word of `from` is visited twice, upper part first.
  for (unsigned i = 0; i <= words_; ++i) {
    const unsigned w = (from / 64 + i) % words_;
    std::uint64_t bits = set[w];
    if (i == 0) bits &= ~std::uint64_t{0} << (from % 64);
    if (i == words_) bits &= (std::uint64_t{1} << (from % 64)) - 1;
    for (const unsigned bit : set_bits(bits)) {
      const unsigned input = w * 64 + bit;
      const cycle_t ready = std::max(packets_[lane(input, output).head].at, input_free_[input] >> tick_bits);
      if (ready > now) {
        next = std::min(next, ready);
        continue;
      }
      start(input, output, now);
      grantable_[output] = std::max(now + 1, output_free_[output] >> tick_bits);
      return due_[output];
    }
  }
  grantable_[output] = next;
  return never;
}

void crossbar::start(unsigned input, unsigned output, cycle_t now) {
  fifo& list = lane(input, output);
  const std::uint32_t p = list.head;
  packet& k = packets_[p];
  list.head = k.next;
  if (list.head == none) candidates_[std::size_t{output} * words_ + input / 64] &= ~(std::uint64_t{1} << (input % 64));
  if (--waiting_[output] == 0) active_[output / 64] &= ~(std::uint64_t{1} << (output % 64));
  slots_[input].give(now);
  const cycle_t begin = now << tick_bits;
  input_free_[input] = std::max(begin, input_free_[input]) + k.in;
  output_free_[output] = std::max(begin, output_free_[output]) + k.out;
  first_input_[output] = input + 1 < shape_.inputs ? input + 1 : 0;
  busy_ticks_ += k.out;
  cycle_t end = std::max(input_free_[input], output_free_[output]);
  for (shared_state& s : shared_) {
    cycle_t& free = s.free[s.of_output[output]];
    free = std::max(begin, free) + static_cast<cycle_t>(std::llround(k.bytes * s.ticks_per_byte));
    end = std::max(end, free);
  }
  k.at = ((end + ticks_per_cycle - 1) >> tick_bits) - 1 + std::max(1u, shape_.latency_cycles) - 1;
  append(wires_[output], p);
  if (keeps_grants_) granted_.push_back({output, k.payload, k.at, p});
  if (in_flight_[output]++ == 0) flying_[output / 64] |= std::uint64_t{1} << (output % 64);
  update_due(output);
}

void crossbar::update_due(unsigned output) {
  const std::uint32_t head = wires_[output].head;
  if (head == none) {
    due_[output] = never;
    return;
  }
  // After back-pressure the port still needs the packet's transfer time.
  due_[output] = std::max(packets_[head].at, last_pop_[output] + std::max(1u, packets_[head].out >> tick_bits));
}

tlm::tlm_generic_payload& crossbar::take(const grant_record& granted) {
  tlm::tlm_generic_payload* const payload = packets_[granted.packet].payload;
  invariant(payload != nullptr && payload == granted.payload, "crossbar: a payload was taken twice");
  packets_[granted.packet].payload = nullptr;
  return *payload;
}

tlm::tlm_generic_payload* crossbar::pop(unsigned output, cycle_t now) {
  const std::uint32_t p = wires_[output].head;
  invariant(p != none, "crossbar: a packet was requested of an output without any");
  wires_[output].head = packets_[p].next;
  tlm::tlm_generic_payload* const payload = packets_[p].payload;
  packets_[p].payload = nullptr;
  free_packets_.push_back(p);
  if (full(output)) {
    grantable_[output] = std::max(now, output_free_[output] >> tick_bits);
    if (waiting_[output] != 0) next_grant_ = std::min(next_grant_, grantable_[output]);
  }
  if (--in_flight_[output] == 0) flying_[output / 64] &= ~(std::uint64_t{1} << (output % 64));
  --packets_in_use_;
  ++packets_out_;
  last_pop_[output] = now;
  update_due(output);
  return payload;
}

void crossbar::check_invariants() const {
  invariant(packets_in_ == packets_out_ + packets_in_use_, "crossbar: packets in = packets out + packets inside");
  std::uint64_t buffered = 0;
  std::uint64_t flying = 0;
  for (unsigned w : waiting_) buffered += w;
  for (unsigned f : in_flight_) flying += f;
  invariant(buffered + flying == packets_in_use_, "crossbar: packets in buffers and on wires = packets inside");
}

void crossbar::exchange(state_image& image) {
  image(free_packets_);
  image.taken(packets_, free_packets_);
  image.each(lanes_);
  image.each(candidates_);
  image.each(waiting_);
  image.each(active_);
  image.each(wires_);
  image.each(in_flight_);
  image.each(due_);
  image.each(flying_);
  image.each(slots_);
  image.each(input_free_);
  image.each(output_free_);
  image.each(grantable_);
  image.each(first_input_);
  image.each(last_pop_);
  image(next_grant_, busy_ticks_, packets_in_, packets_out_, bytes_, packets_in_use_);
  for (shared_state& s : shared_) image.each(s.free);
  if (image.reading()) granted_.clear();
}

}  // namespace heddle
