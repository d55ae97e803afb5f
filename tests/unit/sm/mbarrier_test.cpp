// SPDX-License-Identifier: MIT
// mbarrier through PTX: random sequences of operations by one thread, compared with the counts that the PTX ISA
// defines.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/ptx/ptx_machine.h"

namespace heddle {
namespace mbarrier_test {

using u32 = std::uint32_t;

/// The object as described by the ISA: expected and pending arrivals, bytes of transactions, the phase.
class plain_barrier {
 public:
  struct token {
    unsigned phase = 0;
    u32 pending = 0;
  };

  explicit plain_barrier(u32 count) : expected_(count), pending_(count) {}

  token arrive(u32 count) {
    const token t{phase_, pending_};
    pending_ -= count;
    settle();
    return t;
  }
  token arrive_and_drop(u32 count) {
    expected_ -= count;
    return arrive(count);
  }
  void expect_bytes(std::int64_t n) { bytes_ += n; }
  void complete_bytes(std::int64_t n) {
    bytes_ -= n;
    settle();
  }
  [[nodiscard]] bool is_over(const token& t) const { return phase_ != t.phase; }
  [[nodiscard]] bool parity_is_over(u32 parity) const { return phase_ % 2 != parity; }
  [[nodiscard]] u32 pending() const { return pending_; }
  [[nodiscard]] u32 expected() const { return expected_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] unsigned phase() const { return phase_; }

 private:
  void settle() {
    if (pending_ != 0 || bytes_ != 0) return;
    ++phase_;
    pending_ = expected_;
  }

  u32 expected_, pending_;
  std::int64_t bytes_ = 0;
  unsigned phase_ = 0;
};

/// PTX of a random sequence, and the words that it stores.
class sequence {
 public:
  explicit sequence(unsigned seed) : random_(seed), count_(1 + pick(6)), barrier_(count_) {
    code_ = "mbarrier.init" + place() + ", " + std::to_string(count_) + ";\n";
    for (unsigned k = 0; k < 60; ++k) operation();
  }

  [[nodiscard]] std::string text() const {
    return ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b64 %o, %g, %t<64>; .reg .b32 %s, %v; .reg .pred %p;\n"
           ".shared .align 8 .b64 pad; .shared .align 8 .b64 object;\nld.param.u64 %o, [out]; mov.u32 %s, object; cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g;\n" +
           code_ + "mbarrier.inval.shared.b64 [%s]; ret; }\n";
  }

  [[nodiscard]] const std::vector<u32>& expected() const { return expected_; }

 private:
  u32 pick(u32 n) { return static_cast<u32>(random_() % n); }
  const char* one(const char* a, const char* b) { return pick(2) ? a : b; }

  /// ".shared.b64 [object]" in one of its spellings.
  std::string place() {
    static constexpr const char* ways[] = {".shared.b64 [%s]", ".shared::cta.b64 [%s]", ".b64 [%g]",
                                           ".shared.b64 [object]"};
    return ways[pick(4)];
  }

  void store(const std::string& reg, u32 value) {
    code_ += "st.global.u32 [%o+" + std::to_string(4 * expected_.size()) + "], " + reg + ";\n";
    expected_.push_back(value);
  }

  void keep(const plain_barrier::token& t) {
    code_ += "mbarrier.pending_count.b64 %v, %t" + std::to_string(tokens_.size()) + ";\n";
    store("%v", t.pending);
    tokens_.push_back(t);
  }

  void store_predicate(bool value) {
    code_ += "selp.u32 %v, 1, 0, %p;\n";
    store("%v", value);
  }

  void operation() {
    const std::string t = "%t" + std::to_string(tokens_.size());
    switch (pick(8)) {
      case 0:
      case 1: return arrivals(t);
      case 2: {
        if (barrier_.pending() == 0) return;
        const u32 bytes = 16 * (1 + pick(9));
        const bool drops = pick(3) == 0 && barrier_.expected() > 1;
        code_ += std::string("mbarrier.arrive") + (drops ? "_drop" : "") + ".expect_tx" + one("", ".release.cta") +
                 ".shared::cta.b64 " + t + ", [%s], " + std::to_string(bytes) + ";\n";
        barrier_.expect_bytes(bytes);
        return keep(drops ? barrier_.arrive_and_drop(1) : barrier_.arrive(1));
      }
      case 3: {
        const u32 bytes = 16 * (1 + pick(9));
        code_ += "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], " + std::to_string(bytes) + ";\n";
        return barrier_.expect_bytes(bytes);
      }
      case 4: {
        if (barrier_.bytes() <= 0) return;
        const auto bytes = pick(3) == 0 ? std::max<std::int64_t>(barrier_.bytes() / 2, 1) : barrier_.bytes();
        code_ += "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], " + std::to_string(bytes) + ";\n";
        return barrier_.complete_bytes(bytes);
      }
      case 5: {
        if (tokens_.empty() || tokens_.back().phase + 1 < barrier_.phase())
          return;  // of the current or the previous phase
        code_ += std::string("mbarrier.") + one("test_wait", "try_wait") + one("", ".acquire.cta") +
                 ".shared.b64 %p, [%s], %t" + std::to_string(tokens_.size() - 1) + ";\n";
        return store_predicate(barrier_.is_over(tokens_.back()));
      }
      default: {
        const u32 parity = pick(2);
        code_ += std::string("mbarrier.") + one("test_wait", "try_wait") + ".parity.shared::cta.b64 %p, [%s], " +
                 std::to_string(parity) + ";\n";
        return store_predicate(barrier_.parity_is_over(parity));
      }
    }
  }

  void arrivals(const std::string& t) {
    if (barrier_.pending() == 0) return;
    const u32 count = 1 + pick(barrier_.pending());
    const bool drops = pick(5) == 0 && barrier_.expected() > count;
    const std::string number = count == 1 && pick(2) ? "" : ", " + std::to_string(count);
    code_ += std::string("mbarrier.arrive") + (drops ? "_drop" : "") + one("", ".release.cta") + ".shared.b64 " + t +
             ", [%s]" + number + ";\n";
    keep(drops ? barrier_.arrive_and_drop(count) : barrier_.arrive(count));
  }

  std::mt19937 random_;
  u32 count_;
  plain_barrier barrier_;
  std::string code_;
  std::vector<u32> expected_;
  std::vector<plain_barrier::token> tokens_;
};

TEST(mbarrier, counts_arrivals_and_bytes_as_the_isa_says) {
  std::size_t compared = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const sequence s(seed);
    ptx_machine machine(s.text());
    const std::uint64_t out = machine.buffer(std::vector<u32>(s.expected().size() + 1));
    machine.run("k", {1, 1, 1}, {1, 1, 1}, {out});
    ASSERT_EQ(machine.read<u32>(out, s.expected().size()), s.expected()) << "seed " << seed << "\n" << s.text();
    compared += s.expected().size();
  }
  EXPECT_GT(compared, 4000u);
}

TEST(mbarrier, lanes_arrive_one_by_one) {
  const std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b64 %o, %t; .reg .b32 %s, %v, %l, %w; .reg .pred %p, %q;\n"
      ".shared .align 8 .b64 object;\nld.param.u64 %o, [out]; mov.u32 %s, object; mov.u32 %l, %tid.x; setp.eq.u32 %q, %l, 0; @%q mbarrier.init.shared.b64 [%s], 32;\n"
      "bar.sync 0; mbarrier.arrive.shared.b64 %t, [%s]; mbarrier.pending_count.b64 %v, %t; mbarrier.test_wait.shared.b64 %p, [%s], %t; selp.u32 %w, 100, 0, %p;\n"
      "add.u32 %v, %v, %w; mad.wide.u32 %o, %l, 4, %o; st.global.u32 [%o], %v; ret; }\n";
  ptx_machine machine(text);
  const std::uint64_t out = machine.buffer(std::vector<u32>(32));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {out});
  std::vector<u32> got = machine.read<u32>(out, 32), expected;
  std::sort(got.begin(), got.end());
  for (u32 k = 1; k <= 32; ++k) expected.push_back(100 + k);  // each saw another count, and all that the phase is over
  EXPECT_EQ(got, expected);
}

TEST(mbarrier, lanes_whose_guard_is_false_touch_nothing) {
  // All lanes but the first have an address outside of shared memory.
  const std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b64 %o, %t; .reg .b32 %s, %v, %l, %w; .reg .pred %p, %q, %r;\n"
      ".shared .align 8 .b64 object;\nld.param.u64 %o, [out]; mov.u32 %s, object; mov.u32 %l, %tid.x; setp.eq.u32 %q, %l, 0; @!%q mov.u32 %s, 0x7ffff000;\n"
      "setp.ne.u32 %p, %l, %l; setp.ne.u32 %r, %l, %l; mov.u64 %t, 0; @%q mbarrier.init.shared.b64 [%s], 1; @%q mbarrier.arrive.shared.b64 %t, [%s];\n"
      "@%q mbarrier.test_wait.shared.b64 %p, [%s], %t; @%q mbarrier.try_wait.parity.shared::cta.b64 %r, [%s], 0; selp.u32 %v, 1, 0, %p; selp.u32 %w, 2, 0, %r;\n"
      "add.u32 %v, %v, %w; mad.wide.u32 %o, %l, 4, %o; st.global.u32 [%o], %v; ret; }\n";
  ptx_machine machine(text);
  const std::uint64_t out = machine.buffer(std::vector<u32>(32));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {out});
  std::vector<u32> expected(32, 0);
  expected[0] = 3;
  EXPECT_EQ(machine.read<u32>(out, 32), expected);
}

// The bytes that a bulk copy brings complete the phase; those after them stay as they were.
TEST(mbarrier, bulk_copies_bring_their_bytes_and_count_them) {
  const std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 size) {\n.reg .b64 %i, %o, %t; .reg .b32 %s, %m, %l, %v, %n; .reg .pred %p, %q;\n"
      ".shared .align 8 .b64 object; .shared .align 16 .b8 copy[64];\nld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u32 %n, [size]; mov.u32 %s, copy; mov.u32 %m, object; mov.u32 %l, %tid.x; setp.eq.u32 %q, %l, 0;\n"
      "shl.b32 %v, %l, 2; add.u32 %v, %v, %s; st.shared.u32 [%v], 7; @%q mbarrier.init.shared.b64 [%m], 1; bar.sync 0;\n"
      "@%q mbarrier.arrive.expect_tx.shared.b64 %t, [%m], 48; @%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%i], %n, [%m];\n"
      "bar.sync 0; mbarrier.test_wait.parity.shared.b64 %p, [%m], 0; ld.shared.u32 %v, [%v]; mul.wide.u32 %t, %l, 4; add.s64 %t, %t, %o; st.global.u32 [%t], %v;\n"
      "selp.u32 %v, 1, 0, %p; st.global.u32 [%t+64], %v; @%q cp.async.bulk.global.shared::cta.bulk_group [%o+128], [%s], 32; @%q cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n";
  for (const u32 size : {48u, 32u}) {
    ptx_machine machine(text);
    std::vector<u32> given(16), expected(64, 0);
    for (u32 k = 0; k < 16; ++k) {
      given[k] = 100 + k;
      expected[k] = 4 * k < size ? given[k] : 7;
      expected[16 + k] = size == 48;  // the phase that waits for 48 bytes is over
      if (k < 8) expected[32 + k] = given[k];
    }
    const std::uint64_t in = machine.buffer(given), out = machine.buffer(std::vector<u32>(64));
    machine.run("k", {1, 1, 1}, {16, 1, 1}, {in, out, size});
    EXPECT_EQ(machine.read<u32>(out, 64), expected) << size;
  }
}

}  // namespace mbarrier_test
}  // namespace heddle
