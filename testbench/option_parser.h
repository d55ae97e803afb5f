// SPDX-License-Identifier: MIT
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One command's options: grouped help, no guessing of abbreviated names, and messages in our words.
class option_parser {
 public:
  /// `usage` is what follows "usage: heddle ", lines apart; `purpose` a sentence for the help.
  option_parser(std::string command, std::string usage, std::string purpose);

  /// Begins a group of options with its title; the next three add an option to it: with a text, with a text and
  /// repeatable, without.
  option_parser& group(const std::string& title);
  option_parser& value(const char* name, const char* meaning, const char* help);
  option_parser& values(const char* name, const char* meaning, const char* help);
  option_parser& flag(const char* name, const char* help);
  /// Parses; at most `positionals` arguments that are no options. True: --help was among them. Throws input_error.
  bool parse(const std::vector<std::string>& arguments, std::size_t positionals);
  std::string help() const;

  bool has(const std::string& option) const { return values_.count(option) != 0; }
  /// Text of an option that has() been given.
  const std::string& text(const std::string& option) const { return values_[option].as<std::string>(); }
  std::vector<std::string> list(const std::string& option) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  std::uint64_t number(const std::string& option, std::uint64_t least, std::uint64_t most) const;
  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string command_;
  std::string usage_;
  std::string purpose_;
  std::vector<boost::program_options::options_description> groups_;
  boost::program_options::variables_map values_;
  std::vector<std::string> positionals_;
};

}  // namespace heddle::testbench
