// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/dram_channel.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"

namespace heddle {

namespace {
constexpr std::uint8_t claimed = 1;
constexpr std::uint8_t reserved = 2;
}  // namespace

dram_channel::dram_channel(sc_core::sc_module_name name, clock_domain& dram_clock, const gpu_config& config,
                           unsigned index)
    : memory_model(name, dram_clock, config, index, config.dram.queue_entries),
      parameters_(config.dram),
      request_latency_(config.dram.controller_latency_cycles / 2),
      response_latency_(config.dram.controller_latency_cycles - request_latency_),
      banks_(config.dram.banks),
      wanted_(config.dram.banks),
      hits_(config.dram.banks) {
  if (parameters_.banks == 0) throw input_error("dram.banks must be at least 1");
  if (parameters_.bytes_per_cycle == 0 || parameters_.burst_bytes == 0 || parameters_.row_bytes == 0)
    throw input_error("dram.bytes_per_cycle, dram.burst_bytes and dram.row_bytes must be at least 1");
  if (parameters_.t_refi_cycles != 0 && parameters_.t_rfc_cycles >= parameters_.t_refi_cycles)
    throw input_error("dram.t_rfc_cycles must be less than dram.t_refi_cycles");
  data_cycles_ = (parameters_.burst_bytes + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle;
  column_interval_ = std::max<cycle_t>(parameters_.t_ccd_cycles, data_cycles_);
  queue_.reserve(std::max(1u, parameters_.queue_entries));
  // Channels refresh at staggered times, as controllers do to limit the supply current. With simultaneous refreshes, a
  // chain of dependent loads would synchronize with them.
  if (parameters_.t_refi_cycles != 0)
    next_refresh_ = parameters_.t_refi_cycles + cycle_t{index} * parameters_.t_refi_cycles / config.memory.channels;
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
  entry e;
  e.payload = &p;
  e.ready = arrival + request_latency_;
  const std::uint64_t local = local_address(p);
  e.bank = bank_of(local);
  e.row = row_of(local);
  e.bursts = bursts_of(p);
  e.write = p.is_write();
  e.launch = launch_of(p);
  if (queue_.empty()) work_since_ = std::max(work_since_, e.ready);
  queue_.push_back(e);
}

cycle_t dram_channel::unloaded_cycles(const tlm::tlm_generic_payload& p) const {
  return 1 + request_latency_ + parameters_.t_rcd_cycles +
         (p.is_write() ? parameters_.t_wl_cycles : parameters_.t_cl_cycles) + (bursts_of(p) - 1) * column_interval_ +
         data_cycles_ + response_latency_;
}

cycle_t dram_channel::work(cycle_t now) {
  if (queue_.empty()) return never;
  if (now >= next_refresh_) refresh(now);
  // Back-pressure on the response port limits how far the channel works ahead.
  if (answers_waiting() >= std::max(1u, parameters_.queue_entries)) {
    work_since_ = std::max(work_since_, now + 1);
    return now + 1;
  }
  // If no command could issue at the last attempt, none can before the cycle found then, unless more requests become
  // ready or the oldest starts to starve.
  const std::size_t known = ready_;
  admit_ready(now);
  const bool starving = queue_.front().ready + starvation_cycles < now;
  if (ready_ != known || now >= quiet_until_ || starving != quiet_starving_) {
    const choice c = choose(starving, now);
    if (c.what != command::none) {
      quiet_until_ = 0;
      issue(c, now);
      return queue_.empty() ? never : now + 1;
    }
    quiet_until_ = c.next;
    quiet_starving_ = starving;
  }
  const cycle_t next_ready = ready_ < queue_.size() ? queue_[ready_].ready : never;  // later entries arrived later
  return std::min({quiet_until_, next_ready, next_refresh_});
}

void dram_channel::refresh(cycle_t now) {
  quiet_until_ = 0;
  // The channel may have slept through several refreshes: each but the last ended before the next began.
  const cycle_t missed = (now - next_refresh_) / parameters_.t_refi_cycles;
  const cycle_t last = next_refresh_ + missed * parameters_.t_refi_cycles;
  refreshes_ += missed + 1;
  cycle_t start = last;
  bool any_open = false;
  for (const bank_state& b : banks_) {
    if (b.open) start = std::max(start, b.precharge_at);
    start = std::max(start, b.open ? start : b.activate_at);
    any_open = any_open || b.open;
  }
  // If several refreshes were missed, the first of them has closed all rows already.
  if (any_open && missed == 0) start += parameters_.t_rp_cycles;
  for (bank_state& b : banks_) {
    b.open = false;
    b.activate_at = start + parameters_.t_rfc_cycles;
  }
  open_banks_ = 0;
  for (std::size_t i = 0; i < ready_; ++i) queue_[i].hit = false;
  std::fill(hits_.begin(), hits_.end(), 0u);
  all_hits_ = 0;
  refresh_from_ = last;
  refresh_until_ = start + parameters_.t_rfc_cycles;
  next_refresh_ = last + parameters_.t_refi_cycles;
}

cycle_t dram_channel::column_earliest(const entry& e) const {
  return std::max(banks_[e.bank].column_at, e.write ? write_at_ : read_at_);
}

void dram_channel::consider(choice& best, command what, std::size_t index, cycle_t earliest, cycle_t now) const {
  if (earliest > now) {
    best.next = std::min(best.next, earliest);
  } else if (best.what == command::none || what < best.what) {
    // Column before activate before precharge. Entries are considered in order of arrival, so the oldest of a kind
    // wins.
    best.what = what;
    best.index = index;
  }
}

// Considers the next command of the oldest request, whatever other requests need.
void dram_channel::consider_oldest(choice& best, cycle_t now) const {
  const entry& e = queue_.front();
  const bank_state& b = banks_[e.bank];
  if (!b.open) consider(best, command::activate, 0, std::max(b.activate_at, activate_at_), now);
  else if (b.row != e.row) consider(best, command::precharge, 0, b.precharge_at, now);
  else consider(best, command::column, 0, column_earliest(e), now);
}

// Lets requests take part in scheduling from the cycle in which they are ready. They become ready in order of arrival,
// since the controller's request latency is the same for all.
void dram_channel::admit_ready(cycle_t now) {
  for (; ready_ < queue_.size() && queue_[ready_].ready <= now; ++ready_) {
    entry& e = queue_[ready_];
    e.hit = banks_[e.bank].open && banks_[e.bank].row == e.row;
    hits_[e.bank] += e.hit;
    all_hits_ += e.hit;
  }
}

// Updates the row hits of a bank whose open row has changed.
void dram_channel::find_hits(unsigned bank) {
  all_hits_ -= hits_[bank];
  hits_[bank] = 0;
  for (std::size_t i = 0; i < ready_; ++i) {
    entry& e = queue_[i];
    if (e.bank != bank) continue;
    e.hit = banks_[bank].open && banks_[bank].row == e.row;
    hits_[bank] += e.hit;
  }
  all_hits_ += hits_[bank];
}

dram_channel::choice dram_channel::choose(bool starving, cycle_t now) {
  choice best;
  std::fill(wanted_.begin(), wanted_.end(), std::uint8_t{0});
  const entry& oldest = queue_.front();
  // While the oldest request waits for its next command, its bank is reserved for it, and so is the direction of the
  // data bus once its row is open.
  bool barred[2] = {false, false};  // column commands of reads, of writes
  if (starving) {
    consider_oldest(best, now);
    if (best.what != command::none) return best;
    wanted_[oldest.bank] = claimed | reserved;
    const bank_state& b = banks_[oldest.bank];
    barred[!oldest.write] = b.open && b.row == oldest.row;
  }
  choose_column(best, barred, now);
  if (best.what == command::none && ready_ != all_hits_) choose_row(best, now);
  return best;
}

// Considers column commands, which have priority over all others; the oldest goes first.
void dram_channel::choose_column(choice& best, const bool (&barred)[2], cycle_t now) const {
  if (all_hits_ == 0) return;
  const cycle_t bus = std::min(read_at_, write_at_);
  if (bus > now) {
    best.next = std::min(best.next, bus);
    return;
  }
  for (std::size_t i = 0; i < ready_; ++i) {
    const entry& e = queue_[i];
    if (!e.hit || (wanted_[e.bank] & reserved) != 0 || barred[e.write]) continue;
    consider(best, command::column, i, column_earliest(e), now);
    if (best.what == command::column) return;
  }
}

// Considers, for each bank's oldest request without a row hit, opening its row or closing one that no ready request
// hits.
void dram_channel::choose_row(choice& best, cycle_t now) {
  std::size_t left = ready_ - all_hits_;
  for (std::size_t i = 0; left != 0 && best.what != command::activate; ++i) {
    const entry& e = queue_[i];
    if (e.hit) continue;
    --left;
    if ((wanted_[e.bank] & claimed) != 0) continue;
    wanted_[e.bank] |= claimed;
    const bank_state& b = banks_[e.bank];
    if (!b.open) consider(best, command::activate, i, std::max(b.activate_at, activate_at_), now);
    else if (hits_[e.bank] == 0) consider(best, command::precharge, i, b.precharge_at, now);
  }
}

void dram_channel::issue(const choice& c, cycle_t now) {
  if (c.what == command::column) {
    issue_column(c.index, now);
    return;
  }
  entry& e = queue_[c.index];
  bank_state& b = banks_[e.bank];
  if (c.what == command::precharge) {
    b.open = false;
    b.activate_at = now + parameters_.t_rp_cycles;
    --open_banks_;
    find_hits(e.bank);
    return;
  }
  b.open = true;
  b.row = e.row;
  b.column_at = now + parameters_.t_rcd_cycles;
  b.precharge_at = now + parameters_.t_ras_cycles;
  activate_at_ = now + parameters_.t_rrd_cycles;
  e.activated = true;
  find_hits(e.bank);
  ++open_banks_;
  ++counters_of(e.launch).activates;
}

void dram_channel::issue_column(std::size_t index, cycle_t now) {
  const entry e = queue_[index];
  bank_state& b = banks_[e.bank];
  account_gap(e, now);
  memory_counters& c = counters_of(e.launch);
  ++(e.activated ? c.row_misses : c.row_hits);
  ++(e.activated ? row_misses_ : row_hits_);
  c.busy_cycles += data_cycles_ * e.bursts;
  // All bursts of a request follow one another: their column commands are decided with the first.
  const cycle_t last = now + (e.bursts - 1) * column_interval_;
  cycle_t end;
  if (e.write) {
    end = last + parameters_.t_wl_cycles + data_cycles_;
    write_at_ = last + column_interval_;
    read_at_ = std::max(read_at_, end + parameters_.t_wtr_cycles);
    b.precharge_at = std::max(b.precharge_at, end + parameters_.t_wr_cycles);
  } else {
    end = last + parameters_.t_cl_cycles + data_cycles_;
    read_at_ = last + column_interval_;
    // One idle cycle on the data bus between read and write data.
    const cycle_t turn = end + 1 > parameters_.t_wl_cycles ? end + 1 - parameters_.t_wl_cycles : 0;
    write_at_ = std::max(last + column_interval_, turn);
    b.precharge_at = std::max(b.precharge_at, last + parameters_.t_rtp_cycles);
  }
  bus_end_ = end;
  answered_at_ = std::max(answered_at_, end + response_latency_);
  answer(*e.payload, answered_at_);
  leave(now);
  --hits_[e.bank];
  --all_hits_;
  --ready_;
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!queue_.empty()) work_since_ = std::max(work_since_, queue_.front().ready);
}

// Attributes the idle cycles of the data bus from bus_end_ to the first burst of this request, whose column command
// issues now. Each cycle has one reason. Times of commands are shifted by the command's latency to compare them with
// times of data.
void dram_channel::account_gap(const entry& e, cycle_t now) {
  const cycle_t latency = e.write ? parameters_.t_wl_cycles : parameters_.t_cl_cycles;
  const cycle_t to = now + latency;
  const cycle_t gap = to - bus_end_;
  const auto overlap = [&](cycle_t from, cycle_t until) {  // of the gap with an interval of command times
    const cycle_t first = std::max(from + latency, bus_end_);
    const cycle_t last = std::min(until + latency, to);
    return last > first ? last - first : 0;
  };
  const cycle_t idle = overlap(0, work_since_) + (bus_end_ < latency ? std::min(gap, latency - bus_end_) : 0);
  const cycle_t refresh = overlap(std::max(refresh_from_, work_since_), refresh_until_);
  const cycle_t column = e.write ? write_at_ : read_at_;
  const cycle_t turnaround = std::min(overlap(work_since_, column), gap - idle - refresh);
  memory_counters& c = counters_of(e.launch);
  if (e.launch == last_launch_) {
    c.idle_cycles += idle;
    c.refresh_cycles += refresh;
    c.turnaround_cycles += turnaround;
    c.row_cycles += gap - idle - refresh - turnaround;
  } else {
    between_launches_ += gap;
  }
  last_launch_ = e.launch;
  c.turnaround_cycles += (e.bursts - 1) * (column_interval_ - data_cycles_);
}

void dram_channel::trace(sc_core::sc_trace_file* file) const {
  memory_model::trace(file);
  const std::string base = name();
  sc_core::sc_trace(file, open_banks_, base + ".open_banks");
  sc_core::sc_trace(file, row_hits_, base + ".row_hits");
  sc_core::sc_trace(file, row_misses_, base + ".row_misses");
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
