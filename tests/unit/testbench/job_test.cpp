// SPDX-License-Identifier: MIT
// Arguments, fills, job files.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/hash/splitmix64.h"
#include "job_bench.h"
#include "testbench/job/arguments.h"
#include "testbench/job/buffer_data.h"
#include "testbench/job/job_parser.h"

namespace heddle::testbench {
namespace job_test {

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
    std::vector<std::uint8_t> chunks;
    for (std::uint64_t at = 0; at < b.bytes; at += 16) {
      const auto chunk = fill_bytes(b, at, std::min<std::uint64_t>(16, b.bytes - at));
      chunks.insert(chunks.end(), chunk.begin(), chunk.end());
    }
    EXPECT_EQ(whole, chunks);
  }
  buffer b;
  b.content = buffer::fill::iota32;
  EXPECT_EQ(fill_bytes(b, 0, 9), (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 0, 0, 2}));
  b.content = buffer::fill::iotaf;
  EXPECT_EQ(fill_bytes(b, 8, 4), (std::vector<std::uint8_t>{0, 0, 0, 0x40}));
}

// ---- job files ----

const char* const small = R"({"module": "/usr/bin/uname", "buffers": {"x": {"bytes": 16}},
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
      {changed("\"module\": \"/usr/bin/uname\"", "\"module\": \"/nonexistent.ptx\""), "cannot read '/nonexistent.ptx'"},
      {changed("\"module\": \"/usr/bin/uname\",", ""), "expected either 'module' or 'modules'"},
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
      {changed("}]}]}", "}]}], \"outputs\": [{\"buffer\": \"x\", \"expect\": \"/usr/bin/uname\", \"type\": \"u7\"}]}"),
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

}  // namespace job_test
}  // namespace heddle::testbench
