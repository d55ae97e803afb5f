// SPDX-License-Identifier: MIT
// A warp scheduler of one's own, without touching the library: the class, and one line that puts it into every sub-partition.
// Compared with the policies that the library has, on a matrix product.
#include <heddle/heddle.h>
#include <heddle/sm/sm.h>

#include <array>
#include <iostream>
#include <vector>

#include "testbench/cosim/text_file.h"

namespace {

/// Of the eligible warps the one that has issued least since it came.
class least_issued : public heddle::scheduling_policy {
 public:
  unsigned select(const heddle::warp_view& view) override {
    unsigned best = 0;
    bool found = false;
    for (unsigned slot = 0; slot < issued_.size(); ++slot) {
      if (!(view.eligible >> slot & 1) || (found && issued_[slot] >= issued_[best])) continue;
      best = slot;
      found = true;
    }
    ++issued_[best];
    return best;
  }
  void placed(unsigned slot, std::uint64_t) override { issued_[slot] = 0; }

 private:
  std::array<std::uint64_t, 64> issued_{};
};

/// One GPU and a host that multiplies two matrices on it.
struct platform : sc_core::sc_module {
  heddle::gpu gpu;
  heddle::host_driver driver;
  sc_core::sc_signal<bool> irq{"irq"};
  std::string ptx;
  bool right = false;
  sc_core::sc_time ended;

  platform(sc_core::sc_module_name name, const std::string& policy, const std::string& text)
      : platform(name, heddle::load_config("gtx1080", {"gpu.sm_count=2", "sub_partition.scheduler=" + policy}), text) {}

  platform(sc_core::sc_module_name name, const heddle::gpu_config& config, const std::string& text)
      : sc_module(name), gpu("gpu", config), driver("driver", config), ptx(text) {
    driver.host_socket.bind(gpu.host_socket);
    gpu.irq(irq);
    driver.irq(irq);
    SC_HAS_PROCESS(platform);
    SC_THREAD(run);
  }

  void use_own_policy() {
    for (unsigned i = 0; i < gpu.sm_count(); ++i)
      for (auto& partition : gpu.sm_at(i).partitions) partition.scheduler.use(std::make_unique<least_issued>());
  }

  void run() {
    const unsigned n = 96;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (unsigned i = 0; i < n * n; ++i) a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
    heddle::launch_request request;
    request.module = driver.load_module(ptx, "sgemm.ptx");
    request.kernel = "sgemm";
    request.grid[0] = request.grid[1] = n / 16;
    request.block[0] = request.block[1] = 16;
    const std::uint64_t bytes = a.size() * sizeof(float);
    const std::uint64_t pa = driver.allocate(bytes), pb = driver.allocate(bytes), pc = driver.allocate(bytes);
    driver.write(pa, a.data(), bytes);
    driver.write(pb, b.data(), bytes);
    driver.wait_for(driver.launch(request.argument(n).argument(pa).argument(pb).argument(pc)));
    driver.read(pc, c.data(), bytes);
    right = driver.fault().empty();
    for (unsigned i = 0; i < n * n; ++i) {
      float sum = 0;
      for (unsigned k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
      right = right && c[i] == sum;
    }
    ended = sc_core::sc_time_stamp();
  }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: own_scheduler sgemm.ptx\n";
    return 2;
  }
  const std::string ptx = cosim::text_file(argv[1]);
  // Three GPUs side by side, so that one run compares them.
  platform lrr("lrr", "lrr", ptx), gto("gto", "gto", ptx), own("own", "lrr", ptx);
  own.use_own_policy();
  sc_core::sc_start();
  for (const platform* s : {&lrr, &gto, &own})
    std::cout << s->basename() << ": " << (s->right ? "right" : "wrong") << " after " << s->ended << "\n";
  const bool differs = own.ended != lrr.ended;
  return lrr.right && gto.right && own.right && differs ? 0 : 1;
}
