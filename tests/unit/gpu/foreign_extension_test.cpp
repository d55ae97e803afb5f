// SPDX-License-Identifier: MIT
// A memory that adds extensions of its own to the transactions of a GPU.
#include <string>

#include "tests/unit/common/foreign_ip.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/memory/memory_stress.h"

namespace heddle::test {
namespace foreign_extension_test {

using foreign_extensions = fresh_simulation;

TEST_F(foreign_extensions, extensions_that_a_memory_adds_for_one_transaction_end_with_it) {
  struct mark : tlm::tlm_extension<mark> {
    explicit mark(unsigned& alive) : alive(alive) { ++alive; }
    mark(const mark& o) : tlm::tlm_extension<mark>(o), alive(o.alive) { ++alive; }
    ~mark() override { --alive; }
    [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new mark(*this); }
    void copy_from(const tlm::tlm_extension_base&) override {}
    unsigned& alive;
  };
  struct marking_memory : sc_core::sc_module {
    explicit marking_memory(sc_core::sc_module_name name) : sc_module(name) {
      socket.register_b_transport(this, &marking_memory::b_transport);
      socket.register_transport_dbg(this, &marking_memory::transport_dbg);
    }
    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
      seen_again += p.get_extension<mark>() != nullptr;
      p.set_auto_extension(new mark(alive));
      ++marked;
      store.perform(p);
      delay += sc_core::sc_time(40, sc_core::SC_NS);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& p) { return store.debug(p); }
    tlm_utils::simple_target_socket<marking_memory> socket{"socket"};
    foreign::storage store;
    unsigned marked = 0, seen_again = 0, alive = 0;
  };
  constexpr stress_size size{4, 128, 4};
  stressed_gpu g("gpu", load_config("gtx1080", {"gpu.sm_count=2", "memory.model=external", "memory.channels=1",
                                                "l2.size_bytes=65536", "tlm.check=true"}));
  marking_memory memory("memory");
  g.gpu.memory_socket[0].bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  g.start(size);
  run_until_finished({&g});
  EXPECT_TRUE(g.result() == stress_expected(size));
  EXPECT_GT(memory.marked, 100u);
  EXPECT_EQ(memory.seen_again, 0u);
  EXPECT_EQ(memory.alive, 0u);
}

}  // namespace foreign_extension_test
}  // namespace heddle::test
