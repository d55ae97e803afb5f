// SPDX-License-Identifier: MIT
#include "testbench/options/option_parser.h"

#include <algorithm>
#include <sstream>

#include "heddle/config/error.h"
#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"
#include "testbench/text/text_style.h"

namespace heddle::testbench {

namespace po = boost::program_options;

namespace {

constexpr unsigned help_columns = 80;
constexpr unsigned help_columns_of_text = 40;
// Contains a space, so it cannot clash with an option name that a user can write.
const char* const positional_name = "positional argument";
// The option whose value is a line of options for another program, which may be empty.
const char* const takes_options = "slurm-args";

void add_to(po::options_description& all, const std::string& name, const option_entry& o, const std::string& help) {
  const std::string names = o.letter ? name + "," + o.letter : name;
  if (o.meaning.empty()) {
    all.add_options()(names.c_str(), help.c_str());
  } else if (o.repeatable) {
    all.add_options()(names.c_str(), po::value<std::vector<std::string>>()->value_name(o.meaning), help.c_str());
  } else if (o.may_lack_value) {
    all.add_options()(names.c_str(), po::value<std::string>()->implicit_value("", "")->value_name(o.meaning),
                      help.c_str());
  } else {
    all.add_options()(names.c_str(), po::value<std::string>()->value_name(o.meaning), help.c_str());
  }
}

std::string wrapped(const std::string& text) {
  std::string out;
  std::size_t column = 0;
  for (const std::string& word : split(text, ' ')) {
    const bool fits = column + 1 + word.size() < help_columns;
    if (!out.empty()) out += fits ? " " : "\n";
    column = fits && !out.empty() ? column + 1 + word.size() : word.size();
    out += word;
  }
  return out;
}

}  // namespace

option_parser::option_parser(std::string command, std::string usage, std::string purpose)
    : command_(std::move(command)), usage_(std::move(usage)), purpose_(std::move(purpose)) {}

option_parser& option_parser::group(const std::string& title) {
  groups_.push_back({title, {}});
  return *this;
}

option_parser& option_parser::add(const char* name, const char* meaning, const char* help, bool repeatable) {
  const auto parts = split(name, ',');
  option_entry o;
  o.name = parts[0];
  if (parts.size() > 1) o.letter = parts[1][0];
  o.meaning = meaning;
  o.help = help;
  o.repeatable = repeatable;
  groups_.back().options.push_back(std::move(o));
  return *this;
}

option_parser& option_parser::value(const char* name, const char* meaning, const char* help) {
  return add(name, meaning, help, false);
}
option_parser& option_parser::values(const char* name, const char* meaning, const char* help) {
  return add(name, meaning, help, true);
}
option_parser& option_parser::flag(const char* name, const char* help) { return add(name, "", help, false); }

option_parser& option_parser::optional_value(const char* name, const char* meaning, const char* help) {
  add(name, meaning, help, false);
  groups_.back().options.back().may_lack_value = true;
  return *this;
}

option_parser& option_parser::also(const char* name) {
  groups_.back().options.back().also.push_back(name);
  return *this;
}

option_parser& option_parser::operands(const char* meaning, std::size_t most) {
  operand_meaning_ = meaning;
  most_operands_ = most;
  return *this;
}

option_parser& option_parser::note(const char* paragraph) {
  notes_.push_back(paragraph);
  return *this;
}

option_parser& option_parser::example(const char* arguments, const char* purpose) {
  examples_.emplace_back(arguments, purpose);
  return *this;
}

bool option_parser::parse(const std::vector<std::string>& arguments) {
  read(arguments);
  take_other_names();
  if (values_.count("help")) return true;
  if (values_.count(positional_name)) positionals_ = list(positional_name);
  // Behind "--" stands a program, and its arguments may be empty.
  const auto program = std::find(arguments.begin(), arguments.end(), "--");
  const auto of_the_program = static_cast<std::size_t>(std::max<std::ptrdiff_t>(arguments.end() - program - 2, 0));
  for (std::size_t i = 0; i + of_the_program < positionals_.size(); ++i)
    if (positionals_[i].empty()) fail("got an empty argument, expected a name");
  for (const option_group& g : groups_)
    for (const option_entry& o : g.options)
      if (o.name != takes_options && has(o.name) && has_empty_value(o))
        fail("option '" + written(o.name) + "' needs a value");
  if (positionals_.size() > most_operands_)
    fail("unexpected argument '" + positionals_[most_operands_] + "'" +
         (most_operands_ > 1 ? ": at most " + std::to_string(most_operands_) + " are taken" : ""));
  return false;
}

bool option_parser::has_empty_value(const option_entry& o) const {
  if (o.meaning.empty() || o.may_lack_value) return false;
  const std::vector<std::string> given = o.repeatable ? list(o.name) : std::vector<std::string>{text(o.name)};
  return std::find(given.begin(), given.end(), "") != given.end();
}

// A forgotten value: the next option would be taken for it.
void option_parser::refuse_options_as_values(const std::vector<po::option>& given) const {
  for (const po::option& o : given) {
    if (o.string_key == positional_name || o.string_key == takes_options || o.original_tokens.size() < 2) continue;
    const std::string& value = o.original_tokens[1];
    if (value == "--") fail("option '--" + o.string_key + "' needs a value");
    if (value.compare(0, 2, "--") == 0)
      fail("option '--" + o.string_key + "' needs a value, got '" + value + "'; one that begins with -- is written --" +
           o.string_key + "=" + value);
  }
}

void option_parser::read(const std::vector<std::string>& arguments) {
  po::options_description all;
  std::vector<std::string> known;
  for (const option_group& g : groups_) {
    for (const option_entry& o : g.options) {
      add_to(all, o.name, o, o.help);
      known.push_back("--" + o.name);
      option_entry other = o;
      other.letter = 0;
      for (const std::string& name : o.also) add_to(all, name, other, o.help);
    }
  }
  all.add_options()(positional_name, po::value<std::vector<std::string>>(), "");
  po::positional_options_description places;
  places.add(positional_name, -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    const po::parsed_options given =
        po::command_line_parser(arguments).options(all).positional(places).style(style).run();
    refuse_options_as_values(given.options);
    po::store(given, values_);
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
}

void option_parser::take_other_names() {
  for (const option_group& g : groups_) {
    for (const option_entry& o : g.options) {
      for (const std::string& name : o.also) {
        const auto given = values_.find(name);
        if (given == values_.end()) continue;
        if (has(o.name)) fail("option '" + written(o.name) + "' is given more than once, here as '--" + name + "'");
        values_.insert({o.name, given->second});
        written_[o.name] = "--" + name;
      }
    }
  }
}

std::string option_parser::help() const {
  const text_style style = stdout_style();
  std::ostringstream text;
  std::string prefix = style.bold("usage:") + " heddle ";
  for (const auto& line : split(usage_, '\n')) {
    text << prefix << line << "\n";
    prefix = "       heddle ";
  }
  text << wrapped(purpose_) << "\n";
  for (const option_group& g : groups_) {
    po::options_description group(help_columns, help_columns_of_text);
    for (const option_entry& o : g.options) {
      std::string help = o.help;
      if (!o.also.empty()) help += "; --" + join(o.also, ", --") + " is accepted, too";
      add_to(group, o.name, o, help);
    }
    text << "\n" << style.bold(g.title + ":") << "\n" << group;
  }
  if (!examples_.empty()) text << "\n" << style.bold("Examples:") << "\n";
  for (const auto& [arguments, purpose] : examples_) text << "  # " << purpose << "\n  heddle " << arguments << "\n";
  return text.str();
}

const option_entry* option_parser::find(const std::string& name) const {
  for (const option_group& g : groups_) {
    for (const option_entry& o : g.options) {
      if (o.name == name || (name.size() == 1 && o.letter == name[0])) return &o;
      if (std::find(o.also.begin(), o.also.end(), name) != o.also.end()) return &o;
    }
  }
  return nullptr;
}

std::vector<std::string> option_parser::list(const std::string& option) const {
  return has(option) ? values_[option].as<std::vector<std::string>>() : std::vector<std::string>();
}

std::uint64_t option_parser::number(const std::string& option, std::uint64_t least, std::uint64_t most) const {
  std::uint64_t value = 0;
  if (!parse_unsigned(text(option), value) || value < least || value > most) {
    fail(written(option) + ": got '" + text(option) + "', expected a whole number from " + std::to_string(least) +
         " to " + std::to_string(most));
  }
  return value;
}

double option_parser::percentage(const std::string& option) const {
  double value = 0;
  if (!parse_percentage(text(option), value))
    fail(written(option) + ": got '" + printable(text(option)) + "', expected a percentage between 0 and 100");
  return value;
}

std::size_t option_parser::choice(const std::string& option) const {
  const std::vector<std::string> names = split(find(option)->meaning, '|');
  const auto found = std::find(names.begin(), names.end(), text(option));
  if (found == names.end())
    fail(written(option) + ": got '" + text(option) + "', expected " + join(names, " | ") +
         suggestion(text(option), names));
  return static_cast<std::size_t>(found - names.begin());
}

std::string option_parser::written(const std::string& option) const {
  const auto found = written_.find(option);
  return found == written_.end() ? "--" + option : found->second;
}

void option_parser::fail(const std::string& message) const {
  throw input_error(message + " (see heddle " + command_ + " --help)");
}

std::vector<std::string> option_parser::words() const {
  std::vector<std::string> words;
  for (const option_group& g : groups_)
    for (const option_entry& o : g.options) {
      if (!has(o.name)) continue;
      if (o.meaning.empty()) words.push_back("--" + o.name);
      else
        for (const std::string& value : o.repeatable ? list(o.name) : std::vector<std::string>{text(o.name)})
          words.push_back("--" + o.name + "=" + value);
    }
  words.emplace_back("--");
  words.insert(words.end(), positionals_.begin(), positionals_.end());
  return words;
}

}  // namespace heddle::testbench
