// SPDX-License-Identifier: MIT
#include "cluster_writer.h"

namespace heddle::differential {

void cluster_writer::begin() {
  line(
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sums,");
  line(" .param .align 64 .b8 map[128], .param .align 64 .b8 swizzled[128], .param .align 64 .b8 tiles[128])");
  line(".explicitcluster\n.reqnctapercluster " + text_of(k_.ranks) + "\n{");
  line(".shared .align 1024 .b8 area[" + text_of(barriers_at + 8 * barrier_count) + "];");
  line(
      ".reg .b32 %r<2>, %t<12>, %sm, %rank, %thread, %block, %parity; .reg .b64 %d<8>, %in, %out, %sums; .reg .pred %p<4>; .reg .b16 %h<1>;");
  line(
      "mov.u32 %sm, area; mov.u32 %rank, %cluster_ctarank; mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %parity, 0;");
  line("ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %sums, [sums];");
  line("mad.wide.u32 %out, %block, " + text_of(4 * out_words) + ", %out;");
  const std::uint32_t all = k_.threads * k_.ranks;
  const std::uint32_t counts[barrier_count] = {1, k_.threads, all, all, k_.ranks, k_.ranks};
  line("setp.eq.u32 %p0, %thread, 0;");
  for (unsigned b = 0; b < barrier_count; ++b)
    line("@%p0 mbarrier.init.shared::cta.b64 " + barrier(b) + ", " + text_of(counts[b]) + ";");
  line("@%p0 fence.mbarrier_init.release.cluster;");
  const std::uint32_t a = 2 * pick(50) + 1, b = pick(2048);
  line("mad.lo.u32 %t0, %block, " + text_of(k_.threads) + ", %thread; mov.u32 %r1, %t0;");
  line("mad.lo.u32 %t0, %t0, " + text_of(a) + ", " + text_of(b) + "; and.b32 %t0, %t0, 2047;");
  line("mad.wide.u32 %d0, %t0, 4, %in; ld.global.u32 %r0, [%d0];");
  for (block_state& s : blocks_) s.r0.resize(k_.threads), s.r1.resize(k_.threads);
  for_threads([&](std::uint32_t block, std::uint32_t t, block_state& s) {
    s.r1[t] = block * k_.threads + t;
    s.r0[t] = input_[(s.r1[t] * a + b) & 2047];
  });
  // What the buffers begin with.
  line("mov.u32 %t1, %thread; FILL: mad.lo.u32 %t2, %t1, 77, %r0; shl.b32 %t3, %t1, 2; add.u32 %t3, %t3, %sm;");
  line("st.shared.u32 [%t3], %t2; not.b32 %t2, %t2; st.shared.u32 [%t3+" + text_of(buffer_bytes) + "], %t2;");
  line("add.u32 %t1, %t1, " + text_of(k_.threads) + "; setp.lt.u32 %p1, %t1, " + text_of(buffer_words) +
       "; @%p1 bra FILL;");
  for (block_state& s : blocks_)
    for (unsigned w = 0; w < buffer_words; ++w) {
      s.buffer[0][w] = w * 77 + s.r0[w % k_.threads];
      s.buffer[1][w] = ~s.buffer[0][w];
    }
  line("fence.proxy.async; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
}

void cluster_writer::end() {
  line("barrier.cluster.arrive; barrier.cluster.wait;");
  line("mad.wide.u32 %d0, %thread, 8, %out; st.global.v2.u32 [%d0], {%r0, %r1};");
  line(
      "mov.u32 %t1, %thread; DUMP: shl.b32 %t2, %t1, 2; add.u32 %t3, %t2, %sm; cvt.u64.u32 %d0, %t2; add.u64 %d0, %d0, %out;");
  line("ld.shared.u32 %t4, [%t3]; st.global.u32 [%d0+" + text_of(8 * most_threads) +
       "], %t4; ld.shared.u32 %t4, [%t3+" + text_of(buffer_bytes) + "]; st.global.u32 [%d0+" +
       text_of(8 * most_threads + buffer_bytes) + "], %t4;");
  line("add.u32 %t1, %t1, " + text_of(k_.threads) + "; setp.lt.u32 %p1, %t1, " + text_of(buffer_words) +
       "; @%p1 bra DUMP;");
  line("ret;\n}");
  for (const block_state& s : blocks_) {
    words block(2 * most_threads);
    for (std::uint32_t t = 0; t < k_.threads; ++t) block[2 * t] = s.r0[t], block[2 * t + 1] = s.r1[t];
    for (const words* part : {&s.buffer[0], &s.buffer[1], &s.copied, &s.tile})
      block.insert(block.end(), part->begin(), part->end());
    k_.out.insert(k_.out.end(), block.begin(), block.end());
  }
}

void cluster_writer::compute() {
  const std::uint32_t a = 2 * pick(1000) + 1, b = pick(1u << 30);
  line("mad.lo.u32 %r1, %r0, " + text_of(a) + ", %r1; xor.b32 %r0, %r0, " + text_of(b) +
       "; shf.l.wrap.b32 %r0, %r0, %r0, 7;");
  for_threads([&](std::uint32_t, std::uint32_t t, block_state& s) {
    s.r1[t] += s.r0[t] * a;
    const std::uint32_t x = s.r0[t] ^ b;
    s.r0[t] = x << 7 | x >> 25;
  });
}

void cluster_writer::expect(std::uint32_t bytes, std::uint32_t mask) {
  const std::string after = label();
  line("shr.u32 %t8, " + text_of(mask & 0xffff) + ", %rank; and.b32 %t8, %t8, 1; setp.eq.u32 %p3, %t8, 1;");
  line("setp.eq.and.u32 %p0, %thread, " + text_of(pick(k_.threads)) + ", %p3; @!%p0 bra " + after + ";");
  if (pick(2))
    line("mbarrier.arrive.expect_tx.shared::cta.b64 _, " + barrier(transactions) + ", " + text_of(bytes) + ";");
  else
    line("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 " + barrier(transactions) + ", " + text_of(bytes) +
         "; mbarrier.arrive.shared::cta.b64 %d7, " + barrier(transactions) + ";");
  line(after + ":");
}

void cluster_writer::wait_for_transactions() {
  const std::string again = label(), after = label(), form = wait_form("cta");
  line("@!%p3 bra " + after + ";");
  line(again + ": " + form + " %p2, " + barrier(transactions) + ", %parity" + hint_ + "; @!%p2 bra " + again + ";");
  line("xor.b32 %parity, %parity, 1;\n" + after + ":");
}

std::string cluster_writer::wait_form(const std::string& scope) {
  hint_.clear();
  if (pick(4) == 0) return "mbarrier.test_wait.parity.acquire." + scope + ".shared::cta.b64";
  if (pick(3) == 0) hint_ = ", " + text_of(1 + pick(20000));
  return "mbarrier.try_wait.parity.acquire." + scope + ".shared::cta.b64";
}

void cluster_writer::barrier_of_peer(std::uint32_t distance) {
  line("add.u32 %t3, %sm, " + text_of(barriers_at + 8 * transactions) + ";");
  of_peer(distance, "%t3", "%t4");
}

void cluster_writer::begin_one() {
  after_one_ = label();
  if (pick(2)) {
    line("setp.ne.u32 %p0, %thread, " + text_of(pick(k_.threads)) + "; @%p0 bra " + after_one_ + ";");
  } else {
    const std::uint32_t first = 32 * pick(k_.threads / 32);
    line("sub.u32 %t8, %thread, " + text_of(first) + "; setp.ge.u32 %p0, %t8, 32; @%p0 bra " + after_one_ + ";");
    line("elect.sync _|%p0, -1; @!%p0 bra " + after_one_ + ";");
  }
}

void cluster_writer::finish_group() {
  line("cp.async.bulk.commit_group; cp.async.bulk.wait_group" + one_of({" 0;", ".read 0;"}));
  // What reads memory next in the same block is another copy.
  line("cp.async.bulk.wait_group 0;");
  finish_one();
}

void cluster_writer::synchronise() {
  if (pick(3) == 0) delay();
  line("fence.proxy.async;");
  switch (pick(5)) {
    case 0:
      line("bar.warp.sync -1; barrier.cluster.arrive" + one_of({"", ".aligned", ".release", ".release.aligned"}) + ";");
      break;
    case 1: line("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;"); break;
    case 2: arrive_at_all(by_cluster, ""); return wait_for(by_cluster);
    case 3:
      gather_block();
      arrive_of_one(by_cluster, ", " + text_of(k_.threads));
      return wait_for(by_cluster);
    default:
      gather_block();
      arrive_of_one(by_ranks, "");
      return wait_for(by_ranks);
  }
  if (pick(3) == 0) compute();
  if (pick(3) == 0) delay();
  line("barrier.cluster.wait" + one_of({"", ".acquire"}) + ";");
}

void cluster_writer::delay() {
  const std::string again = label();
  line("and.b32 %t8, %thread, " + text_of(pick(128)) + "; add.u32 %t8, %t8, %rank;");
  line(again + ": sub.u32 %t8, %t8, 1; setp.gt.s32 %p1, %t8, 0; @%p1 bra " + again + ";");
}

void cluster_writer::gather_block() {
  if (pick(3) != 0) return line("bar.sync 0;");
  const std::string again = label();
  line("mbarrier.arrive.shared::cta.b64 %d6, " + barrier(by_block) + ";");
  line(again + ": mbarrier.test_wait.shared::cta.b64 %p2, " + barrier(by_block) + ", %d6; @!%p2 bra " + again + ";");
}

void cluster_writer::arrive_of_one(barrier_use b, const std::string& count) {
  begin_one();
  arrive_at_all(b, count);
  finish_one();
}

void cluster_writer::arrive_at_all(barrier_use b, const std::string& count) {
  line("add.u32 %t0, %sm, " + text_of(barriers_at + 8 * (b + rounds_[b] % 2)) + ";");
  for (std::uint32_t distance = 0; distance < k_.ranks; ++distance) {
    of_peer(distance);
    line("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%t2]" + count + ";");
  }
}

void cluster_writer::wait_for(barrier_use b) {
  const std::string again = label();
  const std::string form = wait_form("cluster");
  const unsigned round = rounds_[b]++;
  line(again + ": " + form + " %p2, " + barrier(b + round % 2) + ", " + text_of(round / 2 % 2) + hint_ +
       "; @!%p2 bra " + again + ";");
}

void cluster_writer::lose_an_arrival() {
  switch (pick(3)) {
    case 0:  // all others wait for a thread that waits for arrivals that do not come
      line("setp.ne.u32 %p0, %thread, " + text_of(pick(k_.threads)) + "; @%p0 bra OTHERS;");
      wait_for(by_ranks);
      return line("OTHERS: barrier.cluster.arrive; barrier.cluster.wait;");
    case 1: return wait_for(by_cluster);
    default:  // more bytes than are copied
      expect(16);
      wait_for_transactions();
  }
}

}  // namespace heddle::differential
