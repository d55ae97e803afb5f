// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/message.h"

namespace heddle {

/// One "key = value" of an INI text, with its place for messages. Lines and columns count from 1.
struct ini_entry {
  std::string section;
  std::string key;
  std::string value;
  std::uint32_t line = 0;
  std::uint32_t section_line = 0;  // where the section was opened
  std::uint32_t section_column = 0;
  std::uint32_t key_column = 0;
  std::uint32_t value_column = 0;
};

/// A section as its head names it.
struct ini_section {
  std::string name;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Reads INI text: [section], key = value, and comments from ';' or '#' at a line's start or after white space.
/// Values are kept as written, without the white space around them. Throws input_error(file, line, column) for a line
/// that is none of these, a key outside a section, an empty value or a key given twice. `sections`: every section,
/// empty ones too. `base`: takes the one key that may stand before the first section, `base = ...`; its line stays 0
/// where there is none. Null: none may.
std::vector<ini_entry> read_ini(const std::string& text, const std::string& file,
                                std::vector<ini_section>* sections = nullptr, ini_entry* base = nullptr);

/// The whole of a configuration file. Throws input_error when it cannot be read or is larger than 1 MiB.
std::string read_text_file(const std::string& file);

}  // namespace heddle
