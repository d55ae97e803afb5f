// SPDX-License-Identifier: MIT
// Lines of the source that PTX was compiled from (.loc, nvcc -lineinfo): in faults, metrics, the summary.
#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace source_lines_test {

using namespace ptx_runs;

// What nvcc -lineinfo makes of k.cu below, shortened; `code` is inlined twice.
std::string lined(const std::string& code) {
  return ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
         ".reg .b32 %r<8>; .reg .b64 %o<4>;\n.loc 1 8 0\nld.param.u64 %o0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %o0, %r0, 4, %o0;\n"
         ".loc 1 9 3\n.loc 1 5 3, function_name $L__info_string0, inlined_at 1 9 3\n"
         ".loc 1 2 3, function_name $L__info_string1, inlined_at 1 5 3\n" +
         code +
         "\n.loc 1 10 3\nst.global.u32 [%o0], %r0;\nret;\n}\n.file 1 \"k.cu\"\n.section .debug_str {\n"
         "$L__info_string0:\n.b8 95,90,52,98,111,116,104,80,75,102,105,0\n"
         "$L__info_string1:\n.b8 95,90,52,108,111,97,100,80,75,102,105,0\n}\n";
}
const char* const cuda =
    "__device__ int load(const float* p, int i) {\n  return step(p[i]);\n}\n__device__ int both(const float* p, int i) {\n"
    "  return load(p, i);\n}\n__global__ void k(int* out) {\n  // begins\n  int x = both(0, 1);\n  *out = x;\n}\n";
const char* const job = R"({"module": "k.ptx", "buffers": {"o": {"bytes": 128}},
  "launches": [{"kernel": "k", "grid": [1], "block": [32], "args": [{"buffer": "o"}]}]})";

TEST(source_lines, a_fault_names_them_with_the_calls_that_were_inlined) {
  const outcome o = run(lined("mov.b64 %o1, 64; st.global.u32 [%o1], %r0;"), "v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(
      o.err.find("k.ptx:11:18: illegal address 0x00000040 (4-byte store) in kernel 'k', block (0,0,0), thread (0,0,0), "
                 "at k.cu:2 in load(float const*, int), called at k.cu:5 in both(float const*, int), called at k.cu:9"),
      std::string::npos)
      << o.err;
  const outcome trap = run(lined("trap;"), "v100");
  EXPECT_NE(trap.err.find(", at k.cu:2 in load("), std::string::npos) << trap.err;
  // Where the PTX does not say, nothing is said.
  const outcome plain = run(module_of("", "mov.b64 %d0, 64; st.global.u32 [%d0], %r1;"), "v100");
  EXPECT_EQ(plain.code, 1);
  EXPECT_EQ(plain.err.find(", at "), std::string::npos) << plain.err;
}

TEST(source_lines, a_deadlock_names_them) {
  const outcome d = run(lined("bar.sync 0, 64;"), "v100");
  EXPECT_EQ(d.code, 1);
  EXPECT_NE(d.err.find("k.ptx:11:1 (k.cu:2, called at k.cu:5, called at k.cu:9)"), std::string::npos) << d.err;
}

TEST(source_lines, are_in_metrics_and_summary_with_their_text) {
  const std::string text = lined("mul.lo.u32 %r0, %r0, 3; mul.lo.u32 %r0, %r0, 5;\nmul.lo.u32 %r0, %r0, 7;");
  const outcome o = run_job({{"k.ptx", text}, {"k.cu", cuda}, {"job.json", job}}, "--gpu v100 --metrics m.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string metrics = content(place_of_test() / "m.json");
  EXPECT_NE(metrics.find("\"source\": \"k.cu:2\""), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\"source_text\": \"return step(p[i]);\""), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\"function\": \"load(float const*, int)\""), std::string::npos);
  EXPECT_NE(metrics.find("\"called_at\": [\"k.cu:5\", \"k.cu:9\"]"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\"source_text\": \"*out = x;\""), std::string::npos);
  const std::string summary = [&] {
    std::system(
        ("cd '" + place_of_test().string() +
         "' && '" HEDDLE_PROGRAM
         "' run job.json --gpu v100 --set instruction_cache.second_level_misses=fixed > summary")
            .c_str());  // in the few cycles of this kernel, code that comes from memory would be all that is waited for
    return content(place_of_test() / "summary");
  }();
  EXPECT_NE(summary.find("k.cu:2 (PTX 1"), std::string::npos) << summary;
  // A job that may not read everything quotes nothing that its PTX names.
  const outcome confined =
      run_job({{"k.ptx", text}, {"k.cu", cuda}, {"job.json", job}}, "--gpu v100 --metrics m.json --confine .");
  ASSERT_EQ(confined.code, 0) << confined.err;
  EXPECT_EQ(content(place_of_test() / "m.json").find("source_text"), std::string::npos);
  EXPECT_NE(content(place_of_test() / "m.json").find("\"source\": \"k.cu:2\""), std::string::npos);
  // Without the source, or with a device in its place, only the text is missing.
  const outcome gone = run_job({{"k.ptx", text}, {"job.json", job}}, "--gpu v100 --metrics m.json");
  ASSERT_EQ(gone.code, 0) << gone.err;
  EXPECT_EQ(content(place_of_test() / "m.json").find("source_text"), std::string::npos);
  std::string device = text;
  device.replace(device.find("\"k.cu\""), 6, "\"/dev/zero\"");
  ASSERT_EQ(run_job({{"k.ptx", device}, {"job.json", job}}, "--gpu v100 --metrics m.json").code, 0);
  EXPECT_EQ(content(place_of_test() / "m.json").find("source_text"), std::string::npos);
}

// Modules that are linked: each PTX line has the source of its own module.
TEST(source_lines, of_linked_modules_stay_apart) {
  const std::string caller =
      ".version 8.0\n.target sm_70\n.address_size 64\n.extern .func f(.param .b64 p);\n.visible .entry k(.param .u64 out) {\n"
      ".reg .b64 %d<2>;\n.loc 1 3 1\nld.param.u64 %d0, [out];\n{ .param .b64 a; st.param.b64 [a], %d0; call f, (a); }\nret;\n}\n.file 1 \"a.cu\"\n";
  const std::string callee =
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .func f(.param .b64 p) {\n.reg .b32 %r<2>; .reg .b64 %d;\n.loc 1 7 1\n"
      "mov.b64 %d, 64; mov.u32 %r1, 5; st.global.u32 [%d], %r1;\nret;\n}\n.file 1 \"b.cu\"\n";
  const outcome o = run_job({{"a.ptx", caller}, {"b.ptx", callee}, {"job.json", R"({"modules": ["a.ptx", "b.ptx"],
    "buffers": {"o": {"bytes": 128}}, "launches": [{"kernel": "k", "grid": [1], "block": [32], "args": [{"buffer": "o"}]}]})"}},
                            "--gpu v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("b.ptx:7:33: illegal address"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find(", at b.cu:7"), std::string::npos) << o.err;
}

}  // namespace source_lines_test
