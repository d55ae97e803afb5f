// SPDX-License-Identifier: MIT
#include "cluster_kernel.h"

#include <algorithm>

#include "cluster_writer.h"

namespace heddle::differential {

namespace {

std::uint32_t reduced(const std::string& operation, std::uint32_t a, std::uint32_t b) {
  if (operation == "add.u32" || operation == "add.s32") return a + b;
  if (operation == "min.u32") return std::min(a, b);
  if (operation == "max.u32") return std::max(a, b);
  if (operation == "min.s32") return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
  if (operation == "max.s32") return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? a : b;
  if (operation == "and.b32") return a & b;
  if (operation == "or.b32") return a | b;
  return a ^ b;
}

/// Writes the text and computes the result of each phase. A phase reads the current buffers and writes the other ones;
/// no two threads of it write one word, but by reductions.
class cluster_generator : private cluster_writer {
 public:
  using cluster_writer::cluster_writer;

  cluster_kernel make() {
    k_.ranks = 1u << pick(4);
    k_.threads = 32u << pick(3);
    k_.clusters = 1 + pick(2);
    k_.deadlocks = pick(40) == 0;
    k_.sums.assign(sum_words, 0);
    blocks_.resize(k_.blocks());
    begin();
    for (unsigned left = 3 + pick(10); left != 0; --left) {
      phase();
      synchronise();
      if (pick(4) != 0) current_ = 1 - current_;
    }
    if (k_.deadlocks) lose_an_arrival();
    end();
    return std::move(k_);
  }

 private:
  void phase() {
    switch (pick(11)) {
      case 0: return compute();
      case 1: return gather();
      case 2: return scatter();
      case 3: return reduce();
      case 4: return exchange();
      case 5: return store_asynchronously();
      case 6: return reduce_asynchronously();
      case 7: return copy_between_blocks();
      case 8: return copy_from_memory();
      case 9: return copy_to_memory();
      default: return pick(3) != 0 ? load_tensor() : store_tensor();
    }
  }

  void gather() {
    const std::uint32_t size = 1u << pick(3), distance = pick(k_.ranks), last = size - 1;
    const thread_words w{pick(64), pick(256), buffer_words / size - 1, size};
    address(w, current_);
    if (pick(3) == 0) {
      line("cvt.u64.u32 %d0, %t0; cvta.shared.u64 %d0, %d0; add.u32 %t1, %rank, " + text_of(distance) +
           "; and.b32 %t1, %t1, " + text_of(k_.ranks - 1) + "; mapa.u64 %d1, %d0, %t1; ld.u32 %t4, [%d1+" +
           text_of(4 * last) + "];");
    } else {
      of_peer(distance);
      if (size == 1) line("ld.shared::cluster.u32 %t4, [%t2];");
      if (size == 2) line("ld.shared::cluster.v2.u32 {%t5, %t4}, [%t2];");
      if (size == 4) line("ld.shared::cluster.v4.u32 {%t5, %t6, %t7, %t4}, [%t2];");
    }
    line("xor.b32 %r0, %r0, %t4;");
    for_threads([&](std::uint32_t b, std::uint32_t t, block_state& s) {
      s.r0[t] ^= peer(b, rank_of(b) + distance).buffer[current_][w.of(t) + last];
    });
  }

  void scatter() {
    const std::uint32_t size = k_.threads > 64 ? 1u << pick(2) : 1u << pick(3), distance = pick(k_.ranks);
    const thread_words w = own_words(size);
    address(w, other());
    of_peer(distance);
    if (size == 1) line("st.shared::cluster.u32 [%t2], %r0;");
    if (size == 2) line("st.shared::cluster.v2.u32 [%t2], {%r0, %r1};");
    if (size == 4) line("st.shared::cluster.v4.u32 [%t2], {%r0, %r1, %thread, %r0};");
    put(w, distance);
  }

  /// The thread's words are r0, r1, its number, r0.
  void put(const thread_words& w, std::uint32_t distance) {
    for_threads([&](std::uint32_t b, std::uint32_t t, block_state& s) {
      const std::uint32_t all[] = {s.r0[t], s.r1[t], t, s.r0[t]};
      std::copy_n(all, w.size, peer(b, rank_of(b) + distance).buffer[other()].begin() + w.of(t));
    });
  }

  std::string reduction() {
    return one_of({"add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"});
  }
  void reduce_words(const thread_words& w, std::uint32_t distance, const std::string& operation) {
    for_threads([&](std::uint32_t b, std::uint32_t t, block_state& s) {
      std::uint32_t& word = peer(b, rank_of(b) + distance).buffer[other()][w.of(t)];
      word = reduced(operation, word, s.r0[t]);
    });
  }

  void reduce() {
    const std::string operation = reduction();
    const std::uint32_t distance = pick(k_.ranks);
    const thread_words w{pick(8), pick(256), pick(2) ? 15u : 255u, 1};
    address(w, other());
    of_peer(distance);
    line(pick(2) ? "red.shared::cluster." + operation + " [%t2], %r0;"
                 : "atom.shared::cluster." + operation + " %t4, [%t2], %r0;");
    reduce_words(w, distance, operation);
  }

  // Each word belongs to one thread, so what atom returns is known.
  void exchange() {
    const std::uint32_t distance = pick(k_.ranks);
    const bool compares = pick(2) != 0;
    const thread_words w = own_words(1);
    address(w, other());
    of_peer(distance);
    if (compares)
      line(
          "ld.shared::cluster.u32 %t4, [%t2]; and.b32 %t5, %thread, 1; add.u32 %t4, %t4, %t5; atom.shared::cluster.cas.b32 %r1, [%t2], %t4, %r0;");
    else line("atom.shared::cluster.exch.b32 %r1, [%t2], %r0;");
    for_threads([&](std::uint32_t b, std::uint32_t t, block_state& s) {
      std::uint32_t& word = peer(b, rank_of(b) + distance).buffer[other()][w.of(t)];
      s.r1[t] = word;
      if (!compares || t % 2 == 0) word = s.r0[t];
    });
  }

  void store_asynchronously() {
    const std::uint32_t size = k_.threads > 64 ? 1u << pick(2) : 1u << pick(3), distance = pick(k_.ranks);
    const thread_words w = own_words(size);
    const bool late = pick(2) != 0;  // bytes may come before the barrier expects them
    if (!late) expect(4 * size * k_.threads);
    address(w, other());
    of_peer(distance);
    barrier_of_peer(distance);
    const std::string head = "st.async.shared::cluster.mbarrier::complete_tx::bytes.";
    if (size == 1) line(head + one_of({"b32", "u32", "s32"}) + " [%t2], %r0, [%t4];");
    if (size == 2 && pick(2)) line(head + "v2.b32 [%t2], {%r0, %r1}, [%t4];");
    else if (size == 2) line("mov.b64 %d0, {%r0, %r1}; " + head + one_of({"b64", "u64"}) + " [%t2], %d0, [%t4];");
    if (size == 4) line(head + "v4.b32 [%t2], {%r0, %r1, %thread, %r0}, [%t4];");
    if (late) expect(4 * size * k_.threads);
    wait_for_transactions();
    put(w, distance);
  }

  void reduce_asynchronously() {
    const std::string operation = reduction();
    const std::uint32_t distance = pick(k_.ranks);
    const thread_words w{pick(8), pick(256), pick(2) ? 15u : 255u, 1};
    expect(4 * k_.threads);
    address(w, other());
    of_peer(distance);
    barrier_of_peer(distance);
    line("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + operation + " [%t2], %r0, [%t4];");
    wait_for_transactions();
    reduce_words(w, distance, operation);
  }

  struct extent {
    std::uint32_t from, to, words;
  };
  extent some_words() {
    const std::uint32_t n = 4 * (1 + pick(buffer_words / 4));
    const std::uint32_t room = (buffer_words - n) / 4 + 1;
    return {4 * pick(room), 4 * pick(room), n};
  }

  void copy_between_blocks() {
    const extent e = some_words();
    const bool reduces = pick(2) != 0, to_one = reduces && pick(2) != 0;
    const std::uint32_t distance = pick(k_.ranks), one = pick(k_.ranks);
    const std::string operation =
        one_of({"add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "add.s32", "or.b32", "xor.b32", "and.b32"});
    expect(4 * e.words * (to_one ? k_.ranks : 1), to_one ? 1u << one : ~0u);
    begin_one();
    line("add.u32 %t0, %sm, " + text_of(other() * buffer_bytes + 4 * e.to) + "; add.u32 %t3, %sm, " +
         text_of(barriers_at + 8 * transactions) + "; add.u32 %t5, %sm, " +
         text_of(current_ * buffer_bytes + 4 * e.from) + ";");
    if (to_one) {
      line("mapa.shared::cluster.u32 %t2, %t0, " + text_of(one) + "; mapa.shared::cluster.u32 %t4, %t3, " +
           text_of(one) + ";");
    } else {
      of_peer(distance);
      of_peer(distance, "%t3", "%t4");
    }
    line((reduces ? "cp.reduce" : "cp") +
         std::string(".async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes") +
         (reduces ? "." + operation : "") + " [%t2], [%t5], " + text_of(4 * e.words) + ", [%t4];");
    finish_one();
    wait_for_transactions();
    for (std::uint32_t b = 0; b < k_.blocks(); ++b)
      for (std::uint32_t w = 0; w < e.words; ++w) {
        std::uint32_t& word = peer(b, to_one ? one : rank_of(b) + distance).buffer[other()][e.to + w];
        const std::uint32_t from = blocks_[b].buffer[current_][e.from + w];
        word = reduces ? reduced(operation, word, from) : from;
      }
  }

  /// A copy by each block to itself, or by one to those of a mask, of what `word` gives for each word from `to` on.
  template <class Issue, class Word>
  void load(std::uint32_t bytes, Issue issue, Word word) {
    const bool multicast = pick(2) != 0;
    const std::uint32_t mask = 1 + pick((1u << k_.ranks) - 1), one = pick(k_.ranks);
    expect(bytes, multicast ? mask : ~0u);
    begin_one();
    if (multicast)
      line("setp.ne.u32 %p1, %rank, " + text_of(one) + "; @%p1 bra " + after_one_ + "; mov.u32 %t9, " + text_of(mask) +
           "; cvt.u16.u32 %h0, %t9;");
    issue(multicast ? ".multicast::cluster" : "", multicast ? ", %h0" : "");
    finish_one();
    wait_for_transactions();
    for (std::uint32_t b = 0; b < k_.blocks(); ++b)
      if (!multicast || (mask >> rank_of(b) & 1) != 0) word(blocks_[b].buffer[other()]);
  }

  void copy_from_memory() {
    const extent e = some_words();
    const std::uint32_t from = 4 * pick((input_words - e.words) / 4 + 1);
    load(
        4 * e.words,
        [&](const std::string& form, const std::string& mask) {
          line("add.u32 %t0, %sm, " + text_of(other() * buffer_bytes + 4 * e.to) + "; add.u32 %t3, %sm, " +
               text_of(barriers_at + 8 * transactions) + "; add.u64 %d0, %in, " + text_of(4 * from) + ";");
          line("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" + form + " [%t0], [%d0], " +
               text_of(4 * e.words) + ", [%t3]" + mask + ";");
        },
        [&](words& buffer) { std::copy_n(input_.begin() + from, e.words, buffer.begin() + e.to); });
  }

  void copy_to_memory() {
    const extent e = some_words();
    const bool sums = pick(2) != 0;
    const std::uint32_t n = sums ? std::min(e.words, 32u) : e.words, to = sums ? e.to % 32 : e.to;
    begin_one();
    line("add.u32 %t0, %sm, " + text_of(current_ * buffer_bytes + 4 * e.from) + "; add.u64 %d0, " +
         (sums ? "%sums, " + text_of(4 * to) : "%out, " + text_of(4 * (tile_offset - buffer_words + to))) + ";");
    line(std::string(sums ? "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"
                          : "cp.async.bulk.global.shared::cta.bulk_group") +
         " [%d0], [%t0], " + text_of(4 * n) + ";");
    finish_group();
    for (block_state& s : blocks_)
      for (std::uint32_t w = 0; w < n; ++w) {
        const std::uint32_t from = s.buffer[current_][e.from + w];
        if (sums) k_.sums[to + w] += from;
        else s.copied[to + w] = from;
      }
  }
  void load_tensor() {
    const bool swizzles = pick(2) != 0;
    const std::uint32_t to = swizzles ? 64 * pick(4) : 32 * pick(7);
    const int x = static_cast<int>(pick(48)) - 8, y = static_cast<int>(pick(80)) - 8;
    load(
        256,
        [&](const std::string& form, const std::string& mask) {
          line("add.u32 %t0, %sm, " + text_of(other() * buffer_bytes + 4 * to) + "; add.u32 %t3, %sm, " +
               text_of(barriers_at + 8 * transactions) + "; mov.u32 %t5, " + std::to_string(x) + "; mov.u32 %t6, " +
               std::to_string(y) + "; mov.b64 %d0, " + (swizzles ? "swizzled" : "map") + "; cvta.param.u64 %d0, %d0;");
          line("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" + form +
               " [%t0], [%d0, {%t5, %t6}], [%t3]" + mask + ";");
        },
        [&](words& buffer) {
          for (int row = 0; row < 8; ++row)
            for (int column = 0; column < 8; ++column) {
              const bool inside = x + column >= 0 && x + column < static_cast<int>(input_width) && y + row >= 0 &&
                                  y + row < static_cast<int>(input_words / input_width);
              const auto from = static_cast<std::size_t>((y + row) * static_cast<int>(input_width) + x + column);
              std::uint32_t at = to + static_cast<std::uint32_t>(8 * row + column);
              if (swizzles) at ^= (at >> 5 & 1) << 2;  // bit 4 of the address by bit 7
              buffer[at] = inside ? input_[from] : 0;
            }
        });
  }

  void store_tensor() {
    const std::uint32_t from = 32 * pick(7);
    const int x = static_cast<int>(pick(40)) - 4, y = static_cast<int>(pick(12)) - 4;
    const bool adds = pick(2) != 0;
    begin_one();
    line("add.u32 %t0, %sm, " + text_of(current_ * buffer_bytes + 4 * from) + "; mov.u32 %t5, " + std::to_string(x) +
         "; mov.u32 %t6, " + std::to_string(y) + "; mov.b64 %d0, tiles; cvta.param.u64 %d0, %d0;");
    line(std::string(adds ? "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add"
                          : "cp.async.bulk.tensor.3d.global.shared::cta") +
         ".tile.bulk_group [%d0, {%t5, %t6, %block}], [%t0];");
    finish_group();
    for (block_state& s : blocks_)
      for (int row = 0; row < 8; ++row)
        for (int column = 0; column < 8; ++column) {
          if (x + column < 0 || x + column >= 32 || y + row < 0 || y + row >= 8) continue;
          std::uint32_t& word = s.tile[static_cast<std::size_t>((y + row) * 32 + x + column)];
          const std::uint32_t given = s.buffer[current_][from + static_cast<std::uint32_t>(8 * row + column)];
          word = adds ? word + given : given;
        }
  }
};

}  // namespace

cluster_kernel generate_clusters(std::uint64_t seed, const std::vector<std::uint32_t>& input) {
  return cluster_generator(seed, input).make();
}

}  // namespace heddle::differential
