// SPDX-License-Identifier: MIT
#include "testbench/job/texture_parser.h"

#include <algorithm>
#include <iterator>

#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using kind = json_value::kind;

const std::vector<std::string> type_names = {"u8",  "s8",  "u16",    "s16",    "u32",     "s32",
                                             "f16", "f32", "unorm8", "snorm8", "unorm16", "snorm16"};
const std::vector<std::string> address_names = {"wrap", "clamp", "mirror", "border"};

std::uint32_t extent(json_reader& r, const char* key) {
  const std::uint64_t n = r.number(key, 1, 1u << 28);
  if (n == 0) refuse(r.place(key), r.path_of(key) + ": got 0, expected at least 1");
  return static_cast<std::uint32_t>(n);
}

bool flag(json_reader& r, const char* key) {
  const json_value* v = r.optional(key);
  return v && r.expect(*v, kind::boolean, r.path_of(key)).truth;
}

void check_size(const texture& t, const buffer& b) {
  const simt::texture_descriptor& d = t.descriptor;
  __extension__ typedef unsigned __int128 wide;
  const wide needed = wide{d.width} * d.height * d.depth * simt::texel_bytes(d);
  if (needed <= b.bytes) return;
  refuse(t.where, "buffer '" + b.name + "' has " + std::to_string(b.bytes) + " bytes, texture '" + t.name + "' of " +
                      std::to_string(d.width) + " x " + std::to_string(d.height) + " x " + std::to_string(d.depth) +
                      " texels of " + std::to_string(simt::texel_bytes(d)) + " bytes needs more");
}

texture parse_texture(json_reader& r, const std::string& name, const job& j) {
  texture t;
  t.name = name;
  t.where = r.place();
  t.buffer = r.string("buffer");
  const buffer& b = existing_buffer(j, t.buffer, r.place("buffer"));
  simt::texture_descriptor& d = t.descriptor;
  d.type = static_cast<simt::texel_type>(r.to_choice(r.required("type"), r.path_of("type"), type_names));
  const std::uint64_t channels = r.number("channels", 1, 4);
  if (channels == 0 || channels == 3) refuse(r.place("channels"), r.path_of("channels") + ": expected 1, 2 or 4");
  d.channels = static_cast<std::uint8_t>(channels);
  r.required("width");
  d.width = extent(r, "width");
  d.height = extent(r, "height");
  d.depth = extent(r, "depth");
  if (const json_value* v = r.optional("filter"))
    d.linear = r.to_choice(*v, r.path_of("filter"), {"point", "linear"}) == 1;
  if (d.linear && d.type < simt::texel_type::f16)
    refuse(r.place("filter"),
           r.path_of("filter") +
               ": 'linear' needs a type that is read as a float: f16, f32, unorm8, snorm8, unorm16 or snorm16");
  if (const json_value* v = r.optional("address")) {
    static_cast<void>(r.expect(*v, kind::array, r.path_of("address")));
    if (v->items.empty() || v->items.size() > 3)
      r.fail(*v, r.path_of("address"), "expected one to three address modes");
    for (std::size_t k = 0; k < v->items.size(); ++k)
      d.mode[k] = static_cast<simt::texture_address>(r.to_choice(v->items[k], r.path_of("address"), address_names));
  }
  d.normalized = flag(r, "normalized");
  check_size(t, b);
  return t;
}

}  // namespace

std::vector<texture> parse_textures(const json_value& all, const std::string& file, const job& j) {
  std::vector<texture> textures;
  json_reader whole(all, file, "textures");
  for (std::size_t k = 0; k < all.items.size(); ++k) {
    json_reader r(all.items[k], file, "textures." + all.keys[k]);
    textures.push_back(parse_texture(r, all.keys[k], j));
    r.finish();
  }
  return textures;
}

}  // namespace heddle::testbench
