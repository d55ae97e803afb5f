// SPDX-License-Identifier: MIT
#include "sub_partition/scheduling_policy.h"

#include "config/error.h"
#include "sub_partition/policies/greedy_then_oldest.h"
#include "sub_partition/policies/loose_round_robin.h"

namespace heddle {

namespace {
template <class P>
std::unique_ptr<scheduling_policy> make(unsigned) {
  return std::make_unique<P>();
}
struct entry {
  const char* name;
  std::unique_ptr<scheduling_policy> (*create)(unsigned slots);
};
// The factory table: a new policy is one file in policies/ and one line here.
constexpr entry table[] = {
    {"lrr", make<loose_round_robin>},
    {"gto", make<greedy_then_oldest>},
};
}  // namespace

std::vector<std::string> scheduling_policies() {
  std::vector<std::string> names;
  for (const entry& e : table) names.emplace_back(e.name);
  return names;
}

std::unique_ptr<scheduling_policy> make_scheduling_policy(const std::string& name, unsigned slots) {
  std::string known;
  for (const entry& e : table) {
    if (name == e.name) return e.create(slots);
    known += known.empty() ? e.name : std::string(", ") + e.name;
  }
  throw input_error("unknown sub_partition.scheduler '" + name + "', expected one of " + known);
}

}  // namespace heddle
