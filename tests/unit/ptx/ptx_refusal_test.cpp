// SPDX-License-Identifier: MIT
// Lowering rejects exactly what ptxas rejects. Every form of the form table, with every operand replaced by others, is
// compared with the verdicts of ptxas 13.0 in data/ptxas_verdicts.txt; if ptxas is installed, the verdicts are checked,
// too. A line of the data is a case: the context in which ptxas accepts it ('-': none), which of its variants it
// accepts (one bit each, hexadecimal), and its code.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"
#include "ptx_variants.h"

namespace heddle {
namespace ptx_refusal_test {

using ptx_variants::form_case;

/// Version, target and chip for which the forms of a case are legal; no single one is legal for all.
struct context {
  const char *version, *target, *chip;
  bool newest;
};
constexpr context contexts[] = {{"9.0", "sm_90a", "sm_90a", true},
                                {"9.0", "sm_100a", "sm_100a", true},
                                {"6.3", "sm_60", "sm_75", false},
                                {"3.0", "sm_30", "sm_75", false}};

struct verdict {
  int where = -1;  // index of a context; -1: ptxas rejects the case in all of them
  std::string accepted, code;

  [[nodiscard]] bool takes(std::size_t variant) const {
    const char c = accepted[variant / 4];
    return ((c <= '9' ? c - '0' : c - 'a' + 10) >> (variant % 4) & 1) != 0;
  }
};

std::vector<verdict> read_verdicts() {
  std::ifstream in(HEDDLE_TEST_DATA "/ptxas_verdicts.txt");
  std::vector<verdict> all;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    verdict v;
    std::string where;
    words >> where >> v.accepted >> std::ws;
    std::getline(words, v.code);
    v.where = where == "-" ? -1 : std::stoi(where);
    all.push_back(std::move(v));
  }
  return all;
}

std::string in_block(std::string code, std::size_t number) {
  const std::size_t at = code.find("@L");
  if (at == std::string::npos) return "{ " + code + " }\n";
  const std::string label = "L" + std::to_string(number);
  return "{ " + label + ": " + code.replace(at, 2, label) + " }\n";
}

/// The message with which lowering rejects the code; "" if it accepts it.
std::string refusal(const std::string& code) {
  gpu_config config;
  config.gpu.name = "test";
  config.gpu.compute_capability = choice::named<choice::compute_capability>("10.0");
  config.tma.requests_in_flight = 1;
  config.fp64.lanes = config.half.lanes = 32;
  const std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n" + ptx_variants::prelude(true) +
                           in_block(code, 0) + "ret;\n}\n";
  try {
    static_cast<void>(ptx::lower(ptx::place(ptx::parse(text, "v.ptx"), isa::heap_base, 0x2000'0000), "k", config));
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& code, const char* text) { return code.find(text) != std::string::npos; }

/// Code that Heddle accepts and ptxas does not, with the reason.
bool more_than_ptxas(const std::string& code) {
  return (code.rfind("cvta", 0) == 0 &&
          has(code, ".u32")) ||    // ptxas no longer supports 32-bit addresses, the model's memory supports both
         has(code, "%vv, [%d0]");  // ptxas terminates without a message for a vector register as the result of atom
}

/// st.async and red.async without an mbarrier, in a local variable, or of a vector in place of one element.
bool lacks_place_or_element(const std::string& code) {
  return has(code, ".async.") &&
         (!has(code, ", [") || has(code, "[lv]") || has(code, "%vv") || has(code, "{%r1, %r2}"));
}

/// Code that ptxas accepts and Heddle does not: "What ptxas takes beyond it" of docs/isa/ptx_limits.md.
bool less_than_ptxas(const std::string& code) {
  return code.rfind("mov.v2", 0) == 0 ||                                    // one value for all elements
         has(code, "b128") ||                                               // literals and addresses of 128 bits
         has(code, "bf16x2") ||                                             // vectors and predicates as pairs of bf16
         lacks_place_or_element(code) || code.rfind("cvt.pack", 0) == 0 ||  // registers of 64 bits
         (code.rfind("atom.", 0) == 0 && has(code, "[%d0], %r2, %r1")) ||   // a fourth operand without meaning
         ((code.rfind("atom", 0) == 0 ||
           code.rfind("red", 0) == 0) &&  // of a local variable, or of vectors in a shared one
          (has(code, "[lv]") ||
           (has(code, "[sv]") && (has(code, ".v2.") || has(code, ".v4.") || has(code, ".v8."))))) ||
         (code.rfind("ldu", 0) == 0 && (has(code, "[sv]") || has(code, "[lv]"))) ||  // ldu is for global memory
         ((has(code, ".v8.") || has(code, ".v4.")) &&
          (has(code, "[sv]") || has(code, "[lv]")));  // 32 bytes of shared and local variables
}

TEST(ptx_refusals, every_form_with_every_operand_exchanged_is_accepted_or_refused_as_by_ptxas) {
  const std::vector<verdict> verdicts = read_verdicts();
  const std::vector<form_case> cases = ptx_variants::all_cases();
  ASSERT_EQ(cases.size(), verdicts.size()) << "data/ptxas_verdicts.txt is of another form table";
  std::size_t taken = 0, refused = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const form_case& c = cases[k];
    const verdict& v = verdicts[k];
    ASSERT_EQ(c.code, v.code) << "data/ptxas_verdicts.txt is of another form table";
    const auto compare = [&](const std::string& code, bool legal) {
      const std::string message = refusal(code);
      const bool known = legal ? message.empty() || less_than_ptxas(code) : !message.empty() || more_than_ptxas(code);
      EXPECT_TRUE(known) << code << (legal ? ": ptxas takes it; " : ": ptxas refuses it") << message;
      EXPECT_TRUE(message.empty() || message.rfind("v.ptx:", 0) == 0) << message;
      ++(legal ? taken : refused);
    };
    compare(c.code, v.where >= 0);
    for (std::size_t n = 0; v.where >= 0 && n < c.variants.size(); ++n) compare(c.variants[n], v.takes(n));
  }
  EXPECT_GT(taken, 8000u);
  EXPECT_GT(refused, 25000u);
}

/// Code around instructions, and what ptxas 13.0 reports: a part of Heddle's message, or "" if both accept it.
TEST(ptx_refusals, directives_and_declarations_are_accepted_or_refused_as_by_ptxas) {
  const std::array<std::array<const char*, 3>, 30> kernels = {
      {// directives of the kernel, its body, the message
       {".maxntid 0", "", "0, expected a number of threads or blocks of at least 1"},
       {".maxntid 32,0", "", "of at least 1"},
       {".maxntid 1024", "", ""},
       {".reqntid 0", "", "of at least 1"},
       {".minnctapersm 0", "", "of at least 1"},
       {".maxnreg 0", "", "of at least 1"},
       {".maxnreg 32 .maxntid 64", "", ""},
       {"", ".reg .b32 %r; .reg .b32 %r;", "'%r' is declared twice"},
       {"", ".reg .b32 %r; .reg .f32 %r;", "'%r' is declared twice"},
       {"", ".reg .b32 %r, %s, %r;", "declared twice"},
       {"", ".reg .b32 %r<4>; .reg .b32 %r1;", "'%r1' is declared by '%r<4>', too"},
       {"", ".reg .b32 %r1; .reg .b32 %r<4>;", "declared by"},
       {"", ".reg .b32 %r<4>; .reg .b32 %r4;", ""},
       {"", ".reg .b32 %r<4>; .reg .f32 %r<8>;", "declared twice"},
       {"", ".reg .b32 %r; { .reg .b32 %r; }", ""},
       {"", ".reg .b32 p;", "'p' is declared twice"},
       {"", ".shared .b32 s; .reg .b32 s;", "declared twice"},
       {"", ".reg .b32 %r[3];", "array of registers"},
       {"", ".reg .b32 %r = 5;", "initial value"},
       {"", ".reg .v2 .pred %v;", "is a predicate"},
       {"", ".reg .v4 .b64 %v;", "more than 128 bits"},
       {"", ".reg .v2 .b64 %v;", ""},
       {"", ".shared .pred s;", "is a predicate"},
       {"", ".shared .b32 s[0];", "array without elements"},
       {"", ".shared .b32 s[];", "array without elements"},
       {"", ".local .b32 l[0];", "array without elements"},
       {"", ".shared .b32 s = 1;", "initial value"},
       {"", ".local .b32 l[2] = {1, 2};", "initial value"},
       {"", ".shared .v4 .b32 s;", ""},
       {"", ".local .align 16 .b8 l[3];", ""}}};
  const auto refusal_of = [](const std::string& module) {
    try {
      static_cast<void>(
          ptx::lower(ptx::place(ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + module, "v.ptx"),
                                isa::heap_base, 0x2000'0000),
                     "k", gpu_config{}));
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto expect = [&](const std::string& module, const std::string& message) {
    const std::string said = refusal_of(module);
    EXPECT_EQ(said.empty(), message.empty()) << module << "\n" << said;
    EXPECT_NE(said.find(message), std::string::npos) << module << "\n" << said;
    EXPECT_TRUE(message.empty() || said.rfind("v.ptx:4:", 0) == 0) << said;
  };
  for (const auto& [directives, body, message] : kernels)
    expect(std::string(".visible .entry k(.param .u64 p) ") + directives + " { " + body + " ret; }\n", message);
  const std::array<std::array<const char*, 2>, 8> variables = {{{".global .b32 v[0];", "array without elements"},
                                                                {".global .b32 v[];", "array without elements"},
                                                                {".global .b32 v[] = {1, 2};", ""},
                                                                {".const .b32 c[0];", "array without elements"},
                                                                {".extern .shared .b32 s[];", ""},
                                                                {".global .pred v;", "is a predicate"},
                                                                {".global .v4 .b64 v;", "more than 128 bits"},
                                                                {".shared .b32 s = 1;", "initial value"}}};
  for (const auto& [variable, message] : variables)
    expect(std::string(variable) + " .visible .entry k(.param .u64 p) { ret; }\n", message);
}

/// A directory for the files of one test, removed with it.
class scratch_folder {
 public:
  scratch_folder() : path_(std::filesystem::temp_directory_path() / ("heddle-ptxas-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~scratch_folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Runs ptxas and returns its output; `failed`: its exit status is not 0.
std::string run_ptxas(const std::string& arguments, bool& failed) {
  std::string said;
  FILE* pipe = ::popen((HEDDLE_PTXAS " " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t n; pipe && (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    said.append(buffer.data(), n);
  failed = !pipe || ::pclose(pipe) != 0;
  return said;
}

/// True if the ptxas version of the data is installed; otherwise sets `why`.
bool finds_ptxas(std::string& why) {
  if (std::string(HEDDLE_PTXAS).find("NOTFOUND") != std::string::npos)
    return why = "no ptxas here (CUDA toolkit): the verdicts of ptxas 13.0 in tests/unit/data stand for it", false;
  bool failed;
  if (run_ptxas("--version", failed).find("release 13.0") == std::string::npos || failed)
    return why = "the ptxas here is not of release 13.0, of which the data are", false;
  return true;
}

/// One module for ptxas, and its verdict.
struct question {
  std::string code;
  bool legal = false, refused = false, crashed = false;
};

/// Runs ptxas on a kernel of these questions, without those already rejected. Returns false if it terminates without
/// output.
bool ask_ptxas(std::vector<question*> asked, const context& c, bool& more) {
  const scratch_folder scratch;
  const std::string head = std::string(".version ") + c.version + "\n.target " + c.target + "\n.address_size 64\n" +
                           ptx_variants::prelude(c.newest);
  std::vector<question*> lines(1 + static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')), nullptr);
  std::ofstream file(scratch.file("v.ptx"));
  file << head;
  for (question* q : asked) {
    if (q->refused) continue;
    file << in_block(q->code, lines.size());
    lines.push_back(q);
  }
  file << "ret;\n}\n";
  file.close();
  bool failed;
  std::istringstream said(
      run_ptxas("-O0 -arch " + std::string(c.chip) + " -o /dev/null " + scratch.file("v.ptx"), failed));
  more = false;
  for (std::string line; std::getline(said, line);) {
    const std::size_t at = line.find(", line ");
    if (at == std::string::npos || (!has(line, "; error") && !has(line, "; fatal"))) continue;
    const std::size_t number = std::stoul(line.substr(at + 7));
    if (number >= lines.size() || !lines[number]) continue;
    if (has(line, "instruction 'mov'") && lines[number]->code.rfind("mov", 0) != 0)
      lines[number]->crashed = true;  // terminated while compiling the instruction
    lines[number]->refused = more = true;
  }
  return !failed || more;
}

/// ptxas stops at the first syntax error: each reported line is left out of the next run. If ptxas crashes, the list is
/// bisected.
void find_objections(const std::vector<question*>& asked, const context& c) {
  for (bool more = true; more;) {
    if (ask_ptxas(asked, c, more)) continue;
    if (asked.size() == 1) {
      asked[0]->crashed = true;
      return;
    }
    const auto middle = asked.begin() + static_cast<std::ptrdiff_t>(asked.size() / 2);
    find_objections({asked.begin(), middle}, c);
    find_objections({middle, asked.end()}, c);
    return;
  }
}

TEST(ptx_refusals, the_verdicts_are_those_of_ptxas) {
  std::string why;
  if (!finds_ptxas(why)) GTEST_SKIP() << why;
  const std::vector<verdict> verdicts = read_verdicts();
  const std::vector<form_case> cases = ptx_variants::all_cases();
  ASSERT_EQ(cases.size(), verdicts.size());
  std::size_t answered = 0;
  for (int where = 0; where < static_cast<int>(std::size(contexts)); ++where) {
    std::vector<question> questions;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      if (verdicts[k].where != where) continue;
      questions.push_back({cases[k].code, true});
      for (std::size_t n = 0; k % 100 == 0 && n < cases[k].variants.size();
           ++n)  // running all cases would take minutes
        questions.push_back({cases[k].variants[n], verdicts[k].takes(n)});
    }
    for (std::size_t from = 0; from < questions.size(); from += 200) {
      std::vector<question*> some;
      for (std::size_t k = from; k < std::min(from + 200, questions.size()); ++k) some.push_back(&questions[k]);
      find_objections(some, contexts[where]);
    }
    for (const question& q : questions) {
      if (q.crashed) continue;
      EXPECT_EQ(!q.refused, q.legal) << q.code << " in " << contexts[where].target;
      ++answered;
    }
  }
  EXPECT_GT(answered, 2000u);
}

}  // namespace ptx_refusal_test
}  // namespace heddle
