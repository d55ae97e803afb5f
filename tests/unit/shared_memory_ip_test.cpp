// SPDX-License-Identifier: MIT
// One memory for a GPU and for others that write it: what is theirs is seen, whatever is on its way at that moment.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "config/config.h"
#include "foreign_ip.h"
#include "fresh_simulation.h"
#include "gpu/gpu.h"
#include "gpu/host_driver.h"
#include "gpu/host_registers.h"
#include "memory/l2_slice.h"

namespace heddle::test {
namespace {

/// A memory that takes its time to answer, and in which a CPU, the test, writes at any moment.
class slow_memory : public sc_core::sc_module {
 public:
  slow_memory(sc_core::sc_module_name name, const sc_core::sc_time& latency)
      : sc_module(name), latency_(latency), queue_(this, &slow_memory::on_event) {
    socket.register_nb_transport_fw(this, &slow_memory::nb_transport_fw);
    socket.register_transport_dbg(this, &slow_memory::transport_dbg);
  }
  tlm_utils::simple_target_socket<slow_memory> socket{"socket"};
  foreign::storage store;
  unsigned under_way = 0;

  void put(std::uint64_t address, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) store.bytes[address + i] = static_cast<std::uint8_t>(value >> 8 * i);
  }

 private:
  // Reads take what is there when they come, so that they bring old bytes late; writes act when they are answered.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    p.acquire();
    ++under_way;
    if (p.is_read()) store.perform(p);
    queue_.notify(p, tlm::BEGIN_RESP, latency_);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void on_event(tlm::tlm_generic_payload& p, const tlm::tlm_phase&) {
    if (p.is_write()) store.perform(p);
    --under_way;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    socket->nb_transport_bw(p, phase, delay);
    p.release();
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return store.debug(p); }

  sc_core::sc_time latency_;
  tlm_utils::peq_with_cb_and_phase<slow_memory> queue_;
};

// `follow` reads a word, and then, dependent on it, one in another sector of the same line; `copy` reads the word. `scatter` stores
// bytes three apart.
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

/// A GPU, its driver and a memory of `latency_ns`, and a checker between.
struct system_on_one_memory {
  explicit system_on_one_memory(double latency_ns, std::vector<std::string> more = {})
      : config(load_config("gtx1080", with(std::move(more)))),
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
    more.insert(more.end(), {"gpu.sm_count=2", "memory.model=external", "memory.channels=1", "l2.size_bytes=65536", "tlm.check=true"});
    return more;
  }
  unsigned launch(const char* kernel, const std::vector<std::uint64_t>& arguments, unsigned stream = 0, unsigned blocks = 1,
                  unsigned threads = 1) {
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
    for (unsigned turn = 0; turn < 100000 && !done() && driver.fault().empty(); ++turn) sc_core::sc_start(50, sc_core::SC_NS);
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

TEST_F(shared_memory_ip, a_launch_sees_what_a_cpu_wrote_while_a_fetch_of_that_line_was_on_its_way) {
  // The CPU writes while the first kernel fetches the word (early), and while it fetches the other sector of the line (late).
  for (const double moment_us : {1.0, 3.0, 5.0, 6.5}) {
    restart();
    system_on_one_memory s(4000);
    const std::uint64_t a = s.driver.allocate(256), o1 = s.driver.allocate(256), o2 = s.driver.allocate(256);
    s.memory.put(a, 1);
    s.memory.put(a + 96, 7);
    const unsigned first = s.launch("follow", {a, o1}, 0);
    sc_core::sc_start(moment_us, sc_core::SC_US);
    ASSERT_FALSE(s.driver.finished(first));
    EXPECT_GT(s.memory.under_way, 0u) << moment_us;
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

TEST_F(shared_memory_ip, a_relaunch_sees_what_a_cpu_wrote_while_the_gpu_was_idle) {
  system_on_one_memory s(100);
  const std::uint64_t a = s.driver.allocate(256), o = s.driver.allocate(256);
  for (unsigned round = 1; round <= 4; ++round) {
    s.memory.put(a, round);
    const unsigned n = s.launch("copy", {a, o});
    s.run_until([&] { return s.driver.finished(n); });
    EXPECT_EQ(s.word(o), round);
    std::uint32_t in_memory = 0;
    for (unsigned i = 0; i < 4; ++i) in_memory |= std::uint32_t{s.memory.store.bytes[o + i]} << 8 * i;
    EXPECT_EQ(in_memory, round) << "written back before the completion is told";
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
  s.memory.put(a, 99);   // no command
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
  // Between the kernel's bytes lie the host's.
  std::vector<std::uint8_t> last(bytes / 3);
  unsigned turn = 0, during_writes = 0;
  s.run_until([&] {
    ++turn;
    during_writes += s.memory.under_way > 0;
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

}  // namespace
}  // namespace heddle::test
