// SPDX-License-Identifier: MIT
// The parts of the program that need no machine: arguments, job files, fills, comparisons, result files, options.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "heddle/hash/splitmix64.h"
#include "heddle/metrics/collect.h"
#include "testbench/files/result_files.h"
#include "testbench/job/arguments.h"
#include "testbench/job/buffer_data.h"
#include "testbench/job/compare.h"
#include "testbench/job/job_parser.h"
#include "testbench/options/options.h"
#include "testbench/run/progress.h"
#include "testbench/text/text.h"

namespace heddle::testbench {
namespace job_test {

/// A directory that is removed after the test.
class folder {
 public:
  folder() {
    char name[] = "/tmp/heddle_job_test_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~folder() {
    for (const auto& f : made_) unlink(f.c_str());
    rmdir(path_.c_str());
  }
  std::string name(const std::string& file) {
    made_.push_back(path_ + "/" + file);
    return made_.back();
  }
  std::string write(const std::string& file, const std::string& content) {
    std::ofstream(name(file), std::ios::binary) << content;
    return path_ + "/" + file;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> made_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  return "(accepted)";
}

std::uint64_t bits_of(const argument& a) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) bits |= std::uint64_t{a.bytes[i]} << (8 * i);
  return bits;
}

std::string refusal_of_job(const std::string& text) {
  return refusal([&] { validate(parse_job(text, "j.json")); });
}

// ---- scalars ----

TEST(arguments, scalars_are_little_endian_and_of_their_size) {
  const struct {
    const char* type;
    const char* text;
    std::uint64_t bits;
    std::size_t size;
  } cases[] = {{"u8", "255", 255, 1},
               {"s8", "-128", 0x80, 1},
               {"u16", "0xBEEF", 0xbeef, 2},
               {"s16", "-1", 0xffff, 2},
               {"u32", "4294967295", 0xffffffff, 4},
               {"s32", "-2147483648", 0x80000000, 4},
               {"u64", "18446744073709551615", ~std::uint64_t{0}, 8},
               {"s64", "-9223372036854775808", std::uint64_t{1} << 63, 8},
               {"f32", "1.5", 0x3fc00000, 4},
               {"f32", "-inf", 0xff800000, 4},
               {"f32", "0.1", 0x3dcccccd, 4},
               {"f64", "-0", std::uint64_t{1} << 63, 8}};
  for (const auto& c : cases) {
    const argument a = parse_scalar(c.type, c.text, "here");
    EXPECT_EQ(a.bytes.size(), c.size) << c.type << ":" << c.text;
    EXPECT_EQ(bits_of(a), c.bits) << c.type << ":" << c.text;
  }
}

TEST(arguments, scalars_out_of_range_are_refused) {
  for (const char* text : {"u8:256",
                           "s8:128",
                           "s8:-129",
                           "u32:-1",
                           "u32:4294967296",
                           "u64:18446744073709551616",
                           "s64:9223372036854775808",
                           "u32:",
                           "u32:7x",
                           "u32: 7",
                           "u32:1.5",
                           "f32:abc",
                           "f32:1e39",
                           "f32:3.5e38",
                           "f32:nan(5)",
                           "f64:1e999",
                           "f32:1.5 ",
                           "f32:",
                           "u33:1",
                           "x",
                           "",
                           "buf:0",
                           "buf:x",
                           "buf:16:iota",
                           "buf:16:random",
                           "buf:16:random:x",
                           "in:/nonexistent",
                           "out:16",
                           "out:16:",
                           "inout:/nonexistent:x"}) {
    EXPECT_NE(refusal([&] { job_of_arguments({text}); }), "(accepted)") << text;
  }
  EXPECT_EQ(refusal([] { job_of_arguments({"u8:256"}); }),
            "--arg 'u8:256': got '256', expected a whole number from 0 to 255");
  EXPECT_EQ(refusal([] { job_of_arguments({"f32:1e39"}); }),
            "--arg 'f32:1e39': got '1e39', which is out of range of f32");
  job_of_arguments({"f32:-inf", "f32:nan", "f64:1e39", "f32:3.4e38"});
}

TEST(arguments, buffers_and_outputs_come_from_the_command_line) {
  folder f;
  const std::string in = f.write("in.bin", "12345678");
  const job j = job_of_arguments({"u32:3", "buf:64:random:7", "in:" + in, "out:32:o.bin", "inout:" + in + ":p.bin"});
  ASSERT_EQ(j.operations[0].arguments.size(), 5u);
  ASSERT_EQ(j.buffers.size(), 4u);
  EXPECT_EQ(j.buffers[0].content, buffer::fill::random);
  EXPECT_EQ(j.buffers[0].seed, 7u);
  EXPECT_EQ(j.buffers[1].bytes, 8u);
  ASSERT_EQ(j.outputs.size(), 2u);
  EXPECT_EQ(j.outputs[0].file, "o.bin");
  EXPECT_EQ(j.outputs[1].file, "p.bin");
  EXPECT_EQ(j.outputs[1].name, j.buffers[3].name);
}

// ---- fills ----

TEST(fills, splitmix64_is_the_published_sequence) {
  // First outputs for the seed 1234567, as printed by the generator's reference implementation.
  splitmix64 numbers(1234567);
  for (const std::uint64_t n : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u})
    EXPECT_EQ(numbers.next(), n);
  EXPECT_EQ(splitmix64::at(1234567, 2), 9817491932198370423u);
  EXPECT_EQ(splitmix64(1234567).below(1000), 317u);
}

TEST(fills, contents_do_not_depend_on_how_they_are_cut) {
  for (auto content : {buffer::fill::zero, buffer::fill::iota32, buffer::fill::iotaf, buffer::fill::random}) {
    buffer b;
    b.content = content;
    b.seed = 42;
    b.bytes = 203;
    const auto whole = fill_bytes(b, 0, b.bytes);
    std::vector<std::uint8_t> pieces;
    for (std::uint64_t at = 0; at < b.bytes; at += 16) {
      const auto piece = fill_bytes(b, at, std::min<std::uint64_t>(16, b.bytes - at));
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(whole, pieces);
  }
  buffer b;
  b.content = buffer::fill::iota32;
  EXPECT_EQ(fill_bytes(b, 0, 9), (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 0, 0, 2}));
  b.content = buffer::fill::iotaf;
  EXPECT_EQ(fill_bytes(b, 8, 4), (std::vector<std::uint8_t>{0, 0, 0, 0x40}));
}

// ---- job files ----

const char* const small = R"({"module": "/proc/self/exe", "buffers": {"x": {"bytes": 16}},
 "launches": [{"kernel": "k", "grid": [1], "block": [32], "args": [{"buffer": "x"}]}]})";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = small;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(job_file, everything_of_the_format_is_read) {
  folder f;
  f.write("x.bin", std::string(64, 'x'));
  f.write("taps.bin", std::string(12, 't'));
  const job j = parse_job(R"({
    "modules": ["a.ptx", "/b.ptx"],
    "buffers": {"z": {"file": "x.bin"}, "y": {"bytes": 4096, "fill": "random:9"},
      "list": {"bytes": 16, "pointers": [{"at": 0, "to": "z"}, {"at": 8, "to": "y", "offset": 64}]},
      "flag": {"bytes": 4}},
    "symbols": [{"symbol": "taps", "file": "taps.bin"}],
    "launches": [
      {"kernel": "saxpy", "grid": [4,2,3], "block": [256], "shared_bytes": 12, "stream": 3, "priority": -2, "at_cycle": 100,
       "carveout": 50, "registers_per_thread": 24,
       "args": [{"u32": 1024}, {"f32": 2.5}, {"buffer": "z"}, {"buffer": "y", "offset": 8}, {"symbol": "taps"}, {"bytes_hex": "00fF10"}]},
      {"memset": "y", "byte": 255, "offset": 16, "bytes": 32},
      {"copy": {"from": "z", "to": "y", "bytes": 64}},
      {"repeat": [{"kernel": "k", "grid": [1,1,1], "block": [1,1,1], "carveout": null}], "while_nonzero": "flag", "max": 1000}],
    "outputs": [{"buffer": "y", "file": "y.out"}, {"symbol": "taps", "expect": "taps.bin", "type": "f32", "rtol": 1e-5, "atol": 0.5}]
  })",
                          f.path() + "/j.json");
  EXPECT_EQ(j.modules, (std::vector<std::string>{f.path() + "/a.ptx", "/b.ptx"}));
  ASSERT_EQ(j.buffers.size(), 4u);
  EXPECT_EQ(j.buffers[0].name, "z") << "buffers keep the order written";
  EXPECT_EQ(j.buffers[0].bytes, 64u);
  EXPECT_EQ(j.buffers[1].seed, 9u);
  EXPECT_EQ(j.buffers[2].pointers.at(1).offset, 64u);
  EXPECT_EQ(j.symbols.at(0).bytes, 12u);
  ASSERT_EQ(j.operations.size(), 4u);
  const operation& k = j.operations[0];
  EXPECT_EQ(k.grid[2], 3u);
  EXPECT_EQ(k.block[1], 1u);
  EXPECT_EQ(k.shared_bytes, 12u);
  EXPECT_EQ(k.stream, 3u);
  EXPECT_EQ(k.priority, -2);
  EXPECT_EQ(k.at_cycle, 100u);
  EXPECT_EQ(k.carveout, 50);
  EXPECT_EQ(k.registers, 24u);
  ASSERT_EQ(k.arguments.size(), 6u);
  EXPECT_EQ(bits_of(k.arguments[1]), 0x40200000u);
  EXPECT_EQ(k.arguments[3].offset, 8u);
  EXPECT_EQ(k.arguments[5].bytes, (std::vector<std::uint8_t>{0, 255, 16}));
  EXPECT_EQ(j.operations[1].byte, 255);
  EXPECT_EQ(j.operations[2].from, "z");
  EXPECT_EQ(j.operations[3].max, 1000u);
  EXPECT_EQ(j.operations[3].body.at(0).carveout, -1);
  EXPECT_EQ(j.operations[3].body.at(0).position, 3u);
  EXPECT_EQ(j.outputs.at(1).type, element_type::f32);
  EXPECT_EQ(j.outputs.at(1).atol, 0.5);
}

TEST(job_file, errors_name_the_place) {
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"", "j.json:1:1: not valid JSON"},
      {"{\n \"module\": }", "j.json:2:12: not valid JSON"},
      {"[]", "j.json:1:1: the job: expected an object, got an array"},
      {changed("\"grid\"", "\"gird\""), "j.json:2:15: launches[0]: key 'grid' is missing"},
      {changed("\"args\"", "\"arsg\""), "j.json:2:59: unknown key 'arsg' in launches[0], did you mean 'args'?"},
      {changed("\"bytes\": 16", "\"bytes\": \"16\""), "j.json:1:57: buffers.x.bytes: expected a number, got a string"},
      {changed("16}", "16, \"bytes\": 17}"), "j.json:1:61: key 'bytes' appears twice in one object"},
      {changed("16}", "-16}"), "j.json:1:57: buffers.x.bytes: got -16, expected a whole number from 0"},
      {changed("16}", "0}"), "buffer 'x' has 0 bytes"},
      {changed("16}", "16, \"fill\": \"one\"}"), "got fill 'one', expected zero, iota32, iotaf or random:SEED"},
      {changed("[1]", "[]"), "expected one to three numbers"},
      {changed("[1]", "[0]"), "got 0, expected at least 1"},
      {changed("[1]", "[1.5]"), "got 1.5, expected a whole number"},
      {changed("[1]", "[1,1,1,1]"), "expected one to three numbers"},
      {changed("{\"buffer\": \"x\"}", "{\"buffer\": \"q\"}"), "j.json:2:68: there is no buffer 'q'"},
      {changed("{\"buffer\": \"x\"}", "{\"buffer\": \"x\", \"offset\": 17}"), "offset 17 is outside of buffer 'x'"},
      {changed("{\"buffer\": \"x\"}", "{\"u8\": 256}"),
       "j.json:2:75: got '256', expected a whole number from 0 to 255"},
      {changed("{\"buffer\": \"x\"}", "{\"f32\": 1e39}"), "j.json:2:76: got '1e39', which is out of range of f32"},
      {changed("{\"buffer\": \"x\"}", "{\"s32\": null}"),
       "j.json:2:76: launches[0].args[0].s32: expected a number or a string"},
      {changed("\"module\"", "\"preempt\": [{\"at_cycle\": 1, \"sm\": [0, 1, 0]}], \"module\""), "SM 0 is given twice"},
      {changed("{\"kernel\"",
               "{\"copy\": {\"from\": \"x\", \"to\": \"x\", \"to_offset\": 7, \"bytes\": 8}}, {\"kernel\""),
       "overlap in buffer 'x'"},
      {changed("{\"buffer\": \"x\"}", "{\"u9\": 256}"), "launches[0].args[0]: expected one of the keys u8"},
      {changed("{\"buffer\": \"x\"}", "{\"bytes_hex\": \"0g\"}"), "'g' is not a hexadecimal digit"},
      {changed("{\"buffer\": \"x\"}", "{\"bytes_hex\": \"123\"}"), "expected two hexadecimal digits for each byte"},
      {changed("{\"buffer\": \"x\"}", "{\"texture\": \"x\"}"), "there is no texture 'x'"},
      {changed("\"module\"", "\"preempt\": [{\"sm\": 0}], \"module\""), "at_cycle"},
      {changed("\"module\"", "\"preempt\": [{\"at_cycle\": 1, \"sm\": \"some\"}], \"module\""),
       "the number of an SM or a list of such"},
      {changed("\"module\"", "\"preempt\": [{\"at_cycle\": 1, \"mode\": \"away\"}], \"module\""),
       "mode: got 'away', expected one of drain switch flush auto"},
      {changed("\"module\": \"/proc/self/exe\"", "\"module\": \"/nonexistent.ptx\""), "cannot read '/nonexistent.ptx'"},
      {changed("\"module\": \"/proc/self/exe\",", ""), "expected either 'module' or 'modules'"},
      {changed("{\"kernel\"", "{\"memset\": \"x\", \"offset\": 15, \"bytes\": 2}, {\"kernel\""),
       "outside of buffer 'x'"},
      {changed("{\"kernel\"", "{\"copy\": {\"from\": \"x\", \"to\": \"x\", \"bytes\": 17}}, {\"kernel\""),
       "outside of buffer 'x'"},
      {changed("{\"kernel\"", "{\"repeat\": [{\"memset\": \"x\"}], \"max\": 3}, {\"kernel\""),
       "expected at least one kernel"},
      {changed("16}", "16, \"pointers\": [{\"at\": 13, \"to\": \"x\"}]}"), "outside of buffer 'x'"},
      {changed("16}", "16, \"pointers\": [{\"at\": 8, \"to\": \"q\"}]}"), "there is no buffer 'q'"},
      {changed("}]}]}", "}]}], \"outputs\": [{\"buffer\": \"x\"}]}"), "expected 'file', 'expect' or both"},
      {changed("}]}]}", "}]}], \"outputs\": [{\"buffer\": \"x\", \"file\": \"/nonexistent/x\"}]}"),
       "cannot write '/nonexistent/x'"},
      {changed("}]}]}", "}]}], \"outputs\": [{\"buffer\": \"x\", \"file\": \"/tmp\"}]}"), "it is a directory"},
      {changed("}]}]}", "}]}], \"outputs\": [{\"buffer\": \"x\", \"expect\": \"/proc/self/exe\", \"type\": \"u7\"}]}"),
       "type: got 'u7', expected one of "},
  };
  for (const auto& c : cases)
    EXPECT_NE(refusal_of_job(c.text).find(c.message), std::string::npos)
        << refusal_of_job(c.text) << "\nfor " << c.text;
  EXPECT_EQ(refusal_of_job(small), "(accepted)");
}

TEST(job_file, broken_texts_never_crash) {
  const std::string text = small;
  for (std::size_t i = 0; i < text.size(); ++i) {
    refusal_of_job(text.substr(0, i));
    for (char c : {'"', '{', '}', '[', ',', '\\', '\0', '9', '-', '\x80'}) {
      std::string broken = text;
      broken[i] = c;
      refusal_of_job(broken);
    }
  }
  EXPECT_NE(refusal_of_job(std::string(100000, '[')).find("nested deeper than 64 levels"), std::string::npos);
  EXPECT_NE(refusal_of_job("{\"module\": 1e999}"), "(accepted)");
}

TEST(job_file, sizes_of_files_must_agree) {
  folder f;
  f.write("m.ptx", "x");
  f.write("short.bin", "123");
  auto with = [&](const std::string& buffers, const std::string& outputs) {
    return refusal([&] {
      validate(parse_job("{\"module\": \"m.ptx\", \"buffers\": {\"x\": " + buffers +
                             "}, \"launches\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [1]}], \"outputs\": [" +
                             outputs + "]}",
                         f.path() + "/j.json"));
    });
  };
  EXPECT_NE(with(R"({"bytes": 4, "file": "short.bin"})", "").find("has 3 bytes, the buffer has 4"), std::string::npos);
  EXPECT_NE(with(R"({"bytes": 4})", R"({"buffer": "x", "expect": "short.bin"})").find("has 3 bytes, expected 4 bytes"),
            std::string::npos);
  EXPECT_NE(with(R"({"bytes": 3})", R"({"buffer": "x", "expect": "short.bin", "type": "f32"})")
                .find("expected a multiple of 4"),
            std::string::npos);
  EXPECT_EQ(with(R"({"bytes": 3})", R"({"buffer": "x", "expect": "short.bin"})"), "(accepted)");
}

// ---- comparison ----

template <class T>
std::vector<std::uint8_t> bytes(std::vector<T> values) {
  std::vector<std::uint8_t> b(values.size() * sizeof(T));
  std::memcpy(b.data(), values.data(), b.size());
  return b;
}

TEST(comparing, tolerances_and_special_values) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  output o;
  o.type = element_type::f32;
  o.rtol = 0.1;
  EXPECT_EQ(
      compare(o, bytes<float>({1.0f, nan, inf, -inf, 0.0f}), bytes<float>({1.05f, -nan, inf, -inf, -0.0f})).differing,
      0u);
  EXPECT_EQ(
      compare(o, bytes<float>({1.0f, nan, inf, 1.0f, 0.0f}), bytes<float>({1.2f, 1.0f, -inf, inf, 1e-30f})).differing,
      5u);
  o.rtol = 0;
  o.atol = 0.25;
  EXPECT_EQ(compare(o, bytes<float>({1.0f, 1.0f}), bytes<float>({1.25f, 1.26f})).differing, 1u);
}

TEST(comparing, integers_are_exact_over_their_whole_range) {
  output o;
  o.type = element_type::u64;
  const std::uint64_t top = ~std::uint64_t{0};
  EXPECT_EQ(compare(o, bytes<std::uint64_t>({top, 0}), bytes<std::uint64_t>({top - 1, 0})).differing, 1u);
  o.type = element_type::s64;
  EXPECT_EQ(compare(o, bytes<std::uint64_t>({top, 5}), bytes<std::uint64_t>({top, 6})).first,
            (std::vector<std::string>{"[1] 5, expected 6"}));
  o.type = element_type::s8;
  o.atol = 1;
  EXPECT_EQ(compare(o, {0xff, 0x7f}, {0x00, 0x80}).differing, 1u);
}

TEST(comparing, halves_have_their_values) {
  EXPECT_EQ(half_value(0x3c00), 1.0);
  EXPECT_EQ(half_value(0xc000), -2.0);
  EXPECT_EQ(half_value(0x0001), 0x1p-24);
  EXPECT_EQ(half_value(0x03ff), 0x1.ff8p-15);
  EXPECT_EQ(half_value(0x7bff), 65504.0);
  EXPECT_EQ(half_value(0xfc00), -std::numeric_limits<double>::infinity());
  output o;
  o.type = element_type::f16;
  EXPECT_EQ(compare(o, bytes<std::uint16_t>({0x7e00, 0x3c00, 0x8000}), bytes<std::uint16_t>({0x7e01, 0x3c01, 0x0000}))
                .differing,
            1u);
}

TEST(comparing, the_first_five_are_listed) {
  output o;
  const comparison c = compare(o, std::vector<std::uint8_t>(9, 1), std::vector<std::uint8_t>(9, 2));
  EXPECT_EQ(c.differing, 9u);
  EXPECT_EQ(c.elements, 9u);
  ASSERT_EQ(c.first.size(), 5u);
  EXPECT_EQ(c.first[4], "[4] 1, expected 2");
}

// ---- result files ----

TEST(result_files_test, appear_together_or_not_at_all) {
  folder f;
  const std::string a = f.name("a");
  const std::string b = f.write("b", "old");
  {
    result_files files;
    files.add(a, "new a");
    files.add(b, "new b");
    EXPECT_NE(access(a.c_str(), F_OK), 0);
    EXPECT_EQ(content_of(b), "old");
  }
  EXPECT_NE(access(a.c_str(), F_OK), 0);
  result_files files;
  files.add(a, "new a");
  files.add(b, "new b");
  files.commit();
  EXPECT_EQ(content_of(a), "new a");
  EXPECT_EQ(content_of(b), "new b");
  EXPECT_EQ(files.written(), (std::vector<std::string>{a, b}));
}

TEST(result_files_test, a_full_device_leaves_the_others_as_they_were) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  folder f;
  const std::string a = f.write("a", "old");
  result_files files;
  files.add(a, "new");
  files.add("/dev/full", "text");
  EXPECT_EQ(refusal([&] { files.commit(); }), "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(content_of(a), "old");
}

TEST(result_files_test, a_link_stays_and_its_target_is_replaced) {
  folder f;
  const std::string target = f.write("target", "old");
  const std::string link = f.name("link");
  ASSERT_EQ(symlink("target", link.c_str()), 0);
  result_files files;
  files.add(link, "new");
  files.commit();
  EXPECT_EQ(content_of(target), "new");
  struct stat status;
  ASSERT_EQ(lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
}

// ---- options ----

run_options options_of(std::vector<std::string> arguments) {
  run_options o;
  std::string help;
  parse_run(arguments, o, help);
  return o;
}

TEST(options, defaults_and_all_options_of_run) {
  run_options o = options_of({"job.json"});
  EXPECT_EQ(o.job_file, "job.json");
  EXPECT_EQ(o.gpu, "gtx1080");
  EXPECT_EQ(o.trace_scope, "gpu.cwd,gpu.sm0*");
  o = options_of({"--kernel",   "a.ptx:k", "--grid",        "4,2",         "--block=32", "--shared-bytes", "0x10",
                  "--arg",      "s32:-1",  "--arg",         "buf:4",       "--gpu",      "v100",           "--set",
                  "a.b=1",      "--set",   "c.d=2",         "--metrics",   "m.json",     "--max-cycles",   "5",
                  "--progress", "never",   "--quiet",       "--log-level", "debug",      "--trace-window", "10:20",
                  "--vcd",      "w.vcd",   "--trace-scope", "gpu.*"});
  EXPECT_EQ(o.kernel_file, "a.ptx");
  EXPECT_EQ(o.kernel, "k");
  EXPECT_EQ(o.grid[1], 2u);
  EXPECT_EQ(o.block[0], 32u);
  EXPECT_EQ(o.shared_bytes, 16u);
  EXPECT_EQ(o.arguments.size(), 2u);
  EXPECT_EQ(o.overrides.size(), 2u);
  EXPECT_EQ(o.max_cycles, 5u);
  EXPECT_EQ(o.progress, progress_mode::never);
  EXPECT_TRUE(o.quiet);
  EXPECT_EQ(o.level, log_level::debug);
  EXPECT_EQ(o.trace_begin, 10u);
  EXPECT_EQ(o.trace_end, 20u);
}

TEST(options, wrong_command_lines_are_refused_in_words) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{}, "expected either a job file or --kernel"},
      {{"a", "b"}, "unexpected argument 'b'"},
      {{"a", "--metric", "x"}, "unknown option '--metric', did you mean '--metrics'?"},
      {{"a", "-x"}, "unknown option '-x'"},
      {{"a", "--gpu"}, "option '--gpu' needs a value"},
      {{"a", "--quiet=1"}, "option '--quiet' takes no value"},
      {{"a", "--gpu", "x", "--gpu", "y"}, "option '--gpu' is given more than once"},
      {{"a", "--max-cycles", "-1"}, "--max-cycles"},
      {{"a", "--max-cycles=-1"}, "--max-cycles: got '-1', expected a whole number from 1"},
      {{"a", "--max-cycles", "0"}, "--max-cycles: got '0'"},
      {{"a", "--progress", "maybe"}, "--progress: got 'maybe', expected auto | always | never"},
      {{"a", "--trace-window", "5:5", "--vcd", "w.vcd"}, "expected A:B"},
      {{"a", "--trace-window", "5:6"}, "--trace-window belongs to --vcd"},
      {{"a", "--gpu", "--quiet"}, "option '--gpu' needs a value, got '--quiet'"},
      {{"a", "--grid", "1"}, "--grid belongs to --kernel"},
      {{"a", "--kernel", "k"}, "expected either a job file or --kernel"},
      {{"--kernel", "k", "--grid", "1"}, "--kernel needs --block"},
      {{"--kernel", "k", "--grid", "1,0", "--block", "1"}, "--grid: got '1,0'"},
      {{"--kernel", "k", "--grid", "1,1,1,1", "--block", "1"}, "--grid: got '1,1,1,1'"},
  };
  for (const auto& c : cases) {
    const std::string message = refusal([&] { options_of(c.arguments); });
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
  }
}

TEST(options, help_is_text_and_no_error) {
  run_options o;
  std::string help;
  EXPECT_TRUE(parse_run({"--help"}, o, help));
  EXPECT_NE(help.find("--trace-window A:B"), std::string::npos);
  for (const auto& line : split(help, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST(progress_test, the_line_fits_and_tells_the_time_left) {
  run_progress p;
  p.blocks_done = 10;
  p.blocks_launched = 40;
  p.warp_instructions = 3000000;
  p.grids.push_back({0, 40, 20, 10, 1000, 10000000, 3000000, false});
  progress_estimate estimate({{{"k", 1, 40, 8, 0}}, false});
  estimate.update(1001000, p, {0}, 20);  // the running ones have just begun
  EXPECT_EQ(progress_text(1234567, p, estimate, 2),
            "cycle 1,234,567, blocks 10/40, 1.5 M warp instructions/s, 1:00 min left");
}

// Running blocks count by their age; later launches of a kernel count by what it took before.
TEST(progress_test, computed_kernels_are_estimated_by_blocks_that_have_ended) {
  progress_estimate estimate({{{"a", 2, 40, 8, 0}, {"b", 1, 10, 1, 0}}, false});
  run_progress p;
  p.grids.push_back({0, 40, 10, 0, 0, 0, 4000, false});
  p.warp_instructions = 4000;
  estimate.update(500, p, {0}, 1);
  EXPECT_LT(estimate.seconds_left(), 0) << "nobody knows how long a block is";
  EXPECT_TRUE(estimate.more());
  EXPECT_EQ(estimate.blocks(), 90u);
  // Ten have ended after 1,000 cycles each, ten are 500 cycles old: 12,000 instructions of 15 blocks in 3 s.
  p.grids[0] = {0, 40, 20, 10, 0, 10000, 12000, false};
  p.warp_instructions = 12000;
  estimate.update(1500, p, {0}, 3);
  EXPECT_DOUBLE_EQ(estimate.seconds_left(), (25 + 40) * 800 / 4000.0) << "this launch and the same once more";
  EXPECT_TRUE(estimate.more()) << "of kernel b nothing is known";
  p.grids[0] = {0, 40, 40, 40, 0, 40000, 32000, true};
  p.grids.push_back({1, 10, 10, 10, 4000, 10000, 1000, true});
  p.grids.push_back({2, 40, 20, 10, 5000, 10000, 12000, false});
  p.warp_instructions = 45000;
  estimate.update(6500, p, {0, 1, 0}, 9);
  EXPECT_FALSE(estimate.more());
  EXPECT_NEAR(estimate.seconds_left(), 25 * 800 / 5000.0, 0.1);
}

// The length of a trace is known from the start; with data-dependent rounds the end is unknown.
TEST(progress_test, recorded_kernels_are_estimated_by_instructions) {
  progress_estimate estimate({{{"r", 3, 4, 0, 10000}}, false});
  run_progress p;
  p.grids.push_back({0, 4, 4, 0, 0, 0, 6000, false});
  p.warp_instructions = 6000;
  estimate.update(900, p, {0}, 2);
  EXPECT_DOUBLE_EQ(estimate.seconds_left(), 24000 / 3000.0);
  EXPECT_FALSE(estimate.more());
  EXPECT_EQ(progress_text(900, p, estimate, 2), "cycle 900, blocks 0/12, 0.003 M warp instructions/s, 8 s left");
  job j;
  operation round;
  round.what = operation::kind::repeat;
  round.max = 5;
  operation launch;
  launch.grid[0] = 6;
  launch.block[0] = 33;
  round.body = {launch};
  j.operations = {round};
  EXPECT_EQ(plan_of(j).launches.at(0).times, 5u);
  EXPECT_EQ(plan_of(j).launches.at(0).warps_per_block, 2u);
  EXPECT_FALSE(plan_of(j).open);
  j.operations[0].while_nonzero = "flag";
  EXPECT_EQ(plan_of(j).launches.at(0).times, 1u);
  EXPECT_TRUE(plan_of(j).open);
}

}  // namespace job_test
}  // namespace heddle::testbench
