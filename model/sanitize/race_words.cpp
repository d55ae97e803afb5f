// SPDX-License-Identifier: MIT
// Words of global memory that lanes access one by one, far apart, each with a mark of its own: plain accesses and
// atomics as long as what orders them is seen at once. If not, the word's cell has all marks, and tells (word_marks.h).
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"

namespace heddle::sanitize {

// False: the words need cells.
bool race_check::access_words(const current& c, unsigned lane) {
  const watched_access& a = *c.access;
  if (!uses_words_) return false;
  const shadow_pages::marks words = global_.words(a.addresses[lane], a.bytes);
  if (words.first == nullptr) return false;
  const word_mark own = word_mark::of(c.mark, lane);
  for (unsigned k = 0; k * words.bytes < a.bytes; ++k) {
    word_mark& word = words.first[k];
    if (word.number == 0) {
      word = own;
      continue;
    }
    const bool done = c.mark.is(access_mark::strong) ? write_strong(c, word, own)
                      : c.mark.is(access_mark::writes)
                          ? write_word(c, word, own)
                          : read_word(c, word, own, a.addresses[lane] + 4 * k, words.bytes);
    if (!done) return false;
  }
  return true;
}

// The access is of this thread, or a barrier orders it.
bool race_check::is_before(const current& c, const word_mark& m, const word_mark& own) const {
  if (m.warp != own.warp) return m.warp - c.first_warp < warps_per_block_ && m.number <= c.block_sync;
  if (!independent_) return m.number != now_;
  return m.lane() == own.lane() || m.number <= c.warp_sync || m.number <= c.block_sync;
}

bool race_check::of_two_blocks(const word_mark& word) {
  const std::uint32_t block = word.warp / warps_per_block_;
  return !global_.lists().each_earlier(word, [&](const word_mark& m) { return m.warp / warps_per_block_ == block; });
}

bool race_check::read_word(const current& c, word_mark& word, const word_mark& own, std::uint64_t address,
                           unsigned bytes) {
  word_lists& lists = global_.lists();
  if (!word.is(access_mark::writes)) {
    if (word.is(access_mark::crowded)) return true;
    if (word.warp == own.warp && word.what == own.what && word.number > c.last_release) return true;
    if (is_before(c, word, own)) {
      const std::uint32_t list = word.list;
      word = own;
      word.list = list;
      return true;
    }
    if ((word.list & word_mark::has_write) != 0) return false;
    if (word.count() == few_reads) {
      if (keeps_all_ || !of_two_blocks(word)) return false;
      word.what |= access_mark::crowded;
      if (bytes == 4) global_.set_crowded(address, true);
      return true;
    }
  } else if (!is_before(c, word, own)) {
    return false;
  }
  if (lists.is_full()) return false;
  lists.push(word, own);
  ++kept_;
  return true;
}

// Takes the place of all that comes before it.
bool race_check::write_word(const current& c, word_mark& word, word_mark own) {
  if (word.number == now_ && word.warp == own.warp) return false;
  bool marks = false;
  const auto before = [&](const word_mark& m) {
    if (!is_before(c, m, own)) return false;
    const bool own_read = !m.is(access_mark::writes) && m.warp == own.warp && m.lane() == own.lane();
    marks = marks || (own_read && marks_with(c, m.mark()));
    return true;
  };
  word_lists& lists = global_.lists();
  if (!before(word) || !lists.each_earlier(word, before)) return false;
  kept_ -= std::min<std::uint64_t>(kept_, word.count());
  lists.drop(word);
  if (marks) own.what |= access_mark::marking;
  word = own;
  return true;
}

// Atomics do not race with each other, unless their scope is a block and they are of two.
bool race_check::write_strong(const current& c, word_mark& word, const word_mark& own) {
  if (!word.is(access_mark::strong)) return write_word(c, word, own);
  if (word.number == now_ && word.warp == own.warp) return true;
  const bool narrow = word.is(access_mark::of_block) || own.is(access_mark::of_block);
  if (narrow && word.warp - c.first_warp >= warps_per_block_) return false;
  word = own;
  return true;
}

}  // namespace heddle::sanitize
