// SPDX-License-Identifier: MIT
#include "testbench/run/host_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/kernel/state_image.h"
#include "testbench/live/pause_request.h"

namespace heddle::testbench {

host_program::host_program(sc_core::sc_module_name name, host_driver& driver, const core_time& clock, bool cold)
    : sc_module(name), driver_(driver), clock_(clock), starts_(driver, cold) {
  HEDDLE_HAS_PROCESS(host_program);
  SC_THREAD(run);
}

namespace {

void add_kernels(const std::vector<operation>& operations, std::map<unsigned, const operation*>& by_position) {
  for (const operation& op : operations) {
    if (op.what == operation::kind::kernel) by_position[op.position] = &op;
    add_kernels(op.body, by_position);
  }
}

}  // namespace

void host_program::start(const job& j, const device_job& device, sanitizer* checks) {
  make_streams(j, device, checks);
  start_.notify(sc_core::SC_ZERO_TIME);
}

void host_program::go_on(const job& j, const device_job& device, state_image& image) {
  make_streams(j, device, nullptr);
  exchange(image);
  start_.notify(sc_core::SC_ZERO_TIME);
}

void host_program::exchange(state_image& image) {
  image.part(name());
  image(positions_, next_preemption_, starts_);
  const std::vector<const operation*> launches = launched();
  for (stream& s : streams_) s.exchange(image, launches);
}

std::vector<const operation*> host_program::launched() const {
  std::map<unsigned, const operation*> by_position;
  add_kernels(job_->operations, by_position);
  std::vector<const operation*> launches;
  for (const unsigned position : positions_) {
    const auto at = by_position.find(position);
    if (at == by_position.end()) throw state_error("the job has no launch " + std::to_string(position));
    launches.push_back(at->second);
  }
  return launches;
}

void host_program::make_streams(const job& j, const device_job& device, sanitizer* checks) {
  job_ = &j;
  std::set<std::pair<unsigned, std::uint32_t>> all;  // client and number
  for (const operation& op : j.operations) all.insert({op.client, op.stream});
  if (j.in_order) all = {{0, 0}};
  streams_.reserve(all.size());
  const auto other = [&j](const operation& op) {
    return op.stream != j.operations.front().stream || op.client != j.operations.front().client;
  };
  if (checks != nullptr && std::any_of(j.operations.begin(), j.operations.end(), other)) checks->several_streams();
  for (const auto& [client, number] : all) streams_.emplace_back(client, number, j, device, driver_, starts_, checks);
  preemptions_ = j.preemptions;
}

void host_program::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

const operation* host_program::waiting_for() const {
  for (const stream& s : streams_) {
    if (s.waiting_for()) return s.waiting_for();
  }
  return nullptr;
}

void host_program::run() {
  wait(start_);
  try {
    run_streams();
  } catch (const std::exception&) {
    error_ = std::current_exception();
  }
  ended_ = true;
  pause_request::make();
}

// Requests the preemptions whose cycle has been reached.
void host_program::preempt(std::uint64_t now) {
  for (; next_preemption_ < preemptions_.size() && preemptions_[next_preemption_].at_cycle <= now; ++next_preemption_) {
    const preemption& p = preemptions_[next_preemption_];
    driver_.preempt(p.sms, p.mode, p.resume_after);
  }
}

void host_program::run_streams() {
  const auto check_fault = [this] {
    const std::string fault = driver_.fault();
    if (!fault.empty()) throw program_error(fault);
  };
  for (;;) {
    check_fault();  // no launch is accepted after it
    std::uint64_t wake = ~std::uint64_t{0};
    bool done = true;
    for (stream& s : streams_) {
      s.advance(clock_.cycle(), positions_);
      wake = std::min(wake, s.wakes_at());
      done = done && s.done();
    }
    check_fault();
    if (done) return;
    preempt(clock_.cycle());
    if (next_preemption_ < preemptions_.size()) wake = std::min(wake, preemptions_[next_preemption_].at_cycle);
    if (wake == ~std::uint64_t{0}) {
      wait(driver_.progress_event());
    } else {
      wait(clock_.time_of(wake) - sc_core::sc_time_stamp(), driver_.progress_event());
    }
  }
}

}  // namespace heddle::testbench
