// SPDX-License-Identifier: MIT
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One option as the user knows it. `meaning` says what its value is, and is all that completion needs: words in small
/// letters between '|' are the values there are, FILE.json is a file with that ending, DIR a folder, SECTION.KEY=VALUE
/// a parameter; empty: it takes no value.
struct option_entry {
  std::string name;
  char letter = 0;  // -o; 0: none
  std::string meaning;
  std::string help;
  bool repeatable = false;
  std::vector<std::string> also;  // other names that are accepted
};

struct option_group {
  std::string title;
  std::vector<option_entry> options;
};

/// One command's options: the table from which its arguments are read, and its help, its manual page and its completion
/// are made. No guessing of abbreviated names, and messages in our words.
class option_parser {
 public:
  /// `usage` is what follows "usage: heddle ", lines apart; `purpose` a sentence for the help.
  option_parser(std::string command, std::string usage, std::string purpose);

  /// Begins a group of options with its title; the next three add an option to it: with a text, with a text and
  /// repeatable, without. A name is "output" or "output,o".
  option_parser& group(const std::string& title);
  option_parser& value(const char* name, const char* meaning, const char* help);
  option_parser& values(const char* name, const char* meaning, const char* help);
  option_parser& flag(const char* name, const char* help);
  /// Another name under which the option added last is accepted.
  option_parser& also(const char* name);
  /// What arguments that are no options are, as the meaning of an option, and how many there may be; without it none.
  option_parser& operands(const char* meaning, std::size_t most = 1);
  /// A paragraph of the manual page, and an example for it and for the help.
  option_parser& note(const char* paragraph);
  option_parser& example(const char* arguments, const char* purpose);

  /// Parses. True: --help was among the arguments. Throws input_error.
  bool parse(const std::vector<std::string>& arguments);
  /// The text of --help; headings are bold on a terminal.
  std::string help() const;

  bool has(const std::string& option) const { return values_.count(option) != 0; }
  /// Text of an option that has() been given.
  const std::string& text(const std::string& option) const { return values_[option].as<std::string>(); }
  std::vector<std::string> list(const std::string& option) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  std::uint64_t number(const std::string& option, std::uint64_t least, std::uint64_t most) const;
  /// Which of the values of its meaning ("auto|always|never") an option was given.
  std::size_t choice(const std::string& option) const;
  /// The option as the user has written it: "--gpu".
  std::string written(const std::string& option) const;
  [[noreturn]] void fail(const std::string& message) const;

  const std::string& command() const { return command_; }
  const std::string& usage() const { return usage_; }
  const std::string& purpose() const { return purpose_; }
  const std::string& operand_meaning() const { return operand_meaning_; }
  std::size_t most_operands() const { return most_operands_; }
  const std::vector<option_group>& groups() const { return groups_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::pair<std::string, std::string>>& examples() const { return examples_; }
  /// The option of this name, or that accepts it; nullptr: none.
  const option_entry* find(const std::string& name) const;

 private:
  option_parser& add(const char* name, const char* meaning, const char* help, bool repeatable);
  void read(const std::vector<std::string>& arguments);
  void take_other_names();

  std::string command_;
  std::string usage_;
  std::string purpose_;
  std::string operand_meaning_;
  std::size_t most_operands_ = 0;
  std::vector<option_group> groups_;
  std::vector<std::string> notes_;
  std::vector<std::pair<std::string, std::string>> examples_;
  boost::program_options::variables_map values_;
  std::map<std::string, std::string> written_;  // options that were given by another name
  std::vector<std::string> positionals_;
};

}  // namespace heddle::testbench
