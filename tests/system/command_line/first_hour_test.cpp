// SPDX-License-Identifier: MIT
// The experience of a new user: help, manual pages, completion, and advice after mistakes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "first_hour_fixture.h"

namespace first_hour_test {

using namespace first_hour_fixture;

// ---- help ----

TEST_F(first_hour, help_is_found_by_any_of_its_names) {
  ASSERT_EQ(0, shell("heddle --help"));
  const std::string all = out_;
  for (const char* same : {"heddle -h", "heddle help"}) {
    EXPECT_EQ(0, shell(same)) << err_;
    EXPECT_EQ(all, out_) << same;
  }
  const std::vector<std::string> names = commands();
  ASSERT_GE(names.size(), 12u);
  for (const std::string& c : names) {
    EXPECT_NE(std::string::npos, all.find("\n  " + c + " ")) << c << " is not in heddle --help";
    ASSERT_EQ(0, shell("heddle " + c + " --help")) << err_;
    const std::string help = out_;
    EXPECT_EQ(0u, help.find("usage: heddle " + c)) << help;
    for (const std::string& same : {"heddle " + c + " -h", "heddle help " + c}) {
      EXPECT_EQ(0, shell(same)) << err_;
      EXPECT_EQ(help, out_) << same;
    }
    for (const std::string& line : lines_of(help)) EXPECT_LE(line.size(), 80u) << line;
  }
  refused("help rn", "did you mean 'run'?");
  ASSERT_EQ(0, shell("heddle --version"));
  const std::string version = out_;
  ASSERT_EQ(0, shell("heddle version"));
  EXPECT_EQ(0u, out_.find(version));
  EXPECT_NE(std::string::npos, out_.find("shipped GPUs: "));
}

TEST_F(first_hour, one_thing_has_one_name_and_its_others_are_accepted) {
  ASSERT_EQ(0, shell("heddle occupancy --gpu v100 --block 256 --registers-per-thread 40 --shared-bytes 9000 --json"));
  const std::string figures = out_;
  EXPECT_NE(std::string::npos, figures.find("\"blocks_per_sm\""));
  EXPECT_EQ(0, shell("heddle occupancy --gpu v100 --threads 256 --regs 40 --smem 9000 --json"));
  EXPECT_EQ(figures, out_);
  EXPECT_EQ("", err_);
  EXPECT_EQ(0, shell("heddle occupancy --gpu v100 --block 16,16 --registers-per-thread 40 --shared-bytes 9000 --json"));
  EXPECT_EQ(figures, out_) << "16 x 16 threads are 256";
  refused("occupancy --gpu v100 --block 256 --threads 256 --regs 40",
          "'--block' is given more than once, here as '--threads'");
  refused("occupancy --gpu v100 --threads 256 --regs many", "--regs: got 'many'");
  ASSERT_EQ(0, shell("heddle occupancy --help"));
  EXPECT_NE(std::string::npos, out_.find("--shared-bytes N"));
  EXPECT_EQ(std::string::npos, out_.find("\n  --smem")) << "other names are listed only as such";
  // run accepts the same names.
  const std::string launch = "heddle run --kernel '" HEDDLE_WORKLOADS
                             "/vector_add/vector_add.ptx' --grid 2 --block 64 --arg buf:512 --arg buf:512 "
                             "--arg buf:512 --arg u32:128 --quiet --metrics ";
  ASSERT_EQ(0, shell(launch + "a.json --shared-bytes 1024 --registers-per-thread 16 --carveout 50 && " + launch +
                     "b.json --smem 1024 --regs 16 --carveout 50"))
      << err_;
  const std::regex used("\"shared_bytes_per_block\": *1024");
  for (const char* file : {"a.json", "b.json"}) EXPECT_TRUE(std::regex_search(content(place_ / file), used)) << file;
  EXPECT_EQ(0, shell("heddle disasm --kernel '" HEDDLE_WORKLOADS "/vector_add/vector_add.ptx'")) << err_;
}

// ---- misspelt names ----

TEST_F(first_hour, misspelt_names_get_a_suggestion) {
  const std::string saxpy = HEDDLE_WORKLOADS "/saxpy/saxpy.ptx";
  const std::string one = "run --grid 1 --block 32 --kernel '" + saxpy;
  refused("rpeort a.json", "did you mean 'report'?");
  refused("ocupancy", "did you mean 'occupancy'?");
  refused("occ", "did you mean 'occupancy'?");
  refused(one + "' --metrcs m.json", "unknown option '--metrcs', did you mean '--metrics'?");
  refused(one + "' --shared_bytes 3", "did you mean '--shared-bytes'?");
  refused(one + "' --progress alwys", "did you mean 'always'?");
  refused(one + "' --log-level warn", "did you mean 'warning'?");
  refused(one + "' --gpu gtx1008", "did you mean 'gtx1080'?");
  refused(one + "' --gpu V100", "did you mean 'v100'?");
  refused(one + "' --set sub_partition.scheduler=ltr", "did you mean 'lrr'?");
  refused(one + "' --set sub_partition.schedular=lrr", "did you mean 'scheduler'?");
  refused(one + "' --set subpartition.scheduler=lrr", "did you mean 'sub_partition'?");
  refused(one + "' --set dram.preset=hmb2", "did you mean 'hbm2'?");
  refused(one + ":saxpi' --arg s32:1 --arg f32:1 --arg buf:64 --arg buf:64", "did you mean 'saxpy'?");
  refused("disasm '" + saxpy + ":saxy'", "did you mean 'saxpy'?");
  refused(one + "' --arg u23:1", "did you mean 'u32'?");
  refused(one + "' --arg buf:64:iota", "did you mean 'iotaf'?");
  refused("sweep s.ini --engine slum", "did you mean 'slurm'?");
  refused("completion bsh", "did you mean 'bash'?");
}

TEST_F(first_hour, misspelt_names_in_jobs_and_sweeps_get_a_suggestion) {
  fs::copy_file(HEDDLE_WORKLOADS "/saxpy/saxpy.ptx", place_ / "saxpy.ptx");
  const std::string good =
      R"({"module": "saxpy.ptx", "buffers": {"input": {"bytes": 256, "fill": "iotaf"}, "output": {"bytes": 256}},
    "launches": [{"kernel": "saxpy", "grid": [1], "block": [64], "args": [{"s32": 64}, {"f32": 2}, {"buffer": "input"}, {"buffer": "output"}]}],
    "preempt": [{"at_cycle": 1, "mode": "drain"}], "outputs": [{"buffer": "output", "expect": "ref.bin", "type": "f32"}]})";
  write("ref.bin", std::string(256, '\0'));
  const struct {
    const char* from;
    const char* to;
    const char* meant;
  } slips[] = {
      {"\"launches\"", "\"lanches\"", ""},
      {"\"fill\"", "\"fil\"", "did you mean 'fill'?"},
      {"\"iotaf\"", "\"iotf\"", "did you mean 'iotaf'?"},
      {"\"kernel\": ", "\"kernl\": ", "not 'kernl', did you mean 'kernel'?"},
      {"\"kernel\": \"saxpy\"", "\"kernel\": \"saxpi\"", "did you mean 'saxpy'?"},
      {"\"grid\"", "\"gird\"", ""},
      {"{\"s32\"", "{\"i32\"", "not 'i32', did you mean "},
      {"{\"buffer\": \"input\"}", "{\"bufer\": \"input\"}", "did you mean 'buffer'?"},
      {"{\"buffer\": \"input\"}", "{\"buffer\": \"imput\"}", "there is no buffer 'imput', did you mean 'input'?"},
      {"{\"buffer\": \"input\"}", "{\"symbol\": \"x\"}", "no module variable 'x'"},
      {"\"drain\"", "\"drian\"", "did you mean 'drain'?"},
      {"\"mode\"", "\"moed\"", "did you mean 'mode'?"},
      {"\"type\": \"f32\"", "\"type\": \"F32\"", "did you mean 'f32'?"},
      {"\"type\"", "\"tpye\"", "did you mean 'type'?"}};
  for (const auto& slip : slips) {
    std::string text = good;
    text.replace(text.find(slip.from), std::string(slip.from).size(), slip.to);
    write("job.json", text);
    refused("run job.json", slip.meant);
    EXPECT_EQ(0u, err_.find("heddle: error: job.json:")) << err_;
  }
  const std::string sweep = "[sweep]\njob = job.json\nstore = s.sqlite\n[axes]\n";
  write("job.json", good);
  for (const auto& [axis, meant] : std::vector<std::pair<std::string, std::string>>{
           {"sub_partition.scheduler = gtoo", "did you mean 'gto'?"},
           {"sub_partition.schduler = gto", "did you mean 'sub_partition.scheduler'?"},
           {"preempt.mode = swich", "did you mean 'switch'?"},
           {"gpu = v10", "did you mean 'v100'?"},
           {"[axis]\nl1.ways = 2", "did you mean 'axes'?"},
           {"launch.block = 32, 64\n[constraints]\nskip = launch.blok > 40", "did you mean 'launch.block'?"},
           {"l1.ways = 2, 4\n[constraints]\nskip = l1.way > 3", "did you mean 'l1.ways'?"}}) {
    write("s.ini", sweep + axis + "\n");
    refused("sweep s.ini --dry-run", meant);
  }
}

// ---- the wrong file ----

TEST_F(first_hour, a_file_of_another_kind_gets_the_command_that_reads_it) {
  write("x.cu", "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n");
  fs::copy_file(HEDDLE_WORKLOADS "/saxpy/saxpy.ptx", place_ / "x.ptx");
  fs::copy_file(HEDDLE_PROGRAM, place_ / "a.out", fs::copy_options::create_hard_links);
  std::string cubin =
      "\x7f"
      "ELF";
  cubin.resize(64, '\0');
  cubin[18] = static_cast<char>(190);
  write("x.cubin", cubin);
  write("x.fatbin", "\x50\xed\x55\xba rest");
  write("g.ini", "# mine\n[gpu]\nsm_count = 4\n");
  write("s.ini", "[sweep]\njob = job.json\n");
  write("kernelslist.g", "MemcpyHtoD,0x7f0000000000,64\nkernel-1.traceg\n");
  write("kernel-1.traceg", "-kernel name = k\n");
  write("alone/kernel-1.traceg", "-kernel name = k\n");
  write("m.json", "{\"schema\": \"heddle.metrics/1\"}");
  write("s.sqlite", "SQLite format 3");
  write("work/job.json", "{\"launches\": []}");
  write("traces/kernelslist.g", "kernel-1.traceg\n");
  const std::string launch = "heddle run --kernel x.ptx:saxpy --grid X --block X --arg ";
  const struct {
    std::string arguments;
    std::string advice;
  } cases[] = {{"run x.cu", "'x.cu' is CUDA source: nvcc -ptx x.cu -o x.ptx"},
               {"run --kernel x.cu --grid 1 --block 1", "then heddle run --kernel x.ptx"},
               {"disasm x.cu", "then heddle disasm x.ptx"},
               {"run x.ptx", "'x.ptx' is PTX: " + launch},
               {"replay x.ptx", launch},
               {"run a.out", "'a.out' is a program of this machine: cuobjdump -ptx a.out"},
               {"run x.cubin", "'x.cubin' is a GPU's machine code"},
               {"run x.fatbin", "'x.fatbin' is a CUDA fat binary: cuobjdump -ptx x.fatbin"},
               {"run g.ini", "heddle run JOB.json --gpu g.ini"},
               {"sweep g.ini", "heddle run JOB.json --gpu g.ini"},
               {"run s.ini", "heddle sweep s.ini"},
               {"run kernelslist.g", "heddle replay kernelslist.g"},
               {"run kernel-1.traceg", "heddle replay kernelslist.g"},
               {"replay kernel-1.traceg", "heddle replay kernelslist.g"},
               {"replay alone/kernel-1.traceg",
                "write its name into a file kernelslist.g beside it, then heddle replay alone/kernelslist.g"},
               {"run m.json", "heddle report m.json -o REPORT.html"},
               {"run s.sqlite", "heddle report s.sqlite -o REPORT.html"},
               {"run work", "'work' is a directory: heddle run work/job.json"},
               {"run traces", "heddle replay traces/kernelslist.g"},
               {"replay work/job.json", "heddle run work/job.json"},
               {"report work/job.json -o r.html", "heddle run work/job.json"},
               {"sweep work/job.json", "heddle run work/job.json"},
               {"run --kernel work/job.json --grid 1 --block 1", "heddle run work/job.json"}};
  for (const auto& c : cases) {
    refused(c.arguments, c.advice);
    EXPECT_EQ(1, std::count(err_.begin(), err_.end(), '\n')) << err_;
  }
}

// ---- manual pages ----

TEST_F(first_hour, manual_pages_say_what_help_says) {
  ASSERT_EQ(0, shell("heddle man --folder .")) << err_;
  const std::vector<std::string> names = commands();
  const std::string all = content(place_ / "heddle.1");
  for (const std::string& c : names) {
    const std::string page = content(place_ / ("heddle-" + c + ".1"));
    EXPECT_EQ(0, shell("heddle man " + c));
    EXPECT_EQ(page, out_);
    const std::string escaped = std::regex_replace("heddle-" + c + "(1)", std::regex("-"), "\\-");
    EXPECT_NE(std::string::npos, all.find(escaped)) << c;
    ASSERT_EQ(0, shell("heddle " + c + " --help"));
    const std::regex option("\n  (?:-[a-z] \\[ )?(--[a-z-]+)");
    unsigned options = 0;
    for (std::sregex_iterator i(out_.begin(), out_.end(), option), end; i != end; ++i, ++options) {
      const std::string shown = "\\fB" + std::regex_replace((*i)[1].str(), std::regex("-"), "\\-") + "\\fR";
      EXPECT_NE(std::string::npos, page.find(shown)) << c << " " << (*i)[1];
    }
    EXPECT_GE(options, 1u) << out_;
  }
  EXPECT_EQ(names.size() + 1,
            static_cast<std::size_t>(std::distance(fs::directory_iterator(place_), fs::directory_iterator())));
  if (shell("command -v groff") != 0) return;
  EXPECT_EQ(0, shell("for page in *.1; do groff -man -Tascii -ww -z \"$page\"; done"));
  EXPECT_EQ("", err_) << "groff has nothing to say against them";
  EXPECT_EQ(0, shell("groff -man -Tascii heddle-run.1"));
}

}  // namespace first_hour_test
