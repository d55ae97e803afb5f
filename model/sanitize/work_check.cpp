// SPDX-License-Identifier: MIT
#include "heddle/sanitize/work_check.h"

#include <algorithm>

#include "heddle/sanitize/sanitize_kinds.h"

namespace heddle::sanitize {

namespace {

constexpr std::uint64_t page_bytes = shadow_pages::page_bytes;

bool covers(const work_clock& clock, const host_work& w) {
  const auto known = clock.find(w.key);
  return w.number == 0 || (known != clock.end() && known->second >= w.number);
}

bool comes_after(const host_work& after, const host_work& before) {
  return after.number == 0 || covers(after.before, before);
}

}  // namespace

void work_check::submitted(std::uint32_t launch) {
  if (used_) submitted_[launch] = next_;
  next_ = {};
}

// What the host has waited for need not be kept: all later operations come after it.
std::uint32_t work_check::add(work w) {
  if (std::all_of(works_.begin(), works_.end(), [&](const work& x) { return covers(w.order.host, x.order); })) {
    works_.clear();
    pages_.clear();
  }
  works_.push_back(std::move(w));
  return static_cast<std::uint32_t>(works_.size() - 1);
}

bool work_check::ordered(const access& before, const access& after) const {
  if (before.work == none || before.work == after.work || (before.bytes & after.bytes) == 0) return true;
  constexpr std::uint32_t strong = access_mark::strong, narrow = access_mark::of_block;
  if ((before.what & after.what & strong) != 0 && ((before.what | after.what) & narrow) == 0) return true;
  return comes_after(works_[after.work].order, works_[before.work].order);
}

void work_check::touch(cell& c, const access& a, std::uint64_t address) {
  if (!ordered(c.write, a)) report(c.write, a, address);
  if (a.writes) {
    for (access& r : c.reads) {
      if (!ordered(r, a)) report(r, a, address);
      r = {};
    }
    const std::uint8_t before = c.write.work == a.work ? c.write.bytes : 0;
    c.write = a;
    c.write.bytes |= before;
    return;
  }
  for (access& r : c.reads)
    if (r.work == none || r.work == a.work || comes_after(works_[a.work].order, works_[r.work].order)) {
      const std::uint8_t before = r.work == a.work ? r.bytes : 0;
      r = a;
      r.bytes |= before;
      return;
    }
}

void work_check::access_word(std::uint64_t address, const access& a) {
  page& p = pages_[address / page_bytes];
  if (p.cells.empty()) p.cells.assign(page_bytes / 4, p.all);
  touch(p.cells[address % page_bytes / 4], a, address);
}

void work_check::ends(const resident_launch& launch, const shadow_pages& memory) {
  const auto found = submitted_.find(launch.launch_id);
  if (!used_ || found == submitted_.end()) return;
  work w;
  w.order = found->second;
  w.program = launch.program;
  w.grid = launch.grid;
  w.block = launch.block;
  submitted_.erase(found);
  const std::uint32_t number = add(std::move(w));
  memory.each([&](std::uint64_t address, unsigned bytes, const shadow_cell& c) {
    const auto own = [&](const access_mark& m, bool writes) {
      if (m.number == 0) return;
      access a;
      a.work = number;
      a.warp = m.warp;
      a.what = m.what;
      a.lane = static_cast<std::uint8_t>(__builtin_ctz(m.lanes));
      a.bytes = static_cast<std::uint8_t>(((1u << bytes) - 1) << address % 4);
      a.writes = writes;
      access_word(address / 4 * 4, a);
    };
    own(c.read, false);
    own(c.write, true);
  });
}

void work_check::transfers(bool now) {
  transfer_ = none;
  if (!now || !used_) return;
  work w;
  w.order = next_;
  transfer_ = add(std::move(w));
}

void work_check::host_accesses(std::uint64_t address, std::uint64_t bytes, bool writes) {
  if (transfer_ == none) return;
  access a;
  a.work = transfer_;
  a.writes = writes;
  for (std::uint64_t at = address; at < address + bytes;) {
    page* const p = at % page_bytes == 0 && at + page_bytes <= address + bytes ? &pages_[at / page_bytes] : nullptr;
    if (p != nullptr) {
      a.bytes = 15;
      if (p->cells.empty()) touch(p->all, a, at);
      else
        for (std::size_t k = 0; k < p->cells.size(); ++k) touch(p->cells[k], a, at + 4 * k);
      at += page_bytes;
      continue;
    }
    const std::uint64_t word = at / 4 * 4, end = std::min(word + 4, address + bytes);
    a.bytes = static_cast<std::uint8_t>(((1u << (end - at)) - 1) << at % 4);
    access_word(word, a);
    at = end;
  }
}

void work_check::forget(std::uint64_t address, std::uint64_t bytes) {
  if (pages_.empty()) return;
  for (std::uint64_t at = address / page_bytes; at <= (address + bytes) / page_bytes; ++at) pages_.erase(at);
}

std::string work_check::place_of(const access& a) const {
  const work& w = works_[a.work];
  if (!w.program) return w.order.what;
  return place_in_source(*w.program, w.program->code[a.what & access_mark::index_mask]);
}

std::string work_check::text_of(const access& a) const {
  const work& w = works_[a.work];
  const std::string stream =
      ", in " + (w.order.stream.empty() ? "stream " + std::to_string(w.order.key) : w.order.stream);
  const std::string what = (a.what & access_mark::atomic) != 0 ? "atomic" : a.writes ? "write" : "read";
  if (!w.program) return w.order.what + stream + ": " + what;
  simt::launch_context l;
  l.grid = w.grid;
  l.block = w.block;
  const std::uint32_t warps = l.warps_per_block();
  return "launch " + std::to_string(w.order.launch) + " of kernel '" + w.program->kernel + "'" + stream + ": " + what +
         " by " + thread_text(l, a.warp / warps, a.warp % warps * isa::warp_size + a.lane) + ", at " + place_of(a);
}

void work_check::report(const access& before, const access& after, std::uint64_t address) {
  const work &first = works_[before.work], &second = works_[after.work];
  const auto index = [](const access& a) { return a.what & access_mark::index_mask; };
  const auto unit = static_cast<unsigned>(6 + before.writes + 2 * after.writes + (first.program ? 4 : 0));
  const isa::program* const program = second.program ? second.program.get() : first.program.get();
  if (!found_.counts({sanitize_kind::races, program, index(after), index(before), unit})) return;
  finding f;
  f.kind = sanitize_kind::races;
  f.place = place_of(after);
  f.kernel = second.program ? second.program->kernel : "";
  f.launch = second.order.launch;
  f.what = std::string("race between operations of two streams: ") + (after.writes ? "write" : "read") +
           " of global memory at " + hexadecimal(address) + " and a " + (before.writes ? "write" : "read") +
           " that nothing orders";
  f.details.push_back(text_of(after));
  f.details.push_back(text_of(before));
  f.details.emplace_back("no event and no wait of the host lies between them");
  found_.add(std::move(f));
}

}  // namespace heddle::sanitize
