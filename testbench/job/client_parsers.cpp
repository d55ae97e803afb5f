// SPDX-License-Identifier: MIT
// The processes that share the GPU, and its parts, of a job.
#include <string>
#include <vector>

#include "heddle/config/suggestion.h"
#include "testbench/job/part_parsers.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t most_clients = 48;  // NVIDIA, Multi-Process Service, "Volta MPS": clients of a device
constexpr std::uint64_t most_units = 65535;

gpu_slice parse_slice(const json_reader& r, const std::string& name, const json_value& v) {
  gpu_slice s;
  s.name = name;
  s.where = r.place_of(v);
  if (name.empty()) r.fail(v, "slices", "expected a name for each slice");
  if (v.what == json_value::kind::string) {
    s.profile = v.text;
    if (s.profile.empty()) r.fail(v, "slices." + name, "expected the name of a profile");
    return s;
  }
  json_reader item(v, r.file(), "slices." + name);
  item.required("sms");
  item.required("channels");
  s.sms = static_cast<unsigned>(item.number("sms", 0, most_units));
  s.channels = static_cast<unsigned>(item.number("channels", 0, most_units));
  if (s.sms == 0 || s.channels == 0) refuse(s.where, item.path() + ": expected at least 1 SM and 1 channel");
  item.finish();
  return s;
}

gpu_client parse_one_client(const json_reader& r, const std::string& name, const json_value& v, const job& j) {
  json_reader item(v, r.file(), "clients." + name);
  gpu_client c;
  c.name = name;
  c.where = item.place();
  item.offer({"sm_percent", "slice"});
  if (item.has("sm_percent")) {
    c.sm_percent = item.real("sm_percent", 0);
    if (!(c.sm_percent > 0 && c.sm_percent <= 100))
      refuse(item.place("sm_percent"), item.path_of("sm_percent") + ": expected more than 0, at most 100");
  }
  if (item.has("slice")) {
    c.slice = item.string("slice");
    std::vector<std::string> known;
    bool found = false;
    for (const gpu_slice& s : j.slices) {
      found = found || s.name == c.slice;
      known.push_back(s.name);
    }
    if (!found) refuse(item.place("slice"), "there is no slice '" + c.slice + "'" + suggestion(c.slice, known));
  }
  item.finish();
  return c;
}

}  // namespace

void parse_clients(json_reader& r, job& j) {
  if (const json_value* v = r.optional("slices")) {
    static_cast<void>(r.expect(*v, json_value::kind::object, "slices"));
    for (std::size_t i = 0; i < v->items.size(); ++i) j.slices.push_back(parse_slice(r, v->keys[i], v->items[i]));
  }
  const json_value* v = r.optional("clients");
  if (v == nullptr) return;
  static_cast<void>(r.expect(*v, json_value::kind::object, "clients"));
  if (v->items.size() > most_clients)
    r.fail(*v, "clients", "expected at most " + std::to_string(most_clients) + " clients");
  for (std::size_t i = 0; i < v->items.size(); ++i) {
    if (v->keys[i].empty()) r.fail(v->items[i], "clients", "expected a name for each client");
    j.clients.push_back(parse_one_client(r, v->keys[i], v->items[i], j));
  }
}

unsigned parse_client(json_reader& r, const job& j) {
  if (!r.has("client")) {
    r.optional("client");
    return 0;
  }
  const std::string name = r.string("client");
  std::vector<std::string> known;
  for (unsigned n = 0; n < j.clients.size(); ++n) {
    if (j.clients[n].name == name) return n + 1;
    known.push_back(j.clients[n].name);
  }
  refuse(r.place("client"), "there is no client '" + name + "'" + suggestion(name, known));
}

}  // namespace heddle::testbench
