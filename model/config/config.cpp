// SPDX-License-Identifier: MIT
#include "heddle/config/config.h"

#include <map>
#include <utility>

#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/shipped.h"
#include "heddle/config/suggestion.h"

namespace heddle {
namespace {

/// The source of a parameter's value, for messages: a position in a file, or the text of an override.
struct origin {
  std::size_t order = 0;  // when two values conflict, the later one is reported
  std::string override_text;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Fills a configuration from a file and overrides, and records the source of each value.
class loader {
 public:
  explicit loader(std::string file) : file_(std::move(file)) {
    for (const parameter& p : parameters())
      if (sections_.empty() || sections_.back() != p.section) sections_.push_back(p.section);
  }

  /// Copies all values of a configuration, checking each.
  void take(gpu_config config) {
    config_ = config;
    for (const parameter_reference& p : parameters_of(config)) {
      if (p.about->is_choice()) continue;  // checked by check()
      const std::string value = text_of(p);
      const std::string expected = set_text(p, value);
      if (!expected.empty()) throw input_error(wrong_value(*p.about, value, expected));
    }
  }

  /// Reads the file and applies it after the files that it is based on.
  void read_files(config_reading& how) {
    std::vector<ini_text> chain;
    chain.push_back(ini_text(file_, read_text_file(file_)));
    while (chain.back().base.line != 0) chain.push_back(base_of(chain, how));
    for (auto f = chain.rbegin(); f != chain.rend(); ++f) apply(*f, how);
    // Another chip's energies would be wrong, so there is no default for them.
    const auto has_energies = [](const ini_text& f) {
      return std::any_of(f.sections.begin(), f.sections.end(), [](const ini_section& s) { return s.name == "energy"; });
    };
    if (std::none_of(chain.begin(), chain.end(), has_energies)) config_.energy.account = false;
    for (const ini_text& f : chain) how.files.push_back(f.file);
  }

  void override_with(const std::string& text, config_reading& how) {
    const std::size_t equals = text.find('=');
    const std::size_t dot = text.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals)
      fail_override(text, "expected SECTION.KEY=VALUE");
    const std::string section = text.substr(0, dot);
    const std::string key = text.substr(dot + 1, equals - dot - 1);
    if (keys_of(section).empty()) fail_override(text, unknown_section(section));
    const parameter* parameter = find_parameter(section + "." + key);
    if (parameter == nullptr) fail_override(text, unknown_key(section, key));
    const std::string value = text.substr(equals + 1);
    const std::string expected = set_text(config_, *parameter, value);
    if (!expected.empty()) fail_override(text, wrong_value(*parameter, value, expected));
    note_name(section + "." + key, *parameter, how);
    origins_[parameter->name()] = {++order_, text, "", 0, 0};
  }

  void check() const {
    check_rules(config_, [this](const std::vector<std::string>& names, const std::string& message) {
      const origin* latest = nullptr;
      for (const std::string& name : names) {
        const auto found = origins_.find(name);
        if (found != origins_.end() && (latest == nullptr || found->second.order > latest->order))
          latest = &found->second;
      }
      const std::string what = about(names, message);
      if (latest == nullptr) throw input_error(file_.empty() ? what : printable(file_) + ": " + what);
      if (!latest->override_text.empty()) fail_override(latest->override_text, what);
      throw input_error(printable(latest->file), latest->line, latest->column, what);
    });
  }

  [[nodiscard]] const gpu_config& config() const { return config_; }

 private:
  /// A file that has been read but not applied yet.
  struct ini_text {
    ini_text(std::string name, const std::string& text)
        : file(std::move(name)), entries(read_ini(text, printable(file), &sections, &base)) {}
    std::string file;
    std::vector<ini_section> sections;
    ini_entry base;
    std::vector<ini_entry> entries;
  };

  static ini_text base_of(const std::vector<ini_text>& chain, const config_reading& how) {
    constexpr std::size_t most_files = 8;
    const ini_text& of = chain.back();
    const std::string& named = of.base.value;
    const std::string file = base_file(named, of.file);
    const auto fail = [&](const std::string& what) {
      throw input_error(printable(of.file), of.base.line, of.base.value_column,
                        "base '" + printable(named) + "': " + what);
    };
    std::string text;
    try {
      if (!names_a_file(named)) static_cast<void>(shipped_config_file(named));  // throws, listing the shipped GPUs
      text = names_a_file(named) && how.read_base ? how.read_base(file) : read_text_file(file);
    } catch (const input_error& e) {
      fail(e.what());
    }
    for (const ini_text& before : chain)
      if (is_same_file(before.file, file)) fail("a configuration cannot be its own base, nor that of its base");
    if (chain.size() == most_files)
      fail("expected at most " + std::to_string(most_files) + " files, each the base of the one before");
    return ini_text(file, text);
  }

  void apply(const ini_text& f, config_reading& how) {
    std::map<std::string, std::uint32_t> lines;  // of each parameter in this file
    const std::string shown = printable(f.file);
    for (const ini_section& section : f.sections)
      if (keys_of(section.name).empty())
        throw input_error(shown, section.line, section.column, unknown_section(section.name));
    for (const ini_entry& entry : f.entries) {
      const parameter* parameter = find_parameter(entry.section + "." + entry.key);
      if (parameter == nullptr)
        throw input_error(shown, entry.line, entry.key_column, unknown_key(entry.section, entry.key));
      const auto seen = lines.emplace(parameter->name(), entry.line);
      if (!seen.second)
        throw input_error(shown, entry.line, entry.key_column,
                          "key '" + entry.key + "' is another name of one in line " +
                              std::to_string(seen.first->second) + ", expected '" + parameter->key + "' once");
      const std::string expected = set_text(config_, *parameter, entry.value);
      if (!expected.empty())
        throw input_error(shown, entry.line, entry.value_column, wrong_value(*parameter, entry.value, expected));
      note_name(entry.section + "." + entry.key, *parameter, how);
      origins_[parameter->name()] = {++order_, "", f.file, entry.line, entry.value_column};
    }
  }

  static void note_name(const std::string& used, const parameter& p, config_reading& how) {
    if (used != p.name()) how.former_names.push_back(used);
  }

  [[noreturn]] static void fail_override(const std::string& text, const std::string& message) {
    throw input_error("--set " + printable(text) + ": " + message);
  }

  [[nodiscard]] std::vector<std::string> keys_of(const std::string& section) const {
    std::vector<std::string> keys;
    for (const parameter& p : parameters())
      if (p.section == section) keys.push_back(p.key);
    return keys;
  }

  [[nodiscard]] std::string unknown_section(const std::string& section) const {
    return "unknown section [" + printable(section) + "]" + suggestion(section, sections_);
  }

  [[nodiscard]] std::string unknown_key(const std::string& section, const std::string& key) const {
    std::string hint = key == "base" ? ", it must be before the first section" : suggestion(key, keys_of(section));
    for (const std::string& other : sections_)
      if (hint.empty() && find_parameter(other + "." + key) != nullptr)
        hint = ", did you mean '" + key + "' of section [" + other + "]?";
    return "unknown key '" + printable(key) + "' in section [" + section + "]" + hint;
  }

  static std::string wrong_value(const parameter& p, const std::string& value, const std::string& expected) {
    if (p.is_choice()) return "unknown " + p.key + " '" + printable(value) + "', expected " + expected;
    return "expected " + expected + " for " + p.name() + ", not '" + printable(value) + "'";
  }

  /// The message of a violated rule. If it does not name its parameters, they are put before it with their values.
  [[nodiscard]] std::string about(const std::vector<std::string>& names, const std::string& message) const {
    if (message.rfind("expected", 0) != 0) return message;
    std::string values;
    for (const std::string& name : names) {
      if (const parameter* p = find_parameter(name))
        values += (values.empty() ? "" : ", ") + name + " = " + printable(text_of(*p, config_));
    }
    return values + ": " + message;
  }

  std::string file_;
  gpu_config config_;
  std::vector<std::string> sections_;
  std::map<std::string, origin> origins_;
  std::size_t order_ = 0;
};

}  // namespace

std::string config_file(const std::string& name_or_file) {
  return names_a_file(name_or_file) ? name_or_file : shipped_config_file(name_or_file);
}

gpu_config load_config(const std::string& name_or_file, const std::vector<std::string>& overrides,
                       config_reading& how) {
  loader from(config_file(name_or_file));
  from.read_files(how);
  for (const std::string& text : overrides) from.override_with(text, how);
  from.check();
  return from.config();
}

gpu_config load_config(const std::string& name_or_file, const std::vector<std::string>& overrides) {
  config_reading how;
  return load_config(name_or_file, overrides, how);
}

void check(const gpu_config& config) {
  loader values("");
  values.take(config);
  values.check();
}

std::string to_ini(const gpu_config& config) {
  std::string text;
  std::string section;
  for (const parameter& p : parameters()) {
    if (p.section != section) {
      text += (section.empty() ? "[" : "\n[") + p.section + "]\n";
      section = p.section;
    }
    text += p.key + " = " + text_of(p, config) + "\n";
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> flatten(const gpu_config& config) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const parameter& p : parameters()) all.emplace_back(p.name(), text_of(p, config));
  return all;
}

}  // namespace heddle
