// SPDX-License-Identifier: MIT
// A custom warp scheduler, without a change of the library: the class (least_issued.h), and one line that installs it
// in every sub-partition. It is compared with two policies of the library on a matrix product.
#include <heddle/heddle.h>
#include <heddle/sm/sm.h>

#include <iostream>

#include "testbench/cosim/least_issued.h"
#include "testbench/cosim/matrix_product.h"
#include "testbench/cosim/text_file.h"

namespace {

heddle::gpu_config with_policy(const std::string& policy) {
  return heddle::load_config("gtx1080", {"gpu.sm_count=2", "sub_partition.scheduler=" + policy});
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: own_scheduler sgemm.ptx\n";
    return 2;
  }
  const std::string ptx = cosim::text_file(argv[1]);
  // Three GPUs are in one simulation, so one run compares them.
  cosim::matrix_product lrr("lrr", with_policy("lrr"), ptx), gto("gto", with_policy("gto"), ptx),
      own("own", with_policy("lrr"), ptx);
  for (unsigned i = 0; i < own.gpu.sm_count(); ++i)
    for (auto& partition : own.gpu.sm_at(i).partitions)
      partition.scheduler.use(std::make_unique<cosim::least_issued>());
  sc_core::sc_start();
  for (const cosim::matrix_product* s : {&lrr, &gto, &own})
    std::cout << s->basename() << ": " << (s->right ? "right" : "wrong") << " after " << s->ended << "\n";
  const bool differs = own.ended != lrr.ended;
  return lrr.right && gto.right && own.right && differs ? 0 : 1;
}
