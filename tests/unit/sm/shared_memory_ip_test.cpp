// SPDX-License-Identifier: MIT
// One memory shared by a GPU and other writers: their writes become visible, whatever is in flight at that moment.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/memory/l2/l2_slice.h"
#include "tests/unit/common/foreign_checker.h"
#include "tests/unit/common/foreign_ip.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace shared_memory_ip_test {

/// A slow memory that a CPU, the test, may write at any time.
class slow_memory : public sc_core::sc_module {
 public:
  slow_memory(sc_core::sc_module_name name, const sc_core::sc_time& latency)
      : sc_module(name), latency_(latency), queue_(this, &slow_memory::on_event) {
    socket.register_nb_transport_fw(this, &slow_memory::nb_transport_fw);
    socket.register_transport_dbg(this, &slow_memory::transport_dbg);
  }
  tlm_utils::simple_target_socket<slow_memory> socket{"socket"};
  foreign::storage store;
  unsigned in_flight = 0;

  void put(std::uint64_t address, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) store.bytes[address + i] = static_cast<std::uint8_t>(value >> 8 * i);
  }
  std::uint32_t get(std::uint64_t address) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{store.bytes[address + i]} << 8 * i;
    return value;
  }

 private:
  // Reads sample the data when they arrive, so that late responses carry old bytes; writes take effect when they are
  // answered.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    p.acquire();
    ++in_flight;
    if (p.is_read()) store.perform(p);
    queue_.notify(p, tlm::BEGIN_RESP, latency_);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void on_event(tlm::tlm_generic_payload& p, const tlm::tlm_phase&) {
    if (p.is_write()) store.perform(p);
    --in_flight;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    socket->nb_transport_bw(p, phase, delay);
    p.release();
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return store.debug(p); }

  sc_core::sc_time latency_;
  tlm_utils::peq_with_cb_and_phase<slow_memory> queue_;
};

// `follow` reads a word, and then, depending on it, one in another sector of the same line; `copy` reads the word.
// `scatter` stores single bytes with a stride of three.
constexpr const char* kernels = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry follow(.param .u64 a, .param .u64 o)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd4, [o];
  ld.global.cg.u32 %r1, [%rd1];
  cvt.u64.u32 %rd2, %r1;
  and.b64 %rd2, %rd2, 0;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.cg.u32 %r2, [%rd3+96];
  st.global.u32 [%rd4], %r2;
  ret;
}
.visible .entry copy(.param .u64 a, .param .u64 o)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd4, [o];
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd4], %r1;
  ret;
}
.visible .entry scatter(.param .u64 a)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 128, %r1;
  mul.wide.u32 %rd2, %r3, 3;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u8 [%rd3], %r3;
  ret;
}
)";

/// A GPU, its driver and a memory of `latency_ns`, with a checker in between.
struct system_on_one_memory {
  explicit system_on_one_memory(double latency_ns, std::vector<std::string> more = {}, const char* gpu_name = "gtx1080")
      : config(load_config(gpu_name, with(std::move(more)))),
        chip("gpu", config),
        driver("driver", config),
        memory("memory", sc_core::sc_time(latency_ns, sc_core::SC_NS)) {
    driver.host_socket.bind(chip.host_socket);
    chip.memory_socket[0].bind(checker.in);
    checker.out.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    module = driver.load_module(kernels, "kernels.ptx");
  }
  static std::vector<std::string> with(std::vector<std::string> more) {
    more.insert(more.begin(), {"gpu.sm_count=2", "memory.model=external", "memory.channels=1", "l2.size_bytes=65536",
                               "tlm.check=true"});
    return more;
  }
  unsigned launch(const char* kernel, const std::vector<std::uint64_t>& arguments, unsigned stream = 0,
                  unsigned blocks = 1, unsigned threads = 1) {
    launch_request r;
    r.module = module;
    r.kernel = kernel;
    r.stream = stream;
    r.grid[0] = blocks;
    r.block[0] = threads;
    for (const std::uint64_t a : arguments) r.argument(a);
    return driver.launch(r);
  }
  void run_until(const std::function<bool()>& done) {
    for (unsigned turn = 0; turn < 100000 && !done() && driver.fault().empty(); ++turn)
      sc_core::sc_start(50, sc_core::SC_NS);
    ASSERT_TRUE(done());
    ASSERT_EQ(driver.fault(), "");
  }
  void expect_clean() const {
    for (const std::string& text : checker.complaints) ADD_FAILURE() << text;
  }
  std::uint32_t word(std::uint64_t address) {
    std::uint32_t value = 0;
    driver.read(address, &value, sizeof value);
    return value;
  }

  gpu_config config;
  gpu chip;
  host_driver driver;
  slow_memory memory;
  foreign::checker checker{"checker"};
  unsigned module = 0;
};

class shared_memory_ip : public fresh_simulation {};

TEST_F(shared_memory_ip, a_launch_reads_what_a_cpu_wrote_while_that_line_was_fetched) {
  // The CPU writes while the first kernel fetches the word (early), and while it fetches the other sector of the line
  // (late).
  for (const double moment_us : {1.0, 3.0, 5.0, 6.5}) {
    restart();
    system_on_one_memory s(4000);
    const std::uint64_t a = s.driver.allocate(256), o1 = s.driver.allocate(256), o2 = s.driver.allocate(256);
    s.memory.put(a, 1);
    s.memory.put(a + 96, 7);
    const unsigned first = s.launch("follow", {a, o1}, 0);
    sc_core::sc_start(moment_us, sc_core::SC_US);
    ASSERT_FALSE(s.driver.finished(first));
    EXPECT_GT(s.memory.in_flight, 0u) << moment_us;
    s.memory.put(a, 42);
    s.memory.put(a + 96, 43);
    const unsigned second = s.launch("copy", {a, o2}, 1);
    s.run_until([&] { return s.driver.finished(first) && s.driver.finished(second) && s.chip.idle(); });
    EXPECT_EQ(s.word(o2), 42u) << moment_us;
    const std::uint32_t seen = s.word(o1);
    EXPECT_TRUE(seen == 7 || seen == 43) << seen;
    s.chip.check_invariants();
    s.expect_clean();
  }
}

TEST_F(shared_memory_ip, a_relaunch_reads_what_a_cpu_wrote_while_the_gpu_was_idle) {
  system_on_one_memory s(100);
  const std::uint64_t a = s.driver.allocate(256), o = s.driver.allocate(256);
  for (unsigned round = 1; round <= 4; ++round) {
    s.memory.put(a, round);
    const unsigned n = s.launch("copy", {a, o});
    s.run_until([&] { return s.driver.finished(n); });
    EXPECT_EQ(s.word(o), round);
    EXPECT_EQ(s.memory.get(o), round) << "written back before the completion is reported";
  }
  s.expect_clean();
}

TEST_F(shared_memory_ip, the_host_socket_reads_what_a_cpu_wrote_and_not_an_old_line) {
  system_on_one_memory s(100);
  const std::uint64_t a = s.driver.allocate(256), o = s.driver.allocate(256);
  s.memory.put(a, 5);
  const unsigned n = s.launch("copy", {a, o});
  s.run_until([&] { return s.driver.finished(n); });
  s.memory.put(a, 6);
  s.memory.put(o, 9);
  EXPECT_EQ(s.word(a), 6u);
  EXPECT_EQ(s.word(o), 9u);
}

TEST_F(shared_memory_ip, a_descriptor_that_a_cpu_wrote_where_a_kernel_has_read_is_the_new_one) {
  system_on_one_memory s(100);
  const std::uint64_t a = s.driver.allocate(256), o = s.driver.allocate(256);
  s.memory.put(a, 99);  // without a command to the GPU
  const unsigned n = s.launch("copy", {a, o});
  s.run_until([&] { return s.driver.finished(n); });
  create_texture_descriptor d;
  d.width = d.height = d.depth = 1;
  d.address = o;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&d);
  for (unsigned i = 0; i < sizeof d; ++i) s.memory.store.bytes[a + i] = bytes[i];
  std::uint64_t error = 0;
  std::uint64_t address = a;
  s.driver.write(host_register::command, &address, sizeof address);
  s.driver.read(host_register::error, &error, sizeof error);
  EXPECT_EQ(error, 0u);
}

TEST_F(shared_memory_ip, host_writes_during_write_backs_change_no_request_and_are_not_lost) {
  system_on_one_memory s(300);
  constexpr unsigned blocks = 32, threads = 128, bytes = blocks * threads * 3;
  const std::uint64_t a = s.driver.allocate(bytes);
  const unsigned n = s.launch("scatter", {a}, 0, blocks, threads);
  // The host writes the bytes between the kernel's.
  std::vector<std::uint8_t> last(bytes / 3);
  unsigned turn = 0, during_writes = 0;
  s.run_until([&] {
    ++turn;
    during_writes += s.memory.in_flight > 0;
    for (unsigned j = 0; j < 32; ++j) {
      const unsigned at = (turn * 37 + j * 211) % last.size();
      last[at] = static_cast<std::uint8_t>(turn);
      s.driver.write(a + 3 * at + 1, &last[at], 1);
    }
    return s.driver.finished(n) && s.chip.idle();
  });
  EXPECT_GT(during_writes, 10u);
  for (unsigned i = 0; i < last.size(); ++i) {
    ASSERT_EQ(s.memory.store.bytes[a + 3 * i], static_cast<std::uint8_t>(i)) << i;
    ASSERT_EQ(s.memory.store.bytes[a + 3 * i + 1], last[i]) << i;
  }
  s.chip.check_invariants();
  s.expect_clean();
}

TEST_F(shared_memory_ip, host_writes_to_bytes_of_a_write_that_was_sent_win) {
  system_on_one_memory s(20000);
  const std::uint64_t a = s.driver.allocate(3 * 128);
  const unsigned n = s.launch("scatter", {a}, 0, 1, 128);
  // The completion waits for the write-back, which takes long.
  for (unsigned turn = 0; turn < 10000 && s.checker.writes_begun == 0; ++turn) sc_core::sc_start(50, sc_core::SC_NS);
  ASSERT_GT(s.checker.writes_begun, 0u);
  ASSERT_FALSE(s.driver.finished(n));
  std::vector<std::uint8_t> mine(128 * 3, 0xee);
  s.driver.write(a, mine.data(), mine.size());
  std::vector<std::uint8_t> seen(mine.size());
  s.driver.read(a, seen.data(), seen.size());
  EXPECT_TRUE(seen == mine);
  s.run_until([&] { return s.driver.finished(n); });
  for (unsigned i = 0; i < mine.size(); ++i) ASSERT_EQ(s.memory.store.bytes[a + i], 0xee) << i;
  s.run_until([&] { return s.chip.idle(); });
  s.chip.check_invariants();
  s.expect_clean();
}

// In each round thread 0 of a block waits for the CPU's flag. Then all threads read what the CPU wrote before the flag
// and answer, and thread 0 sets the GPU's flag, four bytes after the CPU's.
constexpr const char* ping_kernel = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry ping(.param .u64 a, .param .u32 rounds)
{
  .reg .u64 %rd<9>;
  .reg .u32 %r<9>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4096;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd3, %r3, 4;
  add.u64 %rd4, %rd1, %rd3;
  setp.ne.u32 %p1, %r3, 0;
  mov.u32 %r4, 1;
round:
  @%p1 bra go;
again:
  LOAD %r5, [%rd1];
  setp.ne.u32 %p2, %r5, %r4;
  @%p2 bra again;
  ACQUIRE
go:
  bar.sync 0;
  ld.global.u32 %r6, [%rd4+128];
  mad.lo.u32 %r6, %r6, 3, %r4;
  st.global.u32 [%rd4+1024], %r6;
  bar.sync 0;
  @%p1 bra next;
  RELEASE
  STORE [%rd1+4], %r4;
next:
  add.u32 %r4, %r4, 1;
  setp.le.u32 %p3, %r4, %r1;
  @%p3 bra round;
  ret;
}
)";

std::string with_accesses(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [word, by] : words) text.replace(text.find(word), word.size(), by);
  return text;
}

TEST_F(shared_memory_ip, a_kernel_and_a_cpu_pass_flags_and_data_to_each_other_while_it_runs) {
  struct {
    const char *gpu_name, *load, *acquire, *release, *store;
    bool switched = false;  // blocks are swapped out and restored continuously, at fences and polls
  } const ways[] = {
      {"v100", "ld.acquire.sys.global.u32", "", "", "st.release.sys.global.u32", true},
      {"v100", "ld.acquire.sys.global.u32", "", "", "st.release.sys.global.u32"},
      {"h100", "ld.relaxed.sys.global.u32", "fence.acq_rel.sys;", "fence.sc.sys;", "st.relaxed.sys.global.u32"},
      {"gtx1080", "ld.volatile.global.u32", "membar.sys;", "membar.sys;", "st.volatile.global.u32"},
      {"gtx480", "ld.global.cv.u32", "membar.sys;", "membar.sys;", "st.global.wt.u32"},
      {"a100", "ld.acquire.sys.global.u32", "", "fence.acq_rel.sys;", "atom.sys.global.exch.b32 %r7,"},
      {"p100", "ld.volatile.u32", "membar.sys;", "membar.sys;", "red.sys.global.max.u32"}};
  constexpr unsigned blocks = 2, threads = 64, rounds = 5;
  for (const auto& way : ways) {
    restart();
    system_on_one_memory s(350, {"l2.ways=16"}, way.gpu_name);
    SCOPED_TRACE(std::string(way.gpu_name) + ": " + way.load + ", " + way.store);
    const std::string text = with_accesses(
        ping_kernel, {{"LOAD", way.load}, {"ACQUIRE", way.acquire}, {"RELEASE", way.release}, {"STORE", way.store}});
    launch_request r;
    r.module = s.driver.load_module(text, "ping.ptx");
    r.kernel = "ping";
    r.grid[0] = blocks;
    r.block[0] = threads;
    const std::uint64_t a = s.driver.allocate(blocks * 4096);
    r.argument(a).argument(rounds);
    const unsigned n = s.driver.launch(r);
    const auto sent = [](unsigned round, unsigned block, unsigned thread) {
      return round * 1000 + block * 100 + thread;
    };
    unsigned asked[blocks] = {}, answered[blocks] = {}, wrong = 0, turn = 0;
    s.run_until([&] {
      if (way.switched && ++turn % 61 == 0) s.driver.preempt({}, preemption_mode::context_switch, 100);
      for (unsigned b = 0; b < blocks; ++b) {
        const std::uint64_t at = a + b * 4096;
        if (answered[b] == rounds || s.memory.get(at + 4) != asked[b]) continue;
        answered[b] = asked[b];
        for (unsigned t = 0; t < threads && answered[b] != 0; ++t)
          wrong += s.memory.get(at + 1024 + 4 * t) != sent(answered[b], b, t) * 3 + answered[b];
        if (answered[b] == rounds) continue;
        ++asked[b];
        for (unsigned t = 0; t < threads; ++t) s.memory.put(at + 128 + 4 * t, sent(asked[b], b, t));
        s.memory.put(at, asked[b]);
      }
      return s.driver.finished(n) && s.chip.idle();
    });
    EXPECT_EQ(wrong, 0u);
    for (const unsigned rounds_done : answered) EXPECT_EQ(rounds_done, rounds);
    EXPECT_TRUE(!way.switched || turn > 3 * 61) << "hardly ever switched";
    s.chip.check_invariants();
    s.expect_clean();
  }
}

}  // namespace shared_memory_ip_test
}  // namespace heddle::test
