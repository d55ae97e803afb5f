// SPDX-License-Identifier: MIT
#pragma once

#include <cci_configuration>
#include <fstream>
#include <stdexcept>
#include <string>

namespace standards {

/// Gives the broker the preset values of a file with one `name = value` in each line. Values are JSON: 4, 1.5, true,
/// "xor". Text after '#' at the beginning of a line is a comment. Throws std::runtime_error with FILE:LINE.
inline void read_presets(cci::cci_broker_handle broker, const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read, expected a file of preset values");
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') continue;
    const std::size_t equals = line.find('=');
    const std::size_t last = equals == std::string::npos ? equals : line.find_last_not_of(" \t=", equals);
    cci::cci_value value;
    try {
      if (last != std::string::npos) value = cci::cci_value::from_json(line.substr(equals + 1));
    } catch (...) {
      cci::cci_handle_exception(cci::CCI_VALUE_FAILURE);
    }
    if (value.is_null()) throw std::runtime_error(file + ":" + std::to_string(number) + ": expected NAME = JSON value");
    broker.set_preset_cci_value(line.substr(first, last + 1 - first), value);
  }
}

}  // namespace standards
