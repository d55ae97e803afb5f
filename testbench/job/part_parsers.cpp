// SPDX-License-Identifier: MIT
#include "testbench/job/part_parsers.h"

#include <set>
#include <string>
#include <vector>

#include "testbench/text/text.h"

namespace heddle::testbench {

const std::vector<std::string>& preemption_modes() {
  static_assert(preemption_mode{1} == preemption_mode::context_switch && preemption_mode{2} == preemption_mode::flush &&
                    preemption_mode{3} == preemption_mode::automatic,
                "in the order of preemption_mode");
  static const std::vector<std::string> names = {"drain", "switch", "flush", "auto"};
  return names;
}

preemption parse_preemption(json_reader& r) {
  preemption p;
  p.where = r.place();
  r.offer({"at_cycle", "sm", "mode", "resume_after"});
  r.required("at_cycle");
  p.at_cycle = r.number("at_cycle", 0, latest_cycle);
  if (const json_value* v = r.optional("sm")) {
    const std::string path = r.path_of("sm");
    std::set<unsigned> named;
    const auto add = [&](const json_value& number) {
      const auto sm = static_cast<unsigned>(r.to_number(number, path, largest_u32));
      if (!named.insert(sm).second) r.fail(number, path, "SM " + std::to_string(sm) + " is given twice");
      p.sms.push_back(sm);
    };
    if (v->what == json_value::kind::number) {
      add(*v);
    } else if (v->what == json_value::kind::array) {
      if (v->items.empty()) r.fail(*v, path, "expected at least one SM");
      for (const json_value& item : v->items) add(item);
    } else if (v->what != json_value::kind::string || v->text != "all") {
      r.fail(*v, path, "expected \"all\", the number of an SM or a list of such");
    }
  }
  if (r.has("mode"))
    p.mode = static_cast<preemption_mode>(r.to_choice(r.required("mode"), r.path_of("mode"), preemption_modes()));
  p.resume_after = r.number("resume_after", 0, latest_cycle);
  return p;
}

open_file_part parse_open_file(json_reader& r, const file_access& access, bool writes) {
  const place where = r.place("descriptor");
  if (access.is_confined())
    refuse(where, "'descriptor' leaves the folder of the job's files (--confine), expected 'file'");
  open_file_part part;
  part.descriptor = static_cast<int>(r.number("descriptor", 0, largest_descriptor));
  part.at = r.number("at", 0, largest_file_offset);
  check_open(part, writes, where);
  return part;
}

}  // namespace heddle::testbench
