// SPDX-License-Identifier: MIT
// Parameters by hierarchical name: for several GPUs, from C++ and from a file, with all kinds of mistakes.
#include "heddle/config/presets.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <systemc>

#include "heddle/config/config.h"
#include "heddle/config/error.h"

namespace heddle {
namespace presets_test {

class presets : public ::testing::Test {
 protected:
  void SetUp() override { file_ = ::testing::TempDir() + "heddle_presets_" + std::to_string(getpid()) + ".ini"; }
  void TearDown() override { std::remove(file_.c_str()); }
  [[nodiscard]] const std::string& write(const std::string& text) const {
    std::ofstream(file_, std::ios::binary) << text;
    return file_;
  }
  /// "FILE" replaces the file's name.
  std::string error_of(const std::function<void()>& f) const {
    try {
      f();
    } catch (const input_error& e) {
      std::string message = e.what();
      const std::size_t at = message.find(file_);
      return at == std::string::npos ? message : message.replace(at, file_.size(), "FILE");
    }
    return "no error";
  }
  std::string file_;
};

TEST_F(presets, belong_to_the_instance_that_they_name) {
  config_presets p;
  p.read(write("[top.first.gpu.l2]\nhash = none\n[top.second.gpu.gpu]\nsm_count = 3\n"));
  p.set("top.first.gpu.sub_partition.scheduler=lrr");
  p.set("top.first.gpu.gpu.sm_count=7");
  p.set("top.first.gpu.gpu.sm_count=5");
  const gpu_config first = p.config_of("top.first.gpu", "gtx1080");
  EXPECT_EQ(first.l2.hash, choice::hash::none);
  EXPECT_EQ(first.sub_partition.scheduler, choice::scheduler::lrr);
  EXPECT_EQ(first.gpu.sm_count, 5u) << "the last one holds";
  EXPECT_EQ(p.unused(), std::vector<std::string>{"top.second.gpu.gpu.sm_count"});
  EXPECT_EQ(
      error_of([&] { p.check_used(); }),
      "no GPU has these parameters: top.second.gpu.gpu.sm_count; expected INSTANCE.SECTION.KEY of one that was built");
  const gpu_config second = p.config_of("top.second.gpu", "v100");
  EXPECT_EQ(second.gpu.sm_count, 3u);
  EXPECT_EQ(second.l2.hash, load_config("v100").l2.hash);
  EXPECT_EQ(error_of([&] { p.check_used(); }), "no error");
  EXPECT_EQ(flatten(p.config_of("top.first", "gtx1080")), flatten(load_config("gtx1080")))
      << "a name that others begin with";
}

TEST_F(presets, by_name_win_over_what_another_determines_in_any_order) {
  const gpu_config expected =
      load_config("gtx1080", {"dram.preset=hbm2", "dram.burst_bytes=64", "dram.t_cl_cycles=21"});
  const std::vector<std::string> named{"top.gpu.dram.burst_bytes=64", "top.gpu.dram.t_cl_cycles=21",
                                       "top.gpu.dram.preset=hbm2"};
  for (const auto& order : {std::vector<std::size_t>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    config_presets p;
    for (const std::size_t i : order) p.set(named[i]);
    EXPECT_EQ(flatten(p.config_of("top.gpu", "gtx1080")), flatten(expected)) << order[0];
  }
  config_presets file;
  file.set("top.gpu.dram.standard=ddr4");
  file.read(write("[top.gpu.dram]\nburst_bytes = 64\npreset = hbm2\nt_cl_cycles = 21\n"));
  EXPECT_EQ(flatten(file.config_of("top.gpu", "gtx1080")), flatten(expected)) << "the last of the two that determine";
}

TEST_F(presets, unknown_names_and_wrong_values_are_errors_with_a_place) {
  config_presets file;
  file.read(write("[top.gpu.l2]\n\n  hashh = xor\n"));
  EXPECT_EQ(error_of([&] { file.config_of("top.gpu", "gtx1080"); }),
            "FILE:3:3: top.gpu.l2.hashh: unknown key 'hashh' in section [l2], did you mean 'hash'?");
  config_presets code;
  code.set("top.gpu.l3.hash=xor");
  EXPECT_EQ(error_of([&] { code.config_of("top.gpu", "gtx1080"); }).find("top.gpu.l3.hash: unknown section [l3]"), 0u);
  config_presets value;
  value.set("top.gpu.gpu.sm_count=many");
  EXPECT_EQ(error_of([&] { value.config_of("top.gpu", "gtx1080"); }).find("top.gpu.gpu.sm_count: expected"), 0u);
  EXPECT_EQ(error_of([&] { value.config_of("top.other", "no_such_gpu"); }).find("top."), std::string::npos);
}

TEST_F(presets, what_has_no_such_form_is_refused) {
  config_presets p;
  for (const char* text : {"", "=", "a", "a=b", "l2.hash=xor", ".l2.hash=xor", "..=", "top.gpu.l2.hash"})
    EXPECT_NE(error_of([&] { p.set(text); }).find("expected INSTANCE.SECTION.KEY=VALUE"), std::string::npos) << text;
  EXPECT_EQ(error_of([&] { p.read(write("[l2]\nhash = xor\n")); }),
            "FILE:1:2: section [l2], expected [INSTANCE.SECTION], such as [top.gpu.l2]");
  EXPECT_NE(error_of([&] { p.read("/no/such/file.ini"); }), "no error");
}

TEST_F(presets, are_held_against_the_modules_that_there_are) {
  struct module : sc_core::sc_module {
    explicit module(sc_core::sc_module_name name) : sc_module(name) {}
  } built("presets_gpu");
  config_presets p;
  p.set("presets_gpu.l2.hash=none");
  p.config_of("presets_gpu", "gtx1080");
  EXPECT_EQ(error_of([&] { p.check_built(); }), "no error");
  p.set("presets_gpuu.l2.hash=none");
  p.config_of("presets_gpuu", "gtx1080");
  EXPECT_EQ(error_of([&] { p.check_used(); }), "no error") << "it was read";
  EXPECT_EQ(error_of([&] { p.check_built(); }),
            "no GPU has these parameters: presets_gpuu.l2.hash; expected INSTANCE.SECTION.KEY of one that was built");
}

TEST_F(presets, effective_values_read_back) {
  const gpu_config c = load_config("v100", {"l2.hash=none", "gpu.sm_count=11"});
  config_presets p;
  p.read(write(to_ini(c, "top.gpu")));
  EXPECT_EQ(flatten(p.config_of("top.gpu", "gtx1080")), flatten(c));
  EXPECT_TRUE(p.unused().empty());
}

}  // namespace presets_test
}  // namespace heddle
