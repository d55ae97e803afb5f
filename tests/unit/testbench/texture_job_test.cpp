// SPDX-License-Identifier: MIT
// Textures in a job file: accepted forms, and errors with their position.
#include <gtest/gtest.h>

#include "heddle/config/error.h"
#include "testbench/job/job_parser.h"

namespace heddle::testbench {
namespace texture_job_test {

std::string job_with(const std::string& texture, const std::string& argument = "{\"texture\": \"t\"}") {
  return "{\"module\": \"k.ptx\",\n \"buffers\": {\"x\": {\"bytes\": 4096}},\n \"textures\": {\"t\": " + texture +
         "},\n \"launches\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [32], \"args\": [" + argument + "]}]}";
}

std::string error_of(const std::string& text) {
  try {
    parse_job(text, "j.json");
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}

TEST(job_texture, is_read) {
  const job j = parse_job(
      job_with("{\"buffer\": \"x\", \"type\": \"unorm8\", \"channels\": 4, \"width\": 16, \"height\": 8, \"depth\": 8, "
               "\"filter\": \"linear\", \"address\": [\"wrap\", \"mirror\", \"border\"], \"normalized\": true}"),
      "j.json");
  ASSERT_EQ(j.textures.size(), 1u);
  const simt::texture_descriptor& d = j.textures[0].descriptor;
  EXPECT_EQ(j.textures[0].buffer, "x");
  EXPECT_EQ(d.type, simt::texel_type::unorm8);
  EXPECT_EQ(d.channels, 4u);
  EXPECT_EQ(d.width, 16u);
  EXPECT_EQ(d.height, 8u);
  EXPECT_EQ(d.depth, 8u);
  EXPECT_TRUE(d.linear);
  EXPECT_TRUE(d.normalized);
  EXPECT_EQ(d.mode[0], simt::texture_address::wrap);
  EXPECT_EQ(d.mode[1], simt::texture_address::mirror);
  EXPECT_EQ(d.mode[2], simt::texture_address::border);
  EXPECT_EQ(j.operations[0].arguments[0].what, argument::kind::texture);
  EXPECT_EQ(j.operations[0].arguments[0].size(), 8u);
  const job plain =
      parse_job(job_with("{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 1024}", "{\"surface\": \"t\"}"), "j.json");
  EXPECT_FALSE(plain.textures[0].descriptor.linear);
  EXPECT_FALSE(plain.textures[0].descriptor.normalized);
  EXPECT_EQ(plain.textures[0].descriptor.mode[0], simt::texture_address::clamp);
}

TEST(job_texture, is_refused_with_its_place) {
  struct row {
    const char* texture;
    const char* message;
  };
  const row rows[] = {
      {"{\"buffer\": \"y\", \"type\": \"f32\", \"width\": 4}", "there is no buffer 'y'"},
      {"{\"buffer\": \"x\", \"type\": \"f64\", \"width\": 4}", "got 'f64', expected one of u8 s8 u16"},
      {"{\"buffer\": \"x\", \"type\": \"f32\"}", "width"},
      {"{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 0}", "expected at least 1"},
      {"{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 4, \"channels\": 3}", "expected 1, 2 or 4"},
      {"{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 4, \"filter\": \"cubic\"}", "expected one of point linear"},
      {"{\"buffer\": \"x\", \"type\": \"u8\", \"width\": 4, \"filter\": \"linear\"}",
       "'linear' needs a type that is read as a float"},
      {"{\"buffer\": \"x\", \"type\": \"u8\", \"width\": 4, \"address\": [\"repeat\"]}",
       "got 'repeat', expected one of wrap clamp mirror border"},
      {"{\"buffer\": \"x\", \"type\": \"u8\", \"width\": 4, \"address\": []}", "expected one to three address modes"},
      {"{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 64, \"height\": 17}",
       "buffer 'x' has 4096 bytes, texture 't' of 64 x 17 x 1 texels of 4 bytes needs more"},
      {"{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 268435456, \"height\": 268435456, \"depth\": 268435456}",
       "needs more"},
      {"{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 4, \"color\": 1}", "color"},
      {"[]", "textures.t"}};
  for (const row& r : rows) {
    const std::string error = error_of(job_with(r.texture));
    EXPECT_NE(error.find(r.message), std::string::npos) << r.texture << "\n" << error;
    EXPECT_EQ(error.rfind("j.json:3:", 0), 0u) << error;
  }
  EXPECT_NE(error_of(job_with("{\"buffer\": \"x\", \"type\": \"f32\", \"width\": 4}", "{\"texture\": \"u\"}"))
                .find("there is no texture 'u'"),
            std::string::npos);
}

}  // namespace texture_job_test
}  // namespace heddle::testbench
