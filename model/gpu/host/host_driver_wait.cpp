// SPDX-License-Identifier: MIT
// Reception of completions, faults, resets and printed text from the GPU, by interrupt or by polling.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_link.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/tlm/kernel/calling_process.h"
#include "heddle/tlm/kernel/has_process.h"

namespace heddle {

namespace {
constexpr std::uint64_t all_causes = host_interrupt::completion | host_interrupt::fault | host_interrupt::print |
                                     host_interrupt::flushed | host_interrupt::reset;
// Each wait is twice as long as the one before. After this many, only the interrupt counts, so that a simulation
// without activity ends.
constexpr unsigned most_retries = 20;
constexpr double pauses_to_warning = 1000;  // after so many times between two questions a driver says that it waits
}  // namespace

void host_driver::end_of_elaboration() {
  asks_ = irq.size() == 0;
  if (asks_) return;
  // Only now is it known whether irq is bound. It is a thread, since the path to the GPU may take time.
  HEDDLE_HAS_PROCESS(host_driver);
  SC_THREAD(serve_interrupts);
}

// Fetches the news after an interrupt. A cause raised after the clear raises the line again; an earlier one is found by
// the poll that follows.
void host_driver::serve_interrupts() {
  {
    const host_link::call call(*link_);
    link_->write_register(host_register::interrupt_enable, all_causes);
  }
  for (;;) {
    while (!irq->read()) wait(irq->value_changed_event());
    {
      const host_link::call call(*link_);
      link_->write_register(host_register::interrupt_pending, all_causes);
      if (!has_context_area_) note_resets();
      poll();
    }
    ++wakes_;
    progress_.notify(sc_core::SC_ZERO_TIME);
    // If another model forwards the line, it may fall late.
    if (irq->read()) wait(between_questions(), irq->value_changed_event());
  }
}

sc_core::sc_time host_driver::between_questions() const {
  return sc_core::sc_time(1000.0 / config_.gpu.core_clock_mhz, sc_core::SC_US);
}

void host_driver::poll() {
  while (const std::uint64_t n = link_->read_register(host_register::completion_take)) {
    finished_.resize(std::max<std::size_t>(finished_.size(), n), false);
    finished_[n - 1] = true;
  }
  take_prints();
}

void host_driver::take_prints() {
  std::string text;
  std::uint32_t client = 0;
  const auto give = [&] {
    if (text.empty()) return;
    if (print_observer_ != nullptr) print_observer_->printed_by(client, text);
    else SC_REPORT_INFO("/heddle/printf", text.c_str());
    text.clear();
  };
  while (const std::uint64_t waiting = link_->read_register(host_register::print_bytes)) {
    const auto by = static_cast<std::uint32_t>(link_->read_register(host_register::print_client));
    if (by != client) give();
    client = by;
    const std::size_t have = text.size(), n = std::min(waiting, host_register::print_size);
    text.resize(have + n);
    link_->access(tlm::TLM_READ_COMMAND, host_register::print, &text[have], n);
    link_->write_register(host_register::print_pop, n);
  }
  give();
}

// Before the driver has made anything on the GPU, a reset takes nothing from it but its interrupts.
void host_driver::note_resets() {
  const std::uint64_t resets = link_->read_register(host_register::resets);
  if (resets == known_resets_) return;
  known_resets_ = resets;
  link_->write_register(host_register::interrupt_pending, host_interrupt::reset);
  if (irq.size() != 0) link_->write_register(host_register::interrupt_enable, all_causes);
}

void host_driver::begin_context() {
  if (!has_context_area_) {
    await_reset();
    note_resets();
  }
  has_context_area_ = true;
}

// Of a GPU on which the driver has made nothing: a reset that others have begun, as when power comes, takes nothing
// from it. The thread keeps its place in the line of calls, so completions are not fetched meanwhile.
void host_driver::await_reset() {
  const sc_core::sc_time begin = sc_core::sc_time_stamp(), pause = between_questions();
  bool reported = false;
  for (unsigned tries = 0; !resetting_; ++tries) {
    const std::uint64_t status = link_->read_register(host_register::status);
    if ((status & host_status::resetting) == 0) return;
    if ((status & host_status::stuck) != 0) throw input_error(std::string(name()) + ": " + link_->message());
    if (!in_thread())
      throw input_error(std::string(name()) +
                        ": the GPU is in reset, expected a call in an SC_THREAD, which waits for the end, or after it");
    if (!reported && sc_core::sc_time_stamp() - begin >= pause * pauses_to_warning) {
      reported = true;
      SC_REPORT_WARNING("/heddle/driver", (std::string(name()) + ": waits for the end of the GPU's reset, which lasts "
                                                                 "while the line gpu.reset is high")
                                              .c_str());
    }
    if (irq.size() == 0) sc_core::wait(pause);
    else if (tries < most_retries) sc_core::wait(pause * static_cast<double>(1u << tries), irq->value_changed_event());
    else sc_core::wait(irq->value_changed_event());
  }
}

bool host_driver::has_lost_context() {
  return has_context_area_ && !resetting_ && link_->read_register(host_register::resets) != known_resets_;
}

void host_driver::refuse_lost_context() {
  if (has_lost_context()) report_lost_context();
}

void host_driver::report_lost_context() const {
  throw context_lost(std::string(name()) +
                     ": the context is lost: the GPU was reset by its pin or by another host, and what this driver had "
                     "on it is gone; expected recover()");
}

// During a reset the GPU refuses all commands. It may have ended before its status is read.
void host_driver::refuse_command() {
  const std::string why = link_->message();
  if (!resetting_ && (link_->read_register(host_register::status) & host_status::resetting) != 0) report_lost_context();
  refuse_lost_context();
  throw input_error(with_own_places(why));
}

bool reset(host_driver& driver, bool begin) {
  host_link& link = *driver.link_;
  const host_link::call call(link);
  if (begin) {
    link.write_register(host_register::reset, 1);
    if (link.read_register(host_register::error) != 0) throw input_error(link.message());
    driver.resetting_ = true;
  }
  if (!driver.resetting_) return false;
  if ((link.read_register(host_register::status) & host_status::resetting) != 0) return true;
  driver.resetting_ = false;
  driver.forget();
  driver.note_resets();
  ++driver.wakes_;
  driver.progress_.notify(sc_core::SC_ZERO_TIME);
  return false;
}

void recover(host_driver& driver) {
  if (!in_thread()) throw input_error("recover() waits for a reset: expected an SC_THREAD as the caller");
  for (bool begin = true; reset(driver, begin); begin = false) {
    if (const std::string why = driver.fault(); !why.empty()) throw input_error(why);
    sc_core::wait(driver.between_questions());
  }
}

// A caller that cannot wait for another call to end gets the last known state.
bool host_driver::finished(unsigned launch_number) {
  if (in_thread() || link_->free_here()) {
    const host_link::call call(*link_);
    poll();
    if (launch_number < finished_.size() && !finished_[launch_number]) refuse_lost_context();
  }
  return launch_number < finished_.size() && finished_[launch_number];
}

bool host_driver::flush_caches(bool begin) {
  const host_link::call call(*link_);
  if (begin) {
    if (!has_context_area_) await_reset();
    link_->write_register(host_register::flush_caches, 1);
    if (link_->read_register(host_register::error) != 0) refuse_command();
  }
  return (link_->read_register(host_register::status) & host_status::flushing) != 0;
}

// True if the GPU has a pending interrupt but irq is low.
bool host_driver::interrupt_is_missing() {
  const host_link::call call(*link_);
  return (link_->read_register(host_register::interrupt_pending) & all_causes) != 0 && !irq->read();
}

void host_driver::wait_for(unsigned launch_number) {
  if (!in_thread()) throw input_error("host_driver::wait_for waits: expected an SC_THREAD as the caller");
  if (launch_number >= finished_.size())
    throw input_error("launch " + std::to_string(launch_number) + " has not been made, so it cannot be waited for");
  unsigned retries = 0;
  for (;;) {
    const std::uint64_t wakes = wakes_;
    if (finished(launch_number) || !fault().empty()) return;
    if (wakes != wakes_) continue;  // an interrupt arrived during the accesses
    if (asks_) {
      wait(between_questions());
    } else if (retries == most_retries) {
      wait(progress_);
    } else {
      wait(between_questions() * static_cast<double>(1u << retries), progress_);
      if (wakes != wakes_) continue;
      ++retries;
      if (!interrupt_is_missing()) continue;
      // It may be delayed by an interrupt controller.
      wait(between_questions() * 10.0, progress_);
      if (wakes != wakes_ || asks_) continue;
      asks_ = true;
      SC_REPORT_WARNING("/heddle/driver",
                        (std::string(name()) + ": the GPU interrupts and irq does not rise, so it is polled instead; "
                                               "expected irq to follow gpu.irq")
                            .c_str());
    }
  }
}

std::string host_driver::fault() {
  if (!in_thread() && !link_->free_here()) return {};
  const host_link::call call(*link_);
  const std::uint64_t status = link_->read_register(host_register::status);
  const std::string text =
      status & (host_status::fault | host_status::stuck) ? with_own_places(link_->message()) : std::string();
  take_prints();
  return text;
}

}  // namespace heddle
