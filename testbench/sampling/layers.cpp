// SPDX-License-Identifier: MIT
#include "testbench/sampling/layers.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

// As in layer12_gemm, model.layers.12.mlp, "layer 12", blocks.12, h.12.
constexpr char usual_expression[] = "(?:^|[^A-Za-z])(?:[Ll]ayers?[._ ]?|blocks[.]|h[.])([0-9]+)(?![0-9A-Za-z])";
constexpr std::size_t longest_searched = 1000;  // of which the beginning is searched

/// The layer in a name, and the name without it.
struct found_layer {
  std::string layer, rest;
};

class layer_finder {
 public:
  explicit layer_finder(const std::string& expression) {
    try {
      expression_.assign(expression, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& e) {
      throw input_error("--layers: got '" + printable(expression) + "', expected a regular expression: " + e.what());
    }
    if (expression_.mark_count() != 1)
      throw input_error("--layers: got '" + printable(expression) +
                        "', expected a regular expression with one group, which is the layer");
  }

  /// The layer is empty if there is none.
  const found_layer& find(const std::string& name) {
    const auto [at, is_new] = known_.emplace(name, found_layer{"", name});
    if (!is_new) return at->second;
    const std::string text = name.substr(0, longest_searched);
    std::smatch m;
    if (search(text, m) && m[1].length() > 0) {
      at->second.layer = m[1].str();
      at->second.rest.replace(static_cast<std::size_t>(m.position(1)), at->second.layer.size(), "*");
    }
    return at->second;
  }

 private:
  [[nodiscard]] bool search(const std::string& text, std::smatch& m) const {
    try {
      return std::regex_search(text, m, expression_);
    } catch (const std::regex_error& e) {
      throw input_error("--layers: cannot search '" + printable(text) + "': " + e.what());
    }
  }

  std::regex expression_;
  std::map<std::string, found_layer> known_;
};

bool comes_before(const std::string& a, const std::string& b) {
  std::uint64_t x = 0, y = 0;
  if (parse_unsigned(a, x) && parse_unsigned(b, y)) return x < y;
  return a < b;
}

/// Launches of one layer in one stratum.
struct stratum_share {
  double launches = 0, simulated = 0, sum = 0;
};

}  // namespace

void find_layers(launch_list& list, const std::string& expression) {
  layer_finder finder(expression.empty() ? usual_expression : expression);
  std::set<std::string> layers;
  for (const listed_launch& l : list.launches)
    for (const std::string* name : {&l.range, &l.name})
      if (const std::string& layer = finder.find(*name).layer; !layer.empty()) layers.insert(layer);
  if (layers.empty() && !expression.empty())
    throw input_error("--layers: '" + printable(expression) + "' is in no name of a kernel or range of " +
                      printable(list.file));
  if (layers.empty() || (layers.size() < 2 && expression.empty())) return;
  list.has_layers = true;
  for (listed_launch& l : list.launches) {
    const found_layer& in_name = finder.find(l.name);
    const std::string& of_range = finder.find(l.range).layer;
    l.layer = of_range.empty() ? in_name.layer : of_range;
    l.name = in_name.rest;
  }
}

std::vector<workload_estimate::part> layers_of(const launch_list& list, const sample& from, const launch_values& values,
                                               double confidence) {
  if (!list.has_layers) return {};
  std::map<std::string, std::pair<workload_estimate::part, moments>> layers;
  const std::vector<stratum> strata = measured_strata(from, values);
  for (std::size_t k = 0; k < strata.size(); ++k) {
    const stratum& s = strata[k];
    const std::vector<std::uint32_t> chosen = from.chosen(k);
    std::map<std::string, stratum_share> shares;
    for (const std::uint32_t m : s.members) ++shares[list.launches[m].layer].launches;
    for (const std::uint32_t m : chosen) {
      stratum_share& share = shares[list.launches[m].layer];
      ++share.simulated;
      share.sum += values.at(m);
    }
    const double drawn = static_cast<double>(chosen.size());
    const double freedom = from.strata()[k].mean > 0 ? static_cast<double>(s.members.size()) - 1 : drawn - 1;
    for (const auto& [name, share] : shares) {
      // That of a prediction: of the mean, and of the launches about it.
      const double others = share.launches - share.simulated;
      auto& [part, sum] = layers[name];
      part.name = name;
      part.launches += static_cast<std::size_t>(share.launches);
      part.simulated += static_cast<std::size_t>(share.simulated);
      sum.add_stratum(share.sum + others * s.mean, (others * others / drawn + others) * s.deviation * s.deviation,
                      freedom);
    }
  }
  std::vector<workload_estimate::part> all;
  for (auto& [name, layer] : layers) {
    layer.first.of = layer.second.with(confidence);
    all.push_back(layer.first);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.name.empty() != b.name.empty() ? b.name.empty() : comes_before(a.name, b.name);
  });
  return all;
}

}  // namespace heddle::testbench
