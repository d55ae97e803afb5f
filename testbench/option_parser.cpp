// SPDX-License-Identifier: MIT
#include "testbench/option_parser.h"

#include <algorithm>
#include <sstream>

#include "config/error.h"
#include "testbench/text.h"

namespace heddle::testbench {

namespace po = boost::program_options;

namespace {

// No option that a user can write has a space in its name.
const char* const positional_name = "positional argument";

}  // namespace

option_parser::option_parser(std::string command, std::string usage, std::string purpose)
    : command_(std::move(command)), usage_(std::move(usage)), purpose_(std::move(purpose)) {}

option_parser& option_parser::group(const std::string& title) {
  groups_.emplace_back(title, 80, 40);
  return *this;
}

option_parser& option_parser::value(const char* name, const char* meaning, const char* help) {
  groups_.back().add_options()(name, po::value<std::string>()->value_name(meaning), help);
  return *this;
}

option_parser& option_parser::values(const char* name, const char* meaning, const char* help) {
  groups_.back().add_options()(name, po::value<std::vector<std::string>>()->value_name(meaning), help);
  return *this;
}

option_parser& option_parser::flag(const char* name, const char* help) {
  groups_.back().add_options()(name, help);
  return *this;
}

bool option_parser::parse(const std::vector<std::string>& arguments, std::size_t positionals) {
  po::options_description all;
  for (const auto& g : groups_) all.add(g);
  std::vector<std::string> known;
  for (const auto& option : all.options()) known.push_back("--" + option->long_name());
  all.add_options()(positional_name, po::value<std::vector<std::string>>(), "");
  po::positional_options_description places;
  places.add(positional_name, -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(places).style(style).run(), values_);
    po::notify(values_);
  } catch (const po::unknown_option& e) {
    fail("unknown option '" + e.get_option_name() + "'" + suggestion(e.get_option_name(), known));
  } catch (const po::multiple_occurrences& e) {
    fail("option '" + e.get_option_name() + "' is given more than once");
  } catch (const po::invalid_command_line_syntax& e) {
    const bool missing =
        e.kind() == po::invalid_syntax::missing_parameter || e.kind() == po::invalid_syntax::empty_adjacent_parameter;
    if (e.kind() == po::invalid_syntax::extra_parameter) fail("option '" + e.get_option_name() + "' takes no value");
    fail(missing ? "option '" + e.get_option_name() + "' needs a value" : e.what());
  } catch (const po::error& e) {
    fail(e.what());
  }
  if (values_.count("help")) return true;
  if (values_.count(positional_name)) positionals_ = list(positional_name);
  if (positionals_.size() > positionals) fail("unexpected argument '" + positionals_[positionals] + "'");
  return false;
}

std::string option_parser::help() const {
  std::ostringstream text;
  std::string prefix = "usage: heddle ";
  for (const auto& line : split(usage_, '\n')) {
    text << prefix << line << "\n";
    prefix = "       heddle ";
  }
  text << purpose_ << "\n";
  for (const auto& g : groups_) text << "\n" << g;
  return text.str();
}

std::vector<std::string> option_parser::list(const std::string& option) const {
  return has(option) ? values_[option].as<std::vector<std::string>>() : std::vector<std::string>();
}

std::uint64_t option_parser::number(const std::string& option, std::uint64_t least, std::uint64_t most) const {
  std::uint64_t value = 0;
  if (!parse_unsigned(text(option), value) || value < least || value > most) {
    fail("--" + option + ": got '" + text(option) + "', expected a whole number from " + std::to_string(least) +
         " to " + std::to_string(most));
  }
  return value;
}

void option_parser::fail(const std::string& message) const {
  throw input_error(message + "\n(see heddle " + command_ + " --help)");
}

}  // namespace heddle::testbench
