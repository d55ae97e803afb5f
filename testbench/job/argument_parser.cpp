// SPDX-License-Identifier: MIT
#include "testbench/job/argument_parser.h"

#include <string>
#include <vector>

#include "testbench/job/arguments.h"
#include "testbench/job/tensor_map_parser.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

const std::vector<std::string>& argument_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = scalar_names();
    all.insert(all.end(), {"buffer", "symbol", "texture", "surface", "bytes_hex", "tensor_map"});
    return all;
  }();
  return keys;
}

}  // namespace

argument parse_argument(json_reader& r, const job& j) {
  argument a;
  a.where = r.place();
  r.offer(argument_keys());
  r.offer({"offset"});
  for (const std::string& name : scalar_names()) {
    if (!r.has(name)) continue;
    const json_value& v = r.required(name);
    if (v.what != json_value::kind::number && v.what != json_value::kind::string)
      r.fail(v, r.path_of(name), "expected a number or a string");
    return parse_scalar(name, v.text, r.place_of(v));
  }
  if (r.has("buffer")) {
    a.what = argument::kind::buffer;
    a.text = "a buffer's address";
    a.name = r.string("buffer");
    a.offset = r.number("offset", 0);
  } else if (r.has("symbol")) {
    a.what = argument::kind::symbol;
    a.text = "a symbol's address";
    a.name = r.string("symbol");
  } else if (r.has("bytes_hex")) {
    a.text = "bytes_hex";
    a.bytes = parse_hex_bytes(r.string("bytes_hex"), r.place("bytes_hex"));
  } else if (r.has("tensor_map")) {
    json_reader map(r.required("tensor_map"), r.file(), r.path_of("tensor_map"));
    parse_tensor_map(map, a, j);
  } else if (r.has("texture") || r.has("surface")) {
    const char* key = r.has("texture") ? "texture" : "surface";
    a.what = argument::kind::texture;
    a.text = std::string("a ") + key + "'s handle";
    a.name = r.string(key);
    existing_texture(j, a.name, r.place(key));
  } else {
    refuse(a.where, r.path() + ": expected one of the keys " + join(argument_keys(), ", ") +
                        r.suggestion_among(argument_keys()));
  }
  return a;
}

}  // namespace heddle::testbench
