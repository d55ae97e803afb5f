// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "cluster_kernel.h"

namespace heddle::differential {

using words = std::vector<std::uint32_t>;

// Of a block's shared memory, in bytes: two buffers and the barriers.
constexpr unsigned buffer_bytes = 4 * buffer_words, barriers_at = 2 * buffer_bytes;
// Completed by: transactions; all threads of the block; all threads of the cluster; one thread of each of its blocks.
// Of the last two there are two each, used in turn: a block that is released arrives at those of others that are not
// yet.
enum barrier_use : unsigned { transactions, by_block, by_cluster, by_ranks = 4, barrier_count = 6 };

struct block_state {
  std::array<words, 2> buffer{words(buffer_words), words(buffer_words)};
  words copied = words(buffer_words), tile = words(tile_words), r0, r1;
};

inline std::string text_of(std::uint32_t n) { return std::to_string(n); }

/// Writes the frame of a kernel and what phases are made of, and holds what the phases have computed so far.
class cluster_writer {
 public:
  cluster_writer(std::uint64_t seed, const words& input) : random_(seed * 0x9e3779b97f4a7c15u + 7), input_(input) {}

 protected:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() >> 20) % n; }
  std::string one_of(std::initializer_list<const char*> all) {
    return all.begin()[pick(static_cast<unsigned>(all.size()))];
  }
  void line(const std::string& s) { k_.text += s + "\n"; }
  std::string label() { return "L" + text_of(labels_++); }
  [[nodiscard]] unsigned other() const { return 1 - current_; }
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t block) const { return block % k_.ranks; }
  /// The block of that rank in the block's cluster.
  block_state& peer(std::uint32_t block, std::uint32_t rank) {
    return blocks_[block - rank_of(block) + rank % k_.ranks];
  }
  template <class Use>
  void for_threads(Use use) {
    for (std::uint32_t b = 0; b < k_.blocks(); ++b)
      for (std::uint32_t t = 0; t < k_.threads; ++t) use(b, t, blocks_[b]);
  }
  std::string barrier(unsigned b) { return "[%sm+" + text_of(barriers_at + 8 * b) + "]"; }

  // %t0 = the shared address of the thread's word, of `size` words, in a buffer: another one for each thread if
  // `factor` is odd.
  struct thread_words {
    std::uint32_t factor, offset, mask, size;
    [[nodiscard]] std::uint32_t of(std::uint32_t t) const { return ((t * factor + offset) & mask) * size; }
  };
  thread_words own_words(std::uint32_t size) { return {2 * pick(64) + 1, pick(256), buffer_words / size - 1, size}; }
  void address(const thread_words& w, unsigned buffer) {
    line("mad.lo.u32 %t0, %thread, " + text_of(w.factor) + ", " + text_of(w.offset) + "; and.b32 %t0, %t0, " +
         text_of(w.mask) + "; mad.lo.u32 %t0, %t0, " + text_of(4 * w.size) + ", %sm; add.u32 %t0, %t0, " +
         text_of(buffer * buffer_bytes) + ";");
  }
  // %t2 = the address in the block whose rank is `distance` further.
  void of_peer(std::uint32_t distance, const std::string& address = "%t0", const std::string& result = "%t2") {
    line("add.u32 %t1, %rank, " + text_of(distance) + "; and.b32 %t1, %t1, " + text_of(k_.ranks - 1) +
         "; mapa.shared::cluster.u32 " + result + ", " + address + ", %t1;");
  }

  /// The kernel's head, and its buffers' first content.
  void begin();
  /// Its end, which writes all to memory, and what that must be.
  void end();
  /// Another operation on the thread's registers.
  void compute();

  // A thread of each block in the mask of ranks expects the bytes.
  void expect(std::uint32_t bytes, std::uint32_t mask = ~0u);
  // All threads of the blocks in the mask wait, which is in %p3.
  void wait_for_transactions();
  // %t4 = the address of that barrier in the block whose rank is `distance` further.
  void barrier_of_peer(std::uint32_t distance);
  // One thread goes on to the text until finish_one().
  void begin_one();
  void finish_one() { line(after_one_ + ":"); }
  // Ends begin_one() when the copies of its thread to memory are complete.
  void finish_group();

  // A barrier of all threads of the cluster.
  void synchronise();
  // The same without an arrival that it needs.
  void lose_an_arrival();

  std::mt19937_64 random_;
  const words& input_;
  cluster_kernel k_;
  std::vector<block_state> blocks_;
  std::array<unsigned, barrier_count> rounds_{};
  std::string after_one_;
  unsigned current_ = 0, labels_ = 0;

 private:
  std::string wait_form(const std::string& scope);
  void delay();
  void gather_block();
  void arrive_of_one(barrier_use b, const std::string& count);
  void arrive_at_all(barrier_use b, const std::string& count);
  void wait_for(barrier_use b);

  std::string hint_;  // a time limit for the wait
};

}  // namespace heddle::differential
