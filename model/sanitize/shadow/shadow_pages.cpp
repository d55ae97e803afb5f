// SPDX-License-Identifier: MIT
#include "heddle/sanitize/shadow/shadow_pages.h"

#include <algorithm>
#include <memory>
#include <new>

namespace heddle::sanitize {

void shadow_pages::find(std::uint64_t number, recent_region& r) {
  std::unique_ptr<region>& pages = regions_[number];
  if (!pages) pages = std::make_unique<region>();
  r = {number, pages.get()};
}

later_reads* shadow_pages::take_reads() {
  if (!free_reads_.empty()) {
    later_reads* const last = free_reads_.back();
    free_reads_.pop_back();
    return last;
  }
  if (reads_used_ == reads_.size() * reads_at_once) reads_.push_back(memory_.take_array<later_reads>(reads_at_once));
  later_reads* const place = reads_.back() + reads_used_++ % reads_at_once;
  return new (place) later_reads;
}

void shadow_pages::give_back(shadow_segment& s) {
  if (s.more_reads == nullptr) return;
  s.more_reads->clear();
  free_reads_.push_back(s.more_reads);
  s.more_reads = nullptr;
}

void shadow_pages::drop_reads() {
  for (std::size_t k = 0; k < reads_used_; ++k) std::destroy_at(reads_[k / reads_at_once] + k % reads_at_once);
  reads_.clear();
  free_reads_.clear();
  reads_used_ = 0;
}

void shadow_pages::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    if (!has_page(at)) {
      at = (at / page_bytes + 1) * page_bytes;
      continue;
    }
    const std::uint64_t next = std::min(end, (at / shadow_segment::bytes + 1) * shadow_segment::bytes);
    forget(page_of(at), at % page_bytes, next - at);
    at = next;
  }
}

// Bytes of a segment, from offset `first` of the page.
void shadow_pages::forget(page_marks& p, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t number = first / shadow_segment::bytes, end = first + bytes;
  for (std::uint64_t at = first; p.crowds && at < end; at += 4) p.uncrowd(at / 4);
  const bool words = p.words_scattered[number];
  if (words || p.bytes_scattered[number]) {
    for (std::uint64_t at = first; at < end; at += words ? 4 : 1) {
      word_mark& word = words ? p.words[at / 4] : p.bytes[at];
      if (word.list != 0) lists_.drop(word);
      word = {};
    }
    return;
  }
  if (!p.divided[number]) {
    if (p.of_segments == nullptr) return;
    if (bytes == shadow_segment::bytes) {
      give_back(p.of_segments[number]);
      p.of_segments[number] = {};
      return;
    }
    divide(p, number);
  }
  for (std::uint64_t at = first; at < end; at += p.cells->bytes_per_cell()) p.cells->at(at) = {};
}

// Marks for the words of a segment, or for its bytes. False: the marks it has cannot be divided so.
bool shadow_pages::scatter(page_marks& p, std::uint64_t number, unsigned bytes) {
  const bool words = bytes >= 4;
  if (p.of_segments != nullptr) {
    const shadow_segment& s = p.of_segments[number];
    const std::size_t more = s.more_reads ? s.more_reads->size() : 0;
    const auto fits = [](const access_mark& m) {
      return m.index() < word_mark::most_instructions && !m.is(access_mark::copying);
    };
    if (s.write.number != 0 || s.read.number != 0 || more != 0) {
      if (!words || s.is_fine() || more + 2 > word_lists::most_earlier || lists_.is_full()) return false;
      if (!fits(s.write) || !fits(s.read)) return false;
      if (more != 0 && !std::all_of(s.more_reads->begin(), s.more_reads->end(), fits)) return false;
    }
  }
  if (words) {
    if (p.words == nullptr) p.words = memory_.take_array<word_mark>(page_bytes / 4);
    p.words_scattered.set(number);
    if (p.of_segments != nullptr) scatter_marks(p, number);
  } else {
    if (p.bytes == nullptr) p.bytes = memory_.take_array<word_mark>(page_bytes);
    p.bytes_scattered.set(number);
  }
  return true;
}

void shadow_pages::scatter_marks(page_marks& p, std::uint64_t number) {
  shadow_segment& s = p.of_segments[number];
  for (unsigned k = 0; k < words_per_segment; ++k) {
    word_mark& word = p.words[number * words_per_segment + k];
    const auto add = [&](const access_mark& m) {
      const access_mark own = shadow_segment::at(m, 4 * k);
      if (own.number == 0) return;
      const word_mark last = word_mark::of(own, static_cast<unsigned>(__builtin_ctz(own.lanes)));
      if (word.number == 0) word = last;
      else lists_.push(word, last);
    };
    add(s.write);
    add(s.read);
    if (s.more_reads) std::for_each(s.more_reads->begin(), s.more_reads->end(), add);
  }
  give_back(s);
}

void shadow_pages::divide(page_marks& p, std::uint64_t number) {
  if (!p.cells) p.cells = std::make_unique<shadow_cells>(page_bytes);
  p.divided.set(number);
  if (p.words_scattered[number] || p.bytes_scattered[number]) return divide_marks(p, number);
  if (p.of_segments == nullptr) return;
  shadow_segment& s = p.of_segments[number];
  const std::uint64_t begin = number * shadow_segment::bytes;
  if (s.is_fine()) p.cells->divide();
  const unsigned step = p.cells->bytes_per_cell();
  for (unsigned k = 0; k < shadow_segment::bytes; k += step) {
    shadow_cell& cell = p.cells->at(begin + k);
    cell.write = shadow_segment::at(s.write, k);
    cell.read = shadow_segment::at(s.read, k);
    if (!s.more_reads) continue;
    for (const access_mark& m : *s.more_reads) {
      const access_mark own = shadow_segment::at(m, k);
      if (own.number == 0) continue;
      if (cell.read.number == 0) cell.read = own;
      else p.cells->add_read(cell, own);
    }
  }
  give_back(s);
}

void shadow_pages::divide_marks(page_marks& p, std::uint64_t number) {
  const bool words = p.words_scattered[number];
  if (!words) p.cells->divide();
  p.words_scattered.reset(number);
  p.bytes_scattered.reset(number);
  const unsigned step = p.cells->bytes_per_cell();
  const std::uint64_t begin = number * shadow_segment::bytes;
  for (std::uint64_t at = begin; at < begin + shadow_segment::bytes; at += step) {
    const word_mark& word = words ? p.words[at / 4] : p.bytes[at];
    shadow_cell& cell = p.cells->at(at);
    cell = cell_of(word);
    const sequence first = cell.read.number;
    const auto add = [&](const word_mark& m) {
      if (!m.is(access_mark::writes) && m.number != first) p.cells->add_read(cell, m.mark());
      return true;
    };
    add(word);
    lists_.each_earlier(word, add);
  }
  for (std::uint64_t at = begin; at < begin + shadow_segment::bytes; at += words ? 4 : 1) {
    word_mark& word = words ? p.words[at / 4] : p.bytes[at];
    lists_.drop(word);
    word = {};
  }
}

// The last write, and the first of the reads, with the lanes that read in the same instruction.
shadow_cell shadow_pages::cell_of(const word_mark& word) const {
  shadow_cell cell;
  const auto add = [&](const word_mark& m) {
    const access_mark own = m.mark();
    if (own.number == 0) return true;
    if (own.is(access_mark::writes)) {
      cell.write = own;
    } else if (cell.read.number == own.number && cell.read.warp == own.warp) {
      cell.read.lanes |= own.lanes;
    } else {
      cell.read = own;
    }
    return true;
  };
  add(word);
  lists_.each_earlier(word, add);
  if (!word.is(access_mark::writes) && word.is(access_mark::crowded)) cell.read.what |= access_mark::crowded;
  return cell;
}

}  // namespace heddle::sanitize
