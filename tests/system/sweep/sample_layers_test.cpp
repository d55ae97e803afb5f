// SPDX-License-Identifier: MIT
// heddle sample: sums by the layers that are in the names of kernels and ranges, and strata by the code of traces.
#include <map>

#include "sample_fixture.h"

namespace sample_test {

// Metrics of the launches that a dry run has drawn: `cycles` of the launch's number.
template <class Cycles>
std::string metrics_of(const json& drawn, const Cycles& cycles) {
  json metrics = {{"kernels", json::array()}};
  for (const json& s : drawn["strata"])
    for (const json& k : s["simulated"])
      metrics["kernels"].push_back({{"launch", k}, {"cycles", cycles(k.template get<unsigned>())}});
  return metrics.dump();
}

std::vector<std::string> names(const json& parts) {
  std::vector<std::string> all;
  for (const json& p : parts) all.push_back(p["name"]);
  return all;
}

double sum(const json& parts) {
  double all = 0;
  for (const json& p : parts) all += p["cycles"].get<double>();
  return all;
}

TEST_F(samples, are_summed_by_the_layers_of_kernels) {
  std::string csv = "kernel,duration\n";
  for (int k = 0; k < 480; ++k) {
    const std::string layer = std::to_string(k / 2 % 12);
    csv += k % 2 == 0 ? "layer" + layer + "_gemm,10\n" : "h." + layer + ".mlp,30\n";
  }
  csv += "sampler,50\nlayer_norm,5\n";
  write("d.csv", csv);
  ASSERT_EQ(0, run({"d.csv", "--dry-run", "--json", "s.json"}).code);
  // Kernels that differ in the layer only are one.
  const json drawn = read("s.json");
  EXPECT_EQ(4u, drawn["strata"].size());
  EXPECT_EQ("layer*_gemm", drawn["strata"][0]["kernel"]);
  EXPECT_EQ("h.*.mlp", drawn["strata"][1]["kernel"]);
  EXPECT_EQ(6u, drawn["simulated"].get<unsigned>());
  write("m.json", metrics_of(drawn, [](unsigned k) { return k >= 480 ? 900 : k % 2 == 0 ? 100 : 300; }));
  const auto o = run({"d.csv", "--results", "m.json", "--json", "e.json"});
  ASSERT_EQ(0, o.code) << o.err;
  const json e = read("e.json"), layers = e["layers"];
  EXPECT_EQ((words{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", ""}), names(layers));
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_DOUBLE_EQ(20 * 400, layers[k]["cycles"].get<double>());
    EXPECT_EQ(40u, layers[k]["launches"].get<unsigned>());
    EXPECT_EQ(layers[k]["low"], layers[k]["high"]);
  }
  EXPECT_DOUBLE_EQ(1800, layers[12]["cycles"].get<double>());
  EXPECT_DOUBLE_EQ(e["estimate"]["cycles"].get<double>(), sum(layers));
  EXPECT_NE(std::string::npos, o.out.find("error  layer\n        40")) << o.out;
  EXPECT_NE(std::string::npos, o.out.find("0.0 %  (none)\n")) << o.out;
}

// Launches of one kernel: the range tells the layer. Their cycles vary, and a layer's interval has what it took.
TEST_F(samples, are_summed_by_the_layers_of_ranges) {
  const auto cycles = [](unsigned k) { return 1000 + 10 * (k * 7919 % 101 % 11); };
  std::string csv = "Name,Duration (ns),NVTX Range\n";
  for (unsigned k = 0; k < 600; ++k)
    csv += "gemm," + std::to_string(cycles(k) / 10) + ",model.layers." + std::to_string(k % 3) + ".mlp\n";
  write("d.csv", csv);
  const words command = {"d.csv", "--error", "0.2"};
  const auto with = [&](words more) {
    more.insert(more.begin(), command.begin(), command.end());
    return run(more);
  };
  ASSERT_EQ(0, with({"--dry-run", "--json", "s.json"}).code);
  write("m.json", metrics_of(read("s.json"), cycles));
  ASSERT_EQ(0, with({"--results", "m.json", "--json", "e.json"}).code);
  const json e = read("e.json"), layers = e["layers"];
  ASSERT_EQ((words{"0", "1", "2"}), names(layers));
  EXPECT_NEAR(1, e["estimate"]["cycles"].get<double>() / sum(layers), 1e-12);
  for (unsigned l = 0; l < 3; ++l) {
    double truth = 0;
    for (unsigned k = l; k < 600; k += 3) truth += cycles(k);
    EXPECT_LE(layers[l]["low"].get<double>(), truth);
    EXPECT_GE(layers[l]["high"].get<double>(), truth);
  }
  // Another rule: what follows the layer.
  ASSERT_EQ(0, with({"--results", "m.json", "--json", "e.json", "--layers", "layers[.][0-9]+[.]([a-z]+)"}).code);
  EXPECT_EQ(words{"mlp"}, names(read("e.json")["layers"]));
}

TEST_F(samples, have_no_layers_where_names_tell_none) {
  write("d.csv", "kernel,duration\ngemm_block_64,10\ngemm_block_128,10\nlayer_norm,5\nlayer1x1_conv,7\nplayer2,3\n");
  ASSERT_EQ(0, run({"d.csv", "--dry-run", "--json", "s.json"}).code);
  write("m.json", metrics_of(read("s.json"), [](unsigned) { return 10; }));
  const auto o = run({"d.csv", "--results", "m.json", "--json", "e.json"});
  ASSERT_EQ(0, o.code) << o.err;
  EXPECT_EQ(0u, read("e.json").count("layers"));
  EXPECT_EQ(std::string::npos, o.out.find("layer\n")) << o.out;
  expect_refused({"d.csv", "--layers", "stage([0-9]+)"}, "'stage([0-9]+)' is in no name of a kernel or range of d.csv");
  expect_refused({"d.csv", "--layers", "stage[0-9]+"}, "expected a regular expression with one group");
  expect_refused({"d.csv", "--layers", "stage([0-9]+"}, "expected a regular expression: ");
}

// A trace of a launch of one block.
std::string trace(const std::string& opcode, unsigned passes) {
  std::string text =
      "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 16\n"
      "-binary version = 90\n-cuda stream id = 0\n-shmem base_addr = 0x00007f5000000000\n"
      "-local mem base_addr = 0x00007f4e00000000\n-nvbit version = 1.7\n-accelsim tracer version = 5\n"
      "-enable lineinfo = 0\n\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
      "mem_width [adrrescompress?] [mem_addresses] immediate\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\n";
  text += "insts = " + std::to_string(passes + 1) + "\n";
  for (unsigned k = 0; k < passes; ++k) text += "0000 ffffffff 1 R8 " + opcode + " 2 R8 R9 0 0\n";
  return text + "0010 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n";
}

TEST_F(samples, without_durations_are_told_apart_by_their_code) {
  std::string list;
  for (int k = 0; k < 12; ++k) {
    const std::string name = "kernel-" + std::to_string(k) + ".traceg";
    write(name, trace(k % 3 == 0 ? "IADD3" : "FADD3", 40));
    list += name + "\n";
  }
  write("kernelslist.g", list);
  ASSERT_EQ(0, run({"kernelslist.g", "--dry-run", "--json", "s.json"}).code);
  json drawn = read("s.json");
  // The first one of each code is apart.
  const auto sizes = [&drawn] {
    std::vector<unsigned> all;
    for (const json& s : drawn["strata"]) all.push_back(s["launches"].get<unsigned>());
    return all;
  };
  EXPECT_EQ((std::vector<unsigned>{1, 1, 7, 3}), sizes());
  // Passes of a loop are the same code; their number is in the size of the file.
  for (int k = 0; k < 12; ++k)
    write("kernel-" + std::to_string(k) + ".traceg", trace("IADD3", k % 4 == 0 ? 40 : k % 4 == 1 ? 41 : 400));
  ASSERT_EQ(0, run({"kernelslist.g", "--dry-run", "--json", "s.json"}).code);
  drawn = read("s.json");
  EXPECT_EQ((std::vector<unsigned>{1, 5, 1, 5}), sizes());
  write("kernel-5.traceg", trace("IADD3", 40).replace(trace("IADD3", 40).find("0000 ffff"), 4, "zero"));
  expect_refused({"kernelslist.g", "--dry-run"}, "kernel-5.traceg:23:1: got 'zero', expected an instruction's place");
}

}  // namespace sample_test
