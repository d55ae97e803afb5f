// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/message.h"

namespace heddle {

/// One "key = value" of an INI text, with its position for messages. Lines and columns count from 1.
struct ini_entry {
  std::string section;
  std::string key;
  std::string value;
  std::uint32_t line = 0;
  std::uint32_t section_line = 0;  // line of the section's header
  std::uint32_t section_column = 0;
  std::uint32_t key_column = 0;
  std::uint32_t value_column = 0;
};

/// A section header.
struct ini_section {
  std::string name;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Reads INI text: [section], key = value, and comments from ';' or '#' at the start of a line or after white space.
/// Values are kept as written, without surrounding white space. Throws input_error(file, line, column) for any other
/// line, a key outside a section, an empty value or a repeated key. `sections`: receives every section, including empty
/// ones. `base`: receives the one key that may precede the first section, `base = ...`; its line remains 0 if there is
/// none. If `base` is null, that key is an error.
std::vector<ini_entry> read_ini(const std::string& text, const std::string& file,
                                std::vector<ini_section>* sections = nullptr, ini_entry* base = nullptr);

/// Reads a whole configuration file. Throws input_error if it cannot be read or is larger than 1 MiB.
std::string read_text_file(const std::string& file);

}  // namespace heddle
