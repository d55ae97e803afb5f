// SPDX-License-Identifier: MIT
// The driver API under heddle exec: C programs, compiled here against Heddle's own declarations, that check their
// results.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"

namespace cuda_driver_test {

namespace fs = std::filesystem;
using heddle::test::content;

class cuda_driver : public ::testing::Test {
 protected:
  cuda_driver() {
    place_ = fs::path(HEDDLE_SCRATCH "/cuda_driver") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
    fs::copy_file(HEDDLE_SOURCE "/tests/system/cuda/driver_kernels.ptx", place_ / "driver_kernels.ptx");
  }

  int shell(const std::string& line) {
    const int status = std::system(("cd '" + place_.string() + "' && { " + line + "\n} > out 2> err").c_str());
    out_ = content(place_ / "out");
    err_ = without_sanitizer_remark(content(place_ / "err"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Compiles a program of tests/system/cuda, runs it and returns its exit code.
  void run(const std::string& name, int expected_code) {
    if (shell("command -v cc") != 0) GTEST_SKIP() << "there is no C compiler (cc) here";
    const std::string libraries = (fs::path(HEDDLE_PROGRAM).parent_path() / "cuda").string();
    ASSERT_EQ(shell("cc -O1 -o program '" HEDDLE_SOURCE "/tests/system/cuda/" + name + ".c' -L'" + libraries +
                    "' -Wl,-rpath-link,'" + libraries + "' -Wl,--no-as-needed -Wl,--copy-dt-needed-entries -lcuda"),
              0)
        << err_;
    const int code = shell("timeout 100 '" HEDDLE_PROGRAM "' exec --gpu v100 --quiet -- ./program");
    ASSERT_EQ(code, expected_code) << out_ << err_;
    EXPECT_NE(out_.find("all is well\n"), std::string::npos) << out_ << err_;
  }

  fs::path place_;
  std::string out_, err_;
};

TEST_F(cuda_driver, launches_kernels_from_ptx_with_copies_streams_and_events) { run("driver_launches", 0); }

TEST_F(cuda_driver, has_contexts_that_own_memory_and_shares_handles_with_the_runtime) {
  run("driver_contexts", 0);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(out_.substr(0, 5), "v100 ");
}

TEST_F(cuda_driver, captures_streams_makes_graphs_and_copies_arrays) { run("driver_graphs", 0); }

TEST_F(cuda_driver, loads_and_links_ptx_and_refuses_machine_code_by_name) {
  run("driver_modules", 0);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_NE(
      err_.find(
          "heddle: cuModuleLoadData was given a cubin (machine code of sm_90); Heddle runs PTX: load the PTX instead\n"),
      std::string::npos)
      << err_;
  EXPECT_NE(err_.find("heddle: cuModuleLoad was given 'code.cubin', a cubin (machine code of sm_120);"),
            std::string::npos)
      << err_;
  EXPECT_NE(err_.find("heddle: the program links 'code.cubin', which is not PTX; Heddle links PTX alone\n"),
            std::string::npos)
      << err_;
}

TEST_F(cuda_driver, is_not_disturbed_by_functions_that_a_program_names_as_the_c_library_does) {
  run("driver_own_names", 0);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(err_.find("the program's"), std::string::npos) << err_;
}

// Bandwidth in data sheets: twice the memory clock times the width.
TEST_F(cuda_driver, tells_the_pins_and_the_clock_of_the_memory) {
  if (shell("command -v cc") != 0) GTEST_SKIP() << "there is no C compiler (cc) here";
  const std::string libraries = (fs::path(HEDDLE_PROGRAM).parent_path() / "cuda").string();
  const std::string program =
      "#include <stdio.h>\nint cuInit(unsigned); int cuDeviceGetAttribute(int*, int, int); int main() { int c, w; "
      "cuInit(0); cuDeviceGetAttribute(&c, 36, 0); cuDeviceGetAttribute(&w, 37, 0); printf(\"%d %d\", w, c); }";
  ASSERT_EQ(shell("echo '" + program + "' > program.c && cc -o program program.c -L'" + libraries +
                  "' -Wl,-rpath-link,'" + libraries + "' -Wl,--no-as-needed -Wl,--copy-dt-needed-entries -lcuda"),
            0)
      << err_;
  const std::pair<const char*, const char*> chips[] = {
      {"rtx2060", "192 7000000"}, {"gtx1080", "256 5004000"}, {"rtx4090", "384 10500000"}, {"gtx980", "256 3506000"},
      {"v100", "4096 877000"},    {"b200", "8192 3906000"},   {"rtx5090", "512 14000000"}};
  for (const auto& [chip, expected] : chips) {
    ASSERT_EQ(shell("timeout 100 '" HEDDLE_PROGRAM "' exec --quiet --gpu " + std::string(chip) + " -- ./program"), 0);
    EXPECT_EQ(out_, expected) << chip << err_;
  }
}

TEST_F(cuda_driver, maps_memory_at_reserved_addresses) {
  run("driver_virtual_memory", 0);
  if (IsSkipped() || HasFatalFailure()) return;
  shell("timeout 100 '" HEDDLE_PROGRAM "' exec --gpu v100 --quiet --sanitize -- ./program");
  EXPECT_NE(err_.find("in memory that was freed (2097152 bytes"), std::string::npos) << err_;
  EXPECT_EQ(err_.find("uninitialised"), std::string::npos) << "memory keeps its bytes: " << err_;
}

TEST_F(cuda_driver, finds_functions_by_name_and_ends_the_program_where_one_is_missing) {
  run("driver_names", 2);
  if (IsSkipped() || HasFatalFailure()) return;
  const std::string table =
      "heddle: the program requests a private table of NVIDIA's driver (cuGetExportTable), which Heddle does not have\n";
  EXPECT_EQ(err_.find(table), err_.rfind(table)) << err_;
  EXPECT_NE(err_.find(table), std::string::npos) << err_;
  EXPECT_NE(err_.find("heddle: the program calls cuMulticastCreate, which Heddle does not have\n"), std::string::npos)
      << err_;
}

}  // namespace cuda_driver_test
