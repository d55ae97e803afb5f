// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/metric_leaves.h"

#include <algorithm>
#include <cstdint>

namespace heddle::testbench {

namespace {

using json = nlohmann::json;

/// Handles the parser's events directly: building a tree would dominate the cost of processing a point's values.
class leaf_reader : public nlohmann::json_sax<json> {
 public:
  explicit leaf_reader(metric_leaves& leaves) : leaves_(leaves) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(value); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return begin(false); }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override { return !signals_.empty() && begin(true); }
  bool end_array() override { return end(); }
  bool key(string_t& name) override {
    level& l = signals_.back();
    path_.resize(l.length);
    if (signals_.size() > 1) path_ += '.';
    path_ += name;
    if (signals_.size() == 1) wanted_ = name != "gpu" && name != "schema";
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct level {
    bool array;
    std::uint64_t index;
    std::size_t length;  // length of the path to the container
  };

  // Elements of an array have no keys: their indices are the keys.
  void name_element() {
    if (signals_.empty() || !signals_.back().array) return;
    path_.resize(signals_.back().length);
    path_ += '.';
    path_ += std::to_string(signals_.back().index++);
  }

  bool begin(bool array) {
    name_element();
    signals_.push_back({array, 0, path_.size()});
    return true;
  }

  bool end() {
    signals_.pop_back();
    return true;
  }

  template <class T>
  bool add(const T& value) {
    if (signals_.empty()) return false;
    name_element();
    if (wanted_) leaves_.emplace_back(path_, value);
    return true;
  }

  metric_leaves& leaves_;
  std::vector<level> signals_;
  std::string path_;
  bool wanted_ = true;
};

}  // namespace

bool read_leaves(const std::string& text, metric_leaves& leaves) {
  leaves.clear();
  leaf_reader reader(leaves);
  if (!json::sax_parse(text, &reader)) return false;
  std::sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return true;
}

}  // namespace heddle::testbench
