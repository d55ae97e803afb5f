// SPDX-License-Identifier: MIT
// Words of global memory that lanes access one by one, far apart, each with a mark of its own: plain accesses and
// atomics as long as what orders them is seen at once. If not, the word's cell has all marks, and tells (word_marks.h).
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"

namespace heddle::sanitize {

// The usual cases, which need neither clocks nor lists: the word was last accessed by this thread. False: read_word()
// and write_word() tell.
inline bool race_check::passes_own(const current& c, word_mark& word, const word_mark& own) {
  if (word.warp != own.warp) return false;
  const auto of_thread = [&](const word_mark& m) { return m.warp == own.warp && m.lane() == own.lane(); };
  if (own.is(access_mark::writes)) {
    // A store may be a mark of what the thread has read, free() is none.
    if (!of_thread(word) || word.number == now_ || !(word.is(access_mark::writes) || c.frees)) return false;
    if (own.is(access_mark::strong) && !word.is(access_mark::strong)) return false;  // it would be hidden
    if (word.list != 0) {
      if (!global_.lists().each_earlier(word, of_thread)) return false;
      global_.lists().drop(word);
    }
    word = own;
    return true;
  }
  if (!word.is(access_mark::writes)) return word.what == own.what && word.number > c.last_release;
  if (!of_thread(word) || word.number == now_ || global_.lists().is_full()) return false;
  global_.lists().push(word, own);
  return true;
}

// False: the words need cells.
bool race_check::access_words(const current& c, unsigned lane) {
  const watched_access& a = *c.access;
  if (!uses_words_) return false;
  const shadow_pages::marks words = global_.words(a.addresses[lane], a.bytes);
  return words.first != nullptr && access_words(c, lane, words);
}

// The same of a lane of the last uncrowded() that accesses one word.
bool race_check::access_word(const current& c, unsigned lane) {
  const watched_access& a = *c.access;
  const shadow_pages::marks word = global_.words_of(lane, a.addresses[lane], a.bytes);
  return word.first != nullptr && word.bytes == a.bytes && access_words(c, lane, word);
}

bool race_check::access_words(const current& c, unsigned lane, const shadow_pages::marks& words) {
  const watched_access& a = *c.access;
  const word_mark own = word_mark::of(c.mark, lane);
  for (unsigned k = 0; k * words.bytes < a.bytes; ++k) {
    word_mark& word = words.first[k];
    if (word.number == 0) {
      word = own;
      continue;
    }
    if (passes_own(c, word, own)) continue;
    if ((reads_strong_ || keeps_many_) && own.is(access_mark::writes))
      global_.set_crowded(a.addresses[lane] + k * words.bytes, false);
    const bool done = c.mark.is(access_mark::writes)
                          ? write_word(c, word, own, a.addresses[lane] + k * words.bytes, words.bytes)
                          : read_word(c, word, own, a.addresses[lane] + k * words.bytes, words.bytes);
    if (!done) return false;
  }
  return true;
}

// The access is of this thread, a barrier orders it, or what the thread has acquired.
bool race_check::is_before(const current& c, const word_mark& m, const word_mark& own) const {
  if (m.warp == own.warp) {
    if (!independent_) return m.number != now_;
    if (m.lane() == own.lane() || m.number <= c.warp_sync || m.number <= c.block_sync) return true;
  } else if (m.warp - c.first_warp < warps_per_block_ && m.number <= c.block_sync) {
    return true;
  }
  if (m.warp - c.first_warp >= warps_per_block_ && !orders_blocks()) return false;
  return c.at->clock->knows(c.warp) && c.at->clock->ordered(m.mark(), c.warp, own.lane());
}

// Whether the reads of the word are of two blocks; `weak`: those that are not strong.
bool race_check::of_two_blocks(const word_mark& word, bool weak) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t block = none;
  const auto joins = [&](const word_mark& m) {
    if (weak && m.is(access_mark::strong)) return true;
    if (block == none) block = m.warp / warps_per_block_;
    return m.warp / warps_per_block_ == block;
  };
  return !joins(word) || !global_.lists().each_earlier(word, joins);
}

bool race_check::read_word(const current& c, word_mark& word, const word_mark& own, std::uint64_t address,
                           unsigned bytes) {
  word_lists& lists = global_.lists();
  if (!word.is(access_mark::writes)) {
    if (word.is(access_mark::crowded)) return true;
    if (word.warp == own.warp && word.what == own.what && word.number > c.last_release) return true;
    // A strong read does not stand for a weak one.
    if (is_before(c, word, own) && (word.is(access_mark::strong) || !own.is(access_mark::strong))) {
      const std::uint32_t list = word.list;
      word = own;
      word.list = list;
      return true;
    }
    if ((word.list & word_mark::has_write) != 0) {
      if (word.count() >= few_reads || !is_before(c, lists.oldest(word), own)) return false;
    } else if (is_seen_by_two(c, word, own)) {
      return true;
    } else if (keeps_many_) {
      if (word.count() >= most_reads && c.at->clock->knows(c.warp)) drop_earlier(c, word, own);
      if (word.number == 0) {
        word = own;
        return true;
      }
      if (word.count() >= most_reads) return replace_read(word, own, address, bytes);
    } else if (word.count() >= (bytes == 4 ? few_reads : few_of_byte) &&
               of_two_blocks(word, reads_strong_ && !own.is(access_mark::strong))) {
      if (own.is(access_mark::strong)) {
        if (bytes == 4) global_.set_crowded_for_strong(address);
        return true;
      }
      crowd(word, address, bytes);
      return true;
    } else if (word.count() >= few_reads) {
      return false;
    }
  } else if (!is_before(c, word, own)) {
    return false;
  }
  if (lists.is_full()) return false;
  const bool of_two = word.warp / warps_per_block_ != own.warp / warps_per_block_;
  lists.push(word, own);
  const bool only_reads = (word.list & word_mark::has_write) == 0,
             enough = word.count() >= (bytes == 4 ? few_reads : few_of_byte);
  if (of_two && only_reads && enough && !keeps_many_ && !reads_strong_) crowd(word, address, bytes);
  return true;
}

// No more reads of the word, or byte, need be kept.
void race_check::crowd(word_mark& word, std::uint64_t address, unsigned bytes) {
  word.what |= access_mark::crowded;
  if (bytes == 4) global_.set_crowded(address, true);
  else global_.set_crowded_byte(address);
}

// The last two reads tell of all writes that would conflict with this one (two_warps).
bool race_check::is_seen_by_two(const current& c, const word_mark& word, const word_mark& own) {
  if (word.count() == 0) return false;
  two_warps seen(*this, c, own.is(access_mark::strong));
  seen.with(word);
  return seen.has_one() && seen.with(global_.lists().at(word.earlier()));  // which is elsewhere in the host's memory
}

// Drops the reads that come before this one.
void race_check::drop_earlier(const current& c, word_mark& word, const word_mark& own) {
  global_.lists().drop_if(word, [&](const word_mark& m) {
    return is_before(c, m, own) && (m.is(access_mark::strong) || !own.is(access_mark::strong));
  });
}

// Usually the last one: the others lie far apart in the host's memory. Most further reads are not checked.
bool race_check::replace_read(word_mark& word, word_mark own, std::uint64_t address, unsigned bytes) {
  word_mark* victim = &word;
  if (any_of(8) == 0)
    for (std::size_t k = now_ / 16 % (word.count() + 1); k != 0; --k) victim = &global_.lists().at(victim->earlier());
  if (own.is(access_mark::strong)) {
    if (!victim->is(access_mark::strong)) return true;
  } else if (bytes == 4) {
    global_.set_crowded(address, true);
  } else {
    global_.set_crowded_byte(address);
  }
  own.list = victim->list;
  *victim = own;
  return true;
}

// Of two lanes that store in one instruction.
bool race_check::same_value_as(const current& c, unsigned lane, unsigned other, std::uint64_t address,
                               unsigned bytes) const {
  for (unsigned k = 0; k < bytes; ++k)
    if (new_byte(c, lane, address + k) != new_byte(c, other, address + k)) return false;
  return true;
}

// Takes the place of all that comes before it. Atomics do not race with each other, nor with volatile accesses, unless
// their scope is a block and they are of two; nor do stores of one value.
bool race_check::write_word(const current& c, word_mark& word, word_mark own, std::uint64_t address, unsigned bytes) {
  const bool strong = own.is(access_mark::strong), plain = !strong && isa::is_store(c.access->instruction.op);
  if (word.number == now_ && word.warp == own.warp)
    return strong || (plain && same_value_as(c, own.lane(), word.lane(), address, bytes));
  const bool storing = !c.frees;
  bool marks = false;
  const auto passes = [&](const word_mark& m) {
    if (strong && m.is(access_mark::strong)) {
      const bool narrow = m.is(access_mark::of_block) || own.is(access_mark::of_block);
      if (!narrow || m.warp - c.first_warp < warps_per_block_) return true;
    }
    if (strong && m.is(access_mark::writes) && !m.is(access_mark::strong)) return false;
    if (!is_before(c, m, own)) return plain && m.is(access_mark::writes) && same_value(c, own.lane(), address, bytes);
    const bool own_read = storing && !m.is(access_mark::writes) && m.warp == own.warp && m.lane() == own.lane();
    marks = marks || (own_read && marks_with(c, m.mark()));
    return true;
  };
  word_lists& lists = global_.lists();
  if (!passes(word) || !lists.each_earlier(word, passes)) return false;
  lists.drop(word);
  if (marks) own.what |= access_mark::marking;
  word = own;
  return true;
}

void race_check::frees(const watched_step& s, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
  ++now_;
  std::uint64_t addresses[isa::warp_size] = {};
  watched_access a{s};
  a.global = s.mask;
  a.addresses = addresses;
  current c = start(a);
  c.mark.what |= access_mark::writes;
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const std::uint64_t page_end = std::min(end, (at / shadow_pages::page_bytes + 1) * shadow_pages::page_bytes);
    if (!global_.has_page(at)) at = page_end;
    for (; at < page_end; at += a.bytes) {
      constexpr std::uint64_t most = shadow_segment::bytes;
      addresses[lane] = at;
      a.bytes = static_cast<unsigned>(std::min(page_end - at, most - at % most));
      if (!access_words(c, lane)) access_lane(c, lane);
    }
  }
}

}  // namespace heddle::sanitize
