// SPDX-License-Identifier: MIT
// Whole modules with one error each (declarations, kernel directives, labels, calls, and instructions without rows in
// form_table.h: matrices, textures, asynchronous copies, mbarriers, video instructions), and similar modules without an
// error. Heddle rejects what ptxas rejects for all three architectures, except for a few listed cases. If ptxas 13.0 is
// installed, every 16th verdict of the data is checked again.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"

namespace heddle {
namespace ptx_module_refusal_test {

constexpr const char* architectures[] = {"sm_75", "sm_80", "sm_90a"};

struct module_case {
  std::array<bool, 3> taken{};  // by architecture
  char mark = '=';
  std::string text;  // text after .address_size

  [[nodiscard]] bool legal() const { return taken[0] || taken[1] || taken[2]; }
};

std::string with_names(std::string text) {
  static const std::pair<const char*, const char*> names[] = {
      {"@KERNEL", ".visible .entry k(.param .u64 p)"},
      {"@REGISTERS",
       ".shared .align 128 .b8 sm[8192]; .reg .b16 %h<16>; .reg .b32 %r<40>; .reg .b64 %d<16>; .reg .f32 %f<40>; .reg .f64 %e<16>; "
       ".reg .pred %p<4>; .reg .b128 %q<4>; ld.param.u64 %d0,[p];"},
      {"@PARAMETERS",
       ".param .b32 o; .param .b32 a; .param .b64 b; .param .align 4 .b8 s[8]; .param .b32 a2[2]; .param .f32 fa;"},
      {"@FUNCTIONS",
       ".func (.param .b32 o) f(.param .b32 a, .param .b64 b) { ret; } .func n() { ret; } .func (.reg .b32 o) g(.reg .b32 a) { mov.b32 o,a; ret; } "
       ".func h(.param .align 4 .b8 s[8]) { ret; } .extern .func e(.param .b32 a); .global .b64 w;"},
      {"@TEXTURES", ".global .texref t; .global .surfref s;"}};
  for (const auto& [name, meaning] : names)
    for (std::size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, std::string(name).size(), meaning);
  return text;
}

std::vector<module_case> read_cases() {
  std::ifstream in(HEDDLE_TEST_DATA "/ptxas_modules.txt");
  std::vector<module_case> all;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    module_case c;
    for (std::size_t k = 0; k < 3; ++k) c.taken[k] = line[k] == '1';
    c.mark = line[3];
    c.text = with_names(line.substr(5));
    all.push_back(std::move(c));
  }
  return all;
}

std::string module_text(const module_case& c, const char* architecture) {
  return std::string(".version 9.0\n.target ") + architecture + "\n.address_size 64\n" + c.text + "\n";
}

std::string refusal_of_module(const module_case& c) {
  gpu_config config;
  config.gpu.name = "test";
  config.gpu.compute_capability = choice::named<choice::compute_capability>("9.0");
  config.tma.requests_in_flight = 1;
  config.fp64.lanes = config.half.lanes = 32;
  tensor_parameters& t = config.tensor;
  t.f16_fma_per_cycle = t.f16_f32_fma_per_cycle = t.bf16_fma_per_cycle = t.tf32_fma_per_cycle = t.int8_fma_per_cycle =
      t.f64_fma_per_cycle = 64;
  try {
    static_cast<void>(ptx::lower(ptx::place(ptx::parse(module_text(c, "sm_90a"), "v.ptx"), isa::heap_base, 0x2000'0000),
                                 "k", config));
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

TEST(ptx_refusals, modules_are_accepted_or_refused_as_by_ptxas) {
  std::size_t taken = 0, refused = 0, more = 0, less = 0;
  for (const module_case& c : read_cases()) {
    const std::string message = refusal_of_module(c);
    ASSERT_TRUE(c.mark == '=' || c.mark == (c.legal() ? '-' : '+')) << c.text;
    EXPECT_EQ(message.empty(), c.legal() == (c.mark == '='))
        << c.text << (c.legal() ? ": ptxas takes it; " : ": ptxas refuses it") << message;
    EXPECT_TRUE(message.empty() || message.rfind("v.ptx:4:", 0) == 0) << c.text << "\n" << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    ++(c.mark == '+' ? more : c.mark == '-' ? less : c.legal() ? taken : refused);
  }
  EXPECT_GT(taken, 300u);
  EXPECT_GT(refused, 500u);
  EXPECT_LE(more, 14u);  // docs/isa/ptx_limits.md, "Operands"
  EXPECT_LE(less, 30u);
}

TEST(ptx_refusals, verdicts_on_modules_are_those_of_ptxas) {
  const std::string ptxas = HEDDLE_PTXAS;
  const auto silent = [&](const std::string& arguments) {
    return std::system((ptxas + " " + arguments + " >/dev/null 2>&1").c_str()) == 0;
  };
  if (ptxas.find("NOTFOUND") != std::string::npos ||
      std::system((ptxas + " --version | grep -q 'release 13.0'").c_str()) != 0)
    GTEST_SKIP() << "no ptxas of release 13.0 here (CUDA toolkit): its verdicts in tests/unit/data stand for it";
  const std::filesystem::path place =
      std::filesystem::temp_directory_path() / ("heddle-modules-" + std::to_string(::getpid()));
  std::filesystem::create_directories(place);
  const std::vector<module_case> cases = read_cases();
  for (std::size_t k = 0; k < cases.size(); k += 16) {
    const std::size_t a = k / 16 % 3;
    std::ofstream(place / "v.ptx") << module_text(cases[k], architectures[a]);
    EXPECT_EQ(silent(std::string("-O0 -arch ") + architectures[a] + " -o /dev/null " + (place / "v.ptx").string()),
              cases[k].taken[a])
        << cases[k].text << " on " << architectures[a];
  }
  std::filesystem::remove_all(place);
}

}  // namespace ptx_module_refusal_test
}  // namespace heddle
