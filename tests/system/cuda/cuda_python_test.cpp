// SPDX-License-Identifier: MIT
// Python programs that use CUDA through Numba, under heddle exec. They compare their results with numpy's.
#include "tests/system/cuda/cuda_program.h"

namespace cuda_python_test {

using namespace cuda_runs;

const std::string scripts = HEDDLE_SOURCE "/tests/system/cuda/python/";

bool has_numba() { return shell("exec /usr/bin/python3 -c \"import numba.cuda, numpy\"").code == 0; }

/// Makes a folder that has what Numba looks for in a toolkit; where a toolkit's libnvvm is varies.
bool make_toolkit(const fs::path& place) {
  fs::remove_all(place);
  for (const std::string toolkit : {"/usr/local/cuda", "/usr/lib/nvidia-cuda-toolkit"})
    for (const char* library : {"/nvvm/lib64/libnvvm.so", "/lib64/libnvvm.so", "/lib/libnvvm.so"}) {
      const std::string functions = toolkit + "/nvvm/libdevice";
      if (!fs::exists(toolkit + library) || !fs::exists(functions)) continue;
      fs::create_directories(place / "nvvm/lib64");
      fs::create_directories(place / "lib64");  // empty: the runtime is Heddle's
      fs::create_directory_symlink(functions, place / "nvvm/libdevice");
      fs::create_symlink(fs::canonical(toolkit + library), place / "nvvm/lib64/libnvvm.so");
      return true;
    }
  return false;
}

TEST(cuda_python, numba_loads_and_links_ptx) {
  if (!has_numba()) GTEST_SKIP() << "/usr/bin/python3 has no Numba (Debian: python3-numba)";
  const outcome ran =
      exec("/usr/bin/python3 " + scripts + "numba_ptx.py " HEDDLE_SOURCE "/tests/system/cuda/driver_kernels.ptx");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out, "all is well\n") << ran.err;
}

TEST(cuda_python, numba_compiles_and_runs_kernels) {
  if (!has_numba()) GTEST_SKIP() << "/usr/bin/python3 has no Numba (Debian: python3-numba)";
  const fs::path toolkit = place_of_test() / "toolkit";
  if (!make_toolkit(toolkit)) GTEST_SKIP() << "there is no libnvvm, by which Numba compiles (a CUDA toolkit has it)";
  const outcome ran =
      shell("CUDA_HOME=" + toolkit.string() + " exec \"$HEDDLE\" exec --quiet --gpu a100 -- /usr/bin/python3 " +
            scripts + "numba_program.py");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("\nall is well\n"), std::string::npos) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("a device after its closing: right\n"), std::string::npos) << ran.out;
}

}  // namespace cuda_python_test
