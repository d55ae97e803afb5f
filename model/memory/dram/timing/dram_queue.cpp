// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/timing/dram_queue.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

dram_queue::dram_queue(const dram_parameters& parameters, const dram_timing& timing)
    : timing_(timing), banks_(parameters.banks) {
  entries_.reserve(std::max(1u, parameters.queue_entries));
}

void dram_queue::admit(cycle_t now) {
  for (; ready_ < entries_.size() && entries_[ready_].ready <= now; ++ready_) {
    dram_request& r = entries_[ready_];
    r.hit = hits_now(r);
    banks_[r.bank].hits += r.hit;
    all_hits_ += r.hit;
  }
}

// Updates the row hits of a bank whose open row has changed.
void dram_queue::find_hits(unsigned bank) {
  bank_state& b = banks_[bank];
  all_hits_ -= b.hits;
  b.hits = 0;
  for (std::size_t i = 0; i < ready_; ++i) {
    dram_request& r = entries_[i];
    if (r.bank != bank) continue;
    r.hit = hits_now(r);
    b.hits += r.hit;
  }
  all_hits_ += b.hits;
}

void dram_queue::open(unsigned bank, std::uint64_t row) {
  bank_state& b = banks_[bank];
  b.open = true;
  b.row = row;
  ++open_banks_;
  find_hits(bank);
}

void dram_queue::close(unsigned bank) {
  bank_state& b = banks_[bank];
  b.open = false;
  b.held_back = false;
  --open_banks_;
  find_hits(bank);
}

void dram_queue::close_all() {
  for (bank_state& b : banks_) {
    b.open = false;
    b.held_back = false;
    b.hits = 0;
  }
  for (std::size_t i = 0; i < ready_; ++i) entries_[i].hit = false;
  all_hits_ = 0;
  open_banks_ = 0;
}

void dram_queue::hold_back(unsigned bank) {
  banks_[bank].held_back = banks_[bank].open;
  find_hits(bank);
}

void dram_queue::erase(std::size_t i) {
  const dram_request& r = entries_[i];
  banks_[r.bank].hits -= r.hit;
  all_hits_ -= r.hit;
  --ready_;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
}

void dram_queue::exchange(state_image& image) {
  image.each(banks_);
  image(entries_, ready_, all_hits_, open_banks_, starving_);
}

}  // namespace heddle
