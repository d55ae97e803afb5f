// SPDX-License-Identifier: MIT
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One command-line option. `meaning` describes its value and is all that completion needs: lower-case words between
/// '|' are the possible values, FILE.json is a file with that ending, DIR a folder, SECTION.KEY=VALUE a parameter;
/// empty: the option takes no value.
struct option_entry {
  std::string name;
  char letter = 0;  // -o; 0: none
  std::string meaning;
  std::string help;
  bool repeatable = false;
  bool may_lack_value = false;    // --name, or --name=VALUE in one word
  std::vector<std::string> also;  // other accepted names
};

struct option_group {
  std::string title;
  std::vector<option_entry> options;
};

/// The table of one command's options. It parses the arguments and generates the help, the manual page and the
/// completion. Abbreviated names are not accepted, and all messages are Heddle's own.
class option_parser {
 public:
  /// `usage` follows "usage: heddle ", one form a line; `purpose` is a sentence for the help.
  option_parser(std::string command, std::string usage, std::string purpose);

  /// Begins a titled group of options. The next three functions add an option to it: with a value, with a repeatable
  /// value, without a value. A name is "output" or "output,o".
  option_parser& group(const std::string& title);
  option_parser& value(const char* name, const char* meaning, const char* help);
  option_parser& values(const char* name, const char* meaning, const char* help);
  option_parser& flag(const char* name, const char* help);
  /// An option whose value may be left out; it is then empty.
  option_parser& optional_value(const char* name, const char* meaning, const char* help);
  /// Adds an alternative name to the option added last.
  option_parser& also(const char* name);
  /// What positional arguments are, written as an option's meaning, and how many are allowed; none without this call.
  option_parser& operands(const char* meaning, std::size_t most = 1);
  /// Adds a paragraph to the manual page, and an example to the manual page and the help.
  option_parser& note(const char* paragraph);
  option_parser& example(const char* arguments, const char* purpose);

  /// Parses. True: --help was among the arguments. Throws input_error.
  bool parse(const std::vector<std::string>& arguments);
  /// The text of --help; headings are bold on a terminal.
  [[nodiscard]] std::string help() const;

  [[nodiscard]] bool has(const std::string& option) const { return values_.count(option) != 0; }
  /// The value of an option for which has() is true.
  [[nodiscard]] const std::string& text(const std::string& option) const { return values_[option].as<std::string>(); }
  [[nodiscard]] std::vector<std::string> list(const std::string& option) const;
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  /// All that was given in words of one form: --name, --name=VALUE, then "--" and the positional arguments.
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] std::uint64_t number(const std::string& option, std::uint64_t least, std::uint64_t most) const;
  /// "2" or "2%" as 0.02, between 0 and 1.
  [[nodiscard]] double percentage(const std::string& option) const;
  /// The index of the given value in the option's meaning ("auto|always|never").
  [[nodiscard]] std::size_t choice(const std::string& option) const;
  /// The option as the user wrote it: "--gpu".
  [[nodiscard]] std::string written(const std::string& option) const;
  [[noreturn]] void fail(const std::string& message) const;

  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] const std::string& usage() const { return usage_; }
  [[nodiscard]] const std::string& purpose() const { return purpose_; }
  [[nodiscard]] const std::string& operand_meaning() const { return operand_meaning_; }
  [[nodiscard]] std::size_t most_operands() const { return most_operands_; }
  [[nodiscard]] const std::vector<option_group>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& examples() const { return examples_; }
  /// The option with this name or alternative name; nullptr: none.
  [[nodiscard]] const option_entry* find(const std::string& name) const;

 private:
  option_parser& add(const char* name, const char* meaning, const char* help, bool repeatable);
  void read(const std::vector<std::string>& arguments);
  [[nodiscard]] bool has_empty_value(const option_entry& o) const;
  void refuse_options_as_values(const std::vector<boost::program_options::option>& given) const;
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
  std::map<std::string, std::string> written_;  // options given by an alternative name
  std::vector<std::string> positionals_;
};

}  // namespace heddle::testbench
