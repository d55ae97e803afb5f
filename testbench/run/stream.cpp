// SPDX-License-Identifier: MIT
#include "testbench/run/stream.h"

#include <algorithm>

#include "heddle/tlm/kernel/state_image.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

stream::stream(unsigned client, std::uint32_t number, const job& j, const device_job& device, host_driver& driver,
               cold_start& starts, sanitizer* checks)
    : client_(client), number_(number), job_(j), device_(device), driver_(driver), starts_(starts), checks_(checks) {
  compile(job_.operations);
}

void stream::compile(const std::vector<operation>& operations) {
  if (job_.in_order) steps_.reserve(operations.size());
  for (const operation& op : operations) {
    if ((op.stream != number_ || op.client != client_) && !job_.in_order) continue;
    if (op.what != operation::kind::repeat) {
      steps_.push_back({step::kind::run, &op});
      continue;
    }
    const std::size_t begin = steps_.size();
    steps_.push_back({step::kind::loop_begin, &op});
    compile(op.body);
    steps_.push_back({step::kind::loop_end, &op, begin});
  }
}

// In order, so that a stream of many launches asks for its oldest one only.
void stream::forget_finished() {
  while (!outstanding_.empty() && driver_.finished(outstanding_.front().number)) outstanding_.pop_front();
}

void stream::exchange(state_image& image, const std::vector<const operation*>& launches) {
  image.same(client_, "as a client's number");
  image.same(number_, "as a stream's number");
  image.same(steps_.size(), "steps of a stream");
  for (step& s : steps_) image(s.rounds);
  image(at_, wakes_at_);
  std::vector<unsigned> numbers;
  for (const launch& l : outstanding_) numbers.push_back(l.number);
  image(numbers);
  if (!image.reading()) return;
  outstanding_.clear();
  for (const unsigned number : numbers) outstanding_.push_back({number, launches.at(number)});
}

void stream::advance(std::uint64_t now, std::vector<unsigned>& launched) {
  wakes_at_ = ~std::uint64_t{0};
  forget_finished();
  while (at_ < steps_.size()) {
    step& s = steps_[at_];
    if (s.what == step::kind::loop_begin) {
      s.rounds = 1;
    } else if (s.what == step::kind::run && s.op->what == operation::kind::kernel) {
      if (now < device_.first_cycle(*s.op)) {
        wakes_at_ = device_.first_cycle(*s.op);
        return;
      }
      // So that few of many traces are open.
      if (s.op->recording && outstanding_.size() >= most_outstanding) return;
      if (!starts_.ready()) return;
      if (checks_ != nullptr) {
        sanitize::host_work w = next_work(*s.op);
        w.launch = static_cast<std::uint32_t>(launched.size());
        checks_->submits(w);
      }
      const unsigned number = driver_.launch(device_.request(*s.op));
      starts_.began(number);
      outstanding_.push_back({number, s.op});
      launched.push_back(s.op->position);
    } else {
      if (!outstanding_.empty()) return;
      order_.waits_for_all();
      if (s.what == step::kind::run) {
        if (checks_ != nullptr) transfer(*s.op);
        else host_operation(*s.op);
      } else if (repeats(s)) {
        ++steps_[s.begin].rounds;
        at_ = s.begin;
      }
    }
    ++at_;
  }
}

// Streams of different clients are different ones, whatever their numbers.
sanitize::host_work stream::next_work(const operation& op) {
  sanitize::host_work w = order_.add(std::uint64_t{op.client} << 32 | op.stream);
  if (op.client != 0)
    w.stream = "stream " + std::to_string(op.stream) + " of client '" + job_.clients[op.client - 1].name + "'";
  return w;
}

void stream::transfer(const operation& op) {
  sanitize::host_work w = next_work(op);
  w.what = op.what == operation::kind::memset ? "memset" : "copy";
  checks_->submits(w);
  checks_->transfers(true);
  host_operation(op);
  checks_->transfers(false);
  order_.waits_for_all();
}

void stream::host_operation(const operation& op) {
  if (op.what == operation::kind::synchronise) return;  // all earlier operations have ended
  const std::uint64_t to = device_.address(op.buffer) + op.offset;
  if (op.what == operation::kind::memset) {
    driver_.fill(to, op.byte, op.bytes);
    return;
  }
  std::vector<std::uint8_t> data(op.bytes);
  driver_.read(device_.address(op.from) + op.from_offset, data.data(), data.size());
  driver_.write(to, data.data(), data.size());
}

bool stream::repeats(const step& end) {
  const operation& op = *end.op;
  const bool last = steps_[end.begin].rounds >= op.max;
  if (op.while_nonzero.empty()) return !last;
  std::uint8_t flag[4] = {};
  driver_.read(device_.address(op.while_nonzero), flag, sizeof flag);
  const bool nonzero = std::any_of(std::begin(flag), std::end(flag), [](std::uint8_t b) { return b != 0; });
  if (nonzero && last) {
    message_log::warning(op.where + ": '" + op.while_nonzero + "' is still not zero after " + std::to_string(op.max) +
                         " rounds, the most that 'max' allows");
  }
  return nonzero && !last;
}

}  // namespace heddle::testbench
