// SPDX-License-Identifier: MIT
// What --record and a replay of its traces refuse.
#include <zstd.h>

#include <random>

#include "tests/system/record/record_fixture.h"

namespace record_refusals_test {

using record_fixture::content;
using record_fixture::json;
using record_fixture::words;
namespace fs = record_fixture::fs;
using record_fixture::outcome;

std::string unpacked(const std::string& packed) {
  std::string text;
  std::vector<char> part(1 << 16);
  ZSTD_DStream* const z = ZSTD_createDStream();
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{part.data(), part.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(z, &out, &in)) != 0) break;
    text.append(part.data(), out.pos);
  }
  ZSTD_freeDStream(z);
  return text;
}

class record_refusals : public record_fixture::record {
 protected:
  outcome replay_text(const std::string& text) const {
    write("kernel-1.traceg", text);
    write("kernelslist.g", "kernel-1.traceg\n");
    return heddle({"replay", "kernelslist.g", "--quiet", "--gpu", "v100"});
  }
  std::string trace() const {
    if (!fs::exists(place_ / "d")) heddle({"run", job_of("saxpy"), "--quiet", "--gpu", "v100", "--record", "d"});
    return unpacked(content(place_ / "d/kernel-1.traceg.zst"));
  }
  outcome replay_edited(const std::string& from, const std::string& to) const {
    std::string text = trace();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return replay_text(text);
  }
  void expect_nothing_left() const {
    for (const auto& entry : fs::directory_iterator(place_)) {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name == "stdout" || name == "stderr" || name == "job.json" || name == "k.ptx") << name;
    }
  }
};

TEST_F(record_refusals, kernels_of_a_class_that_a_trace_does_not_hold) {
  expect_refused(heddle({"run", job_of("texture_filter"), "--record", "d", "--metrics", "m"}),
                 "--record: kernel 'texture_filter' has textures or surfaces, which a trace does not hold");
  const std::string entry = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()";
  const auto refused = [&](const std::string& body, const std::string& options, const std::string& what) {
    write("k.ptx", entry + body);
    write("job.json", R"({"module": "k.ptx", "launches": [{"kernel": "k", "grid": [2, 1, 1], "block": [32, 1, 1])" +
                          options + "}]}");
    expect_refused(heddle({"run", "job.json", "--gpu", "h100", "--record", "d"}), what);
  };
  refused("{ ret; }", R"(, "cluster": [2, 1, 1])", "--record: a trace does not hold clusters of blocks");
  refused(" .reqnctapercluster 2 { ret; }", "", "--record: kernel 'k' has clusters of blocks");
  refused(
      "{ .reg .b64 %a; .shared .b64 m; mov.u64 %a, m; mbarrier.init.shared.b64 [%a], 1; "
      "mbarrier.arrive.shared.b64 %a, [%a]; ret; }",
      "", "--record: kernel 'k' has mbarriers");
  expect_nothing_left();
}

TEST_F(record_refusals, preemption_and_checkpoints) {
  write("k.ptx", ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }");
  write("job.json", R"({"module": "k.ptx", "launches": [{"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1]}],
    "preempt": [{"at_cycle": 100}]})");
  expect_refused(heddle({"run", "job.json", "--record", "d"}), "--record: a trace does not hold preemption");
  expect_refused(heddle({"run", "job.json", "--record", "d", "--checkpoint", "c"}),
                 "--checkpoint and --record exclude each other");
  expect_nothing_left();
}

TEST_F(record_refusals, a_run_that_does_not_end_leaves_nothing) {
  const outcome r = heddle({"run", job_of("saxpy"), "--quiet", "--max-cycles", "1000", "--record", "d"});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("--record: no trace is written: the run did not end by itself"), std::string::npos) << r.err;
  expect_nothing_left();
}

TEST_F(record_refusals, folders_that_are_none_or_have_files) {
  fs::create_directories(place_ / "d");
  write("d/file", "x");
  expect_refused(heddle({"run", job_of("saxpy"), "--record", "d"}), "expected a new folder, or an empty one");
  expect_refused(heddle({"run", job_of("saxpy"), "--record", "d/file"}), "expected a new folder, or an empty one");
  expect_refused(heddle({"run", job_of("saxpy"), "--record", "none/d"}), "there is no folder");
  fs::remove(place_ / "d/file");
  EXPECT_EQ(heddle({"run", job_of("saxpy"), "--quiet", "--record", "d/"}).code, 0);
  EXPECT_TRUE(fs::exists(place_ / "d/kernelslist.g"));
}

TEST_F(record_refusals, edited_traces) {
  expect_refused(replay_edited("FFMA", "FADD"), "another version of Heddle wrote the program");
  expect_refused(replay_edited("#BEGIN_CODE ", "#BEGIN_CODE 1"), "expected");
  expect_refused(replay_edited("#END_CODE ", "#END_CODE 0"), "is not as heddle --record wrote it");
  expect_refused(replay_edited("-heddle version = 2", "-heddle version = 3"), "another version of Heddle wrote it");
  expect_refused(replay_edited("insts = ", "insts = 1"), "got '");
  expect_refused(replay_edited("\n0 ffffffff", "\nffff ffffffff"), "expected the place of an instruction");
  expect_refused(replay_edited("\n0 ffffffff ", "\n0 f "), "expected some of the active lanes");
  expect_refused(replay_edited("warp = 1\n", "warp = 0\n"), "comes twice");
  const std::string text = trace();
  expect_refused(replay_text(text.substr(0, text.rfind("#BEGIN_TB"))), "has 39 of the 40 blocks of kernel 'saxpy'");
}

// Each part of a trace has a checksum.
TEST_F(record_refusals, flipped_bits_give_no_other_result) {
  const words replay{"replay", "d/kernelslist.g", "--quiet", "--gpu", "v100", "--metrics", "again.json"};
  ASSERT_EQ(heddle({"run", job_of("saxpy"), "--quiet", "--gpu", "v100", "--record", "d"}).code, 0);
  ASSERT_EQ(heddle(replay).code, 0);
  const json expected = metrics("again.json");
  const std::string file = "d/kernel-1.traceg.zst", whole = content(place_ / file);
  std::mt19937 random(5);
  unsigned refused = 0;
  constexpr unsigned flips = 24;
  for (unsigned n = 0; n < flips; ++n) {
    std::string broken = whole;
    const std::size_t bit = random() % (8 * (n % 2 == 0 ? whole.size() : std::size_t{64}));  // half of them in the head
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ 1 << bit % 8);
    write(file, broken);
    fs::remove(place_ / "again.json");
    const outcome o = heddle(replay);
    refused += o.code == 2;
    if (o.code == 0) {
      EXPECT_TRUE(metrics("again.json") == expected) << "bit " << bit;
    } else {
      EXPECT_EQ(o.code, 2) << "bit " << bit << ": " << o.err;
    }
  }
  EXPECT_GT(refused, flips * 3 / 4);
}

}  // namespace record_refusals_test
