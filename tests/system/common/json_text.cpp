// SPDX-License-Identifier: MIT
#include "json_text.h"

#include <set>

HEDDLE_PARSERS(, nlohmann::json);
HEDDLE_PARSERS(, nlohmann::ordered_json);

namespace heddle::test {

nlohmann::ordered_json whole_run_metrics(const std::string& text) {
  using json = nlohmann::ordered_json;
  static const std::set<std::string> of_run = {"gpu", "sms", "intervals", "energy", "sources", "host"},
                                     of_kernel = {"lines", "code", "energy"};
  // A kernel is an object in a list in the object of the run.
  return json::parse(text, [](int depth, json::parse_event_t event, json& value) {
    if (event != json::parse_event_t::key || (depth != 1 && depth != 3)) return true;
    return (depth == 1 ? of_run : of_kernel).count(value.get_ref<const std::string&>()) == 0;
  });
}

}  // namespace heddle::test
