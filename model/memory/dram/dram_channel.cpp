// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/dram_channel.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"

namespace heddle {

dram_channel::dram_channel(sc_core::sc_module_name name, clock_domain& dram_clock, const gpu_config& config,
                           unsigned index)
    : memory_model(name, dram_clock, config, index, config.dram.queue_entries),
      parameters_(config.dram),
      request_latency_(config.dram.controller_latency_cycles / 2),
      response_latency_(config.dram.controller_latency_cycles - request_latency_),
      timing_(config.dram),
      queue_(config.dram, timing_),
      index_in_memory_(index),
      channels_(config.memory.channels),
      close_at_(config.dram.banks, never) {
  if (parameters_.banks == 0) throw input_error("dram.banks must be at least 1");
  if (parameters_.bytes_per_cycle == 0 || parameters_.burst_bytes == 0 || parameters_.row_bytes == 0)
    throw input_error("dram.bytes_per_cycle, dram.burst_bytes and dram.row_bytes must be at least 1");
  if (parameters_.t_refi_cycles != 0 && parameters_.t_rfc_cycles >= parameters_.t_refi_cycles)
    throw input_error("dram.t_rfc_cycles must be less than dram.t_refi_cycles");
  data_cycles_ = times_of(parameters_)[static_cast<unsigned>(dram_time::bl)];
  use(make_dram_scheduler(parameters_));
  use(make_row_policy(parameters_));
  use(make_refresh_policy(parameters_));
}

// Channels refresh at staggered times, as controllers do to limit the supply current. With simultaneous refreshes, a
// chain of dependent loads would synchronize with them.
void dram_channel::use(std::unique_ptr<refresh_policy> policy) {
  refresh_policy_ = std::move(policy);
  const cycle_t interval = refresh_policy_->interval();
  next_refresh_ = interval != 0 ? interval + index_in_memory_ * interval / channels_ : never;
}

unsigned dram_channel::bank_of(std::uint64_t local_address) const {
  const std::uint64_t block = local_address / parameters_.row_bytes;
  return static_cast<unsigned>((block + block / parameters_.banks) % parameters_.banks);
}

std::uint64_t dram_channel::row_of(std::uint64_t local_address) const {
  return local_address / parameters_.row_bytes / parameters_.banks;
}

unsigned dram_channel::bursts_of(const tlm::tlm_generic_payload& p) const {
  const std::uint64_t local = local_address(p);
  const std::uint64_t first = local / parameters_.burst_bytes;
  const std::uint64_t last = (local + std::max(1u, p.get_data_length()) - 1) / parameters_.burst_bytes;
  return static_cast<unsigned>(last - first + 1);
}

void dram_channel::enter(tlm::tlm_generic_payload& p, cycle_t arrival) {
  dram_request r;
  r.payload = &p;
  r.ready = arrival + request_latency_;
  const std::uint64_t local = local_address(p);
  r.bank = bank_of(local);
  r.row = row_of(local);
  r.bursts = bursts_of(p);
  r.write = p.is_write();
  r.launch = launch_of(p);
  if (queue_.empty()) work_since_ = std::max(work_since_, r.ready);
  queue_.push(r);
}

cycle_t dram_channel::unloaded_cycles(const tlm::tlm_generic_payload& p) const {
  return 1 + request_latency_ + parameters_.t_rcd_cycles +
         (p.is_write() ? parameters_.t_wl_cycles : parameters_.t_cl_cycles) +
         (bursts_of(p) - 1) * timing_.burst_interval() + data_cycles_ + response_latency_;
}

cycle_t dram_channel::work(cycle_t now) {
  if (queue_.empty()) return never;
  if (idle_) catch_up(now);
  if (now >= next_refresh_ && refreshing_ == no_bank) begin_refresh(now);
  // Back-pressure on the response port limits how far the channel works ahead.
  if (answers_waiting() >= std::max(1u, parameters_.queue_entries)) {
    work_since_ = std::max(work_since_, now + 1);
    return now + 1;
  }
  // If no command could issue at the last attempt, none can before the cycle found then, unless more requests become
  // ready or the oldest starts to starve.
  const std::size_t known = queue_.ready();
  queue_.admit(now);
  if (refreshing_ != no_bank && continue_refresh(now)) return now + 1;
  const bool starving = parameters_.starvation_cycles != 0 && queue_[0].ready + parameters_.starvation_cycles < now;
  if (queue_.ready() != known || now >= quiet_until_ || starving != quiet_starving_) {
    queue_.set_starving(starving);
    const dram_choice c = scheduler_->select(queue_, now);
    if (c.request != dram_choice::none) {
      quiet_until_ = 0;
      issue_next(c.request, now);
      return queue_.empty() ? never : now + 1;
    }
    quiet_until_ = c.next;
    quiet_starving_ = starving;
  }
  if (now >= next_close_ && close_row(now)) return now + 1;
  const cycle_t of_refresh =
      refreshing_ == no_bank
          ? next_refresh_
          : timing_.earliest(queue_.is_open(refreshing_) ? dram_command::pre : dram_command::refpb, refreshing_);
  return std::min({quiet_until_, queue_.next_ready(), of_refresh, next_close_});
}

void dram_channel::issue(dram_command c, unsigned bank, cycle_t cycle) {
  timing_.issue(c, bank, cycle);
  last_command_ = std::max(last_command_, cycle);
  if (observer_ != nullptr) observer_->issued(c, bank, queue_.row(bank), cycle);
}

void dram_channel::issue_next(std::size_t index, cycle_t now) {
  invariant(index < queue_.ready(), "dram: the scheduler chose a ready request");
  dram_request& r = queue_.at(index);
  const dram_command c = queue_.next(r);
  invariant(timing_.earliest(c, r.bank) <= now, "dram: the scheduler chose a command that may issue");
  if (c == dram_command::act) activate(r, now);
  else if (c == dram_command::pre) precharge(r.bank, now);
  else issue_column(index, now);
}

void dram_channel::activate(dram_request& r, cycle_t now) {
  queue_.open(r.bank, r.row);
  issue(dram_command::act, r.bank, now);
  r.activated = true;
  ++counters_of(r.launch).activates;
}

void dram_channel::precharge(unsigned bank, cycle_t cycle) {
  issue(dram_command::pre, bank, cycle);
  close_at_[bank] = never;
  queue_.close(bank);
}

void dram_channel::issue_column(std::size_t index, cycle_t now) {
  const unsigned bursts = parameters_.bank_groups > 1 ? 1 : queue_[index].bursts;
  account_gap(queue_[index], bursts, now);
  dram_request& r = queue_.at(index);
  memory_counters& c = counters_of(r.launch);
  if (!r.started) {
    ++(r.activated ? c.row_misses : c.row_hits);
    ++(r.activated ? row_misses_ : row_hits_);
  }
  r.started = true;
  c.busy_cycles += data_cycles_ * bursts;
  r.bursts -= bursts;
  const unsigned bank = r.bank;
  const bool write = r.write;
  const cycle_t last = now + (bursts - 1) * timing_.burst_interval();
  bus_end_ = last + (write ? parameters_.t_wl_cycles : parameters_.t_cl_cycles) + data_cycles_;
  if (r.bursts == 0) {
    answered_at_ = std::max(answered_at_, bus_end_ + response_latency_);
    answer(*r.payload, answered_at_);
    leave(now);
    queue_.erase(index);
    idle_ = queue_.empty();
    if (!queue_.empty()) work_since_ = std::max(work_since_, queue_[0].ready);
  }
  const bool closes = close_after(bank, last);
  const dram_command plain = write ? dram_command::wr : dram_command::rd;
  if (observer_ != nullptr)
    for (cycle_t at = now; at < last; at += timing_.burst_interval())
      observer_->issued(plain, bank, queue_.row(bank), at);
  issue(closes ? (write ? dram_command::wra : dram_command::rda) : plain, bank, last);
  if (!closes) return;
  timing_.issue(dram_command::pre, bank, timing_.earliest(dram_command::pre, bank));
  queue_.close(bank);
}

// Asks the row policy when to close the row after its column command in cycle `last`. Returns whether with the command.
bool dram_channel::close_after(unsigned bank, cycle_t last) {
  close_at_[bank] = never;
  if (queue_.hits(bank) != 0) return false;
  const cycle_t at = row_policy_->close_at(bank, last);
  if (at <= last) return true;
  close_at_[bank] = at;
  next_close_ = std::min(next_close_, at);
  return false;
}

// Closes a row that is due and that no ready request needs, if one may be closed in this cycle; and finds when
// the next may be.
bool dram_channel::close_row(cycle_t now) {
  bool closed = false;
  next_close_ = never;
  for (unsigned bank = 0; bank < close_at_.size(); ++bank) {
    if (close_at_[bank] == never || queue_.hits(bank) != 0) continue;
    const cycle_t at = std::max(close_at_[bank], timing_.earliest(dram_command::pre, bank));
    if (at > now || closed) {
      next_close_ = std::min(next_close_, std::max(at, now + 1));
      continue;
    }
    closed = true;
    quiet_until_ = 0;
    precharge(bank, now);
  }
  return closed;
}

// What happened while there was no request: rows were closed, and banks refreshed one by one. (refresh_all() accounts
// for missed refreshes of all banks.)
void dram_channel::catch_up(cycle_t now) {
  idle_ = false;
  if (refreshing_ != no_bank && refresh_before(now, refreshing_, refresh_due_)) refreshing_ = no_bank;
  const cycle_t until = refreshing_ == no_bank ? std::min(now, next_refresh_) : 0;
  while (std::max(next_close_, last_command_ + 1) < until) close_row(std::max(next_close_, last_command_ + 1));
  if (next_refresh_ < now && refreshing_ == no_bank && refresh_policy_->bank(refreshes_) != refresh_policy::all_banks)
    skip_refreshes(now);
}

// Refreshes of single banks that were over before this cycle. Each bank's last one is enough.
void dram_channel::skip_refreshes(cycle_t now) {
  const cycle_t interval = refresh_policy_->interval();
  const cycle_t due = (now - next_refresh_) / interval;
  const cycle_t skipped = due > parameters_.banks ? due - parameters_.banks : 0;
  refreshes_ += skipped;
  next_refresh_ += skipped * interval;
  while (next_refresh_ < now) {
    const unsigned bank = refresh_policy_->bank(refreshes_);
    timing_.reserve(bank);
    if (!refresh_before(now, bank, next_refresh_)) {
      refreshing_ = bank;
      refresh_due_ = next_refresh_;
      queue_.hold_back(bank);
    }
    next_refresh_ += interval;
    if (refreshing_ != no_bank) return;
  }
}

// Refreshes a reserved bank in the past, if its refresh issued before this cycle.
bool dram_channel::refresh_before(cycle_t now, unsigned bank, cycle_t due) {
  const bool open = queue_.is_open(bank);
  cycle_t at = std::max(due, last_command_ + 1);
  const cycle_t close = std::max(at, timing_.earliest(dram_command::pre, bank));
  if (open) at = std::max(close + parameters_.t_rp_cycles, close + 1);
  at = std::max(at, timing_.earliest(dram_command::refpb, bank));
  if (at >= now) return false;
  if (open) precharge(bank, close);
  refreshed(bank, due, at);
  return true;
}

void dram_channel::begin_refresh(cycle_t now) {
  quiet_until_ = 0;
  const unsigned bank = refresh_policy_->bank(refreshes_);
  if (bank == refresh_policy::all_banks) {
    refresh_all(now);
    return;
  }
  invariant(bank < parameters_.banks, "dram: the refresh policy names a bank");
  refreshing_ = bank;
  refresh_due_ = next_refresh_;
  next_refresh_ += refresh_policy_->interval();
  timing_.reserve(bank);
  queue_.hold_back(bank);
}

// Closes the bank that is to be refreshed, or refreshes it. Returns whether a command issued.
bool dram_channel::continue_refresh(cycle_t now) {
  const unsigned bank = refreshing_;
  const bool open = queue_.is_open(bank);
  if (timing_.earliest(open ? dram_command::pre : dram_command::refpb, bank) > now) return false;
  quiet_until_ = 0;
  if (open) {
    precharge(bank, now);
    return true;
  }
  refreshed(bank, refresh_due_, now);
  refreshing_ = no_bank;
  return true;
}

void dram_channel::refreshed(unsigned bank, cycle_t from, cycle_t cycle) {
  issue(dram_command::refpb, bank, cycle);
  ++refreshes_;
  refreshed_bank_ = bank;
  refresh_from_ = from;
  refresh_until_ = cycle + parameters_.t_rfc_pb_cycles;
}

// The channel may have slept through several refreshes. The first of them closes all rows; each but the last is over
// before the next is due.
void dram_channel::refresh_all(cycle_t now) {
  const cycle_t interval = refresh_policy_->interval();
  const cycle_t missed = (now - next_refresh_) / interval;
  const cycle_t last = next_refresh_ + missed * interval;
  refreshes_ += missed + 1;
  const bool open = queue_.open_banks() != 0;
  cycle_t start = open ? next_refresh_ : last;
  for (unsigned bank = 0; bank < timing_.banks(); ++bank)
    start = std::max(start, timing_.earliest(queue_.is_open(bank) ? dram_command::pre : dram_command::refab, bank));
  if (open) {
    issue(dram_command::prea, 0, start);
    start += parameters_.t_rp_cycles;
  }
  queue_.close_all();
  std::fill(close_at_.begin(), close_at_.end(), never);
  issue(dram_command::refab, 0, start);
  if (open && missed != 0) {
    start = std::max(last, timing_.earliest(dram_command::refab, 0));
    issue(dram_command::refab, 0, start);
  }
  refreshed_bank_ = refresh_policy::all_banks;
  refresh_from_ = last;
  refresh_until_ = start + parameters_.t_rfc_cycles;
  next_refresh_ = last + interval;
}

// Attributes the idle cycles of the data bus from bus_end_ to the first burst of this request, whose column command
// issues now. Each cycle has one reason. Times of commands are shifted by the command's latency to compare them with
// times of data.
void dram_channel::account_gap(const dram_request& r, unsigned bursts, cycle_t now) {
  const cycle_t latency = r.write ? parameters_.t_wl_cycles : parameters_.t_cl_cycles;
  const cycle_t to = now + latency;
  const cycle_t gap = to - bus_end_;
  const auto overlap = [&](cycle_t from, cycle_t until) {  // of the gap with an interval of command times
    const cycle_t first = std::max(from + latency, bus_end_);
    const cycle_t last = std::min(until + latency, to);
    return last > first ? last - first : 0;
  };
  const cycle_t idle = overlap(0, work_since_) + (bus_end_ < latency ? std::min(gap, latency - bus_end_) : 0);
  const bool was_refreshed = refreshed_bank_ == refresh_policy::all_banks || refreshed_bank_ == r.bank;
  const cycle_t refresh = was_refreshed ? overlap(std::max(refresh_from_, work_since_), refresh_until_) : 0;
  const cycle_t column = timing_.beyond_bank(r.write ? dram_command::wr : dram_command::rd, r.bank);
  const cycle_t turnaround = std::min(overlap(work_since_, column), gap - idle - refresh);
  memory_counters& c = counters_of(r.launch);
  if (r.launch == last_launch_) {
    c.idle_cycles += idle;
    c.refresh_cycles += refresh;
    c.turnaround_cycles += turnaround;
    c.row_cycles += gap - idle - refresh - turnaround;
  } else {
    between_launches_ += gap;
  }
  last_launch_ = r.launch;
  c.turnaround_cycles += (bursts - 1) * (timing_.burst_interval() - data_cycles_);
}

void dram_channel::trace(sc_core::sc_trace_file* file) const {
  memory_model::trace(file);
  const std::string base = name();
  sc_core::sc_trace(file, queue_.open_banks(), base + ".open_banks");
  sc_core::sc_trace(file, row_hits_, base + ".row_hits");
  sc_core::sc_trace(file, row_misses_, base + ".row_misses");
}

void dram_channel::exchange(state_image& image) {
  exchange_common(image);
  image(timing_, queue_, *scheduler_, *row_policy_, *refresh_policy_);
  image(quiet_until_, quiet_starving_, idle_, last_command_);
  image.each(close_at_);
  image(next_close_, next_refresh_, refreshing_, refresh_due_, refreshed_bank_, refresh_from_, refresh_until_);
  image(refreshes_, bus_end_, work_since_, last_launch_, between_launches_, answered_at_, row_hits_, row_misses_);
}

void dram_channel::check_invariants() const {
  memory_model::check_invariants();
  cycle_t bus = between_launches_;
  for (std::uint32_t launch = 0; launch < counters().end(); ++launch) {
    const memory_counters* c = counters().find(launch);
    if (c == nullptr) continue;
    bus += c->busy_cycles + c->idle_cycles + c->refresh_cycles + c->turnaround_cycles + c->row_cycles;
    if (!idle()) continue;
    invariant(c->activates >= c->row_misses, "dram: every row miss has an activate");
  }
  invariant(bus == bus_end_, "dram: the data bus's cycles have one reason each");
}

}  // namespace heddle
