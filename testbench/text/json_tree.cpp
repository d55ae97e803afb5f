// SPDX-License-Identifier: MIT
#include "testbench/text/json_tree.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using nlohmann::json;

constexpr std::size_t deepest = 64;

/// Iterates over the text and records how far the parser has read, which its callbacks do not report.
class counting_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, const char** farthest) : at_(at), farthest_(farthest) {}
  reference operator*() const { return *at_; }
  counting_iterator& operator++() {
    ++at_;
    if (at_ > *farthest_) *farthest_ = at_;
    return *this;
  }
  counting_iterator operator++(int) {
    counting_iterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const counting_iterator& other) const { return at_ == other.at_; }
  bool operator!=(const counting_iterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** farthest_;
};

/// Builds the tree from the parser's events.
class tree_builder : public nlohmann::json_sax<json> {
 public:
  tree_builder(const std::string& text, const std::string& file) : begin_(text.data()), file_(file), at_(begin_) {
    end_ = begin_ + text.size();
  }

  bool null() override { return add(json_value::kind::null, word_start()); }
  bool boolean(bool truth) override {
    bool more = add(json_value::kind::boolean, word_start());
    last_->truth = truth;
    return more;
  }
  bool number_integer(json::number_integer_t) override { return number(); }
  bool number_unsigned(json::number_unsigned_t) override { return number(); }
  bool number_float(json::number_float_t, const std::string&) override { return number(); }
  bool string(std::string& text) override {
    refuse_zero(text);
    bool more = add(json_value::kind::string, quote_start());
    last_->text = text;
    return more;
  }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return enter(json_value::kind::object); }
  bool start_array(std::size_t) override { return enter(json_value::kind::array); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(std::string& name) override {
    auto place = place_of(quote_start());
    refuse_zero(name);
    json_value& object = *open_.back();
    if (!seen_.back().insert(name).second)
      throw input_error(file_, place.first, place.second, "key '" + name + "' appears twice in one object");
    object.keys.push_back(name);
    object.key_places.push_back(place);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    auto place = place_of(begin_ + std::min<std::size_t>(position ? position - 1 : 0, end_ - begin_));
    // "[json.exception…] parse error at line 1, column 2: what": only the last part is shown to users.
    std::string what = e.what();
    for (const char* part : {"] ", ": "}) {
      auto found = what.find(part);
      if (found != std::string::npos) what.erase(0, found + std::char_traits<char>::length(part));
    }
    throw input_error(file_, place.first, place.second, "not valid JSON: " + what);
  }

  [[noreturn]] void refuse_at(std::size_t position, const std::string& what) {
    const auto [line, column] = place_of(begin_ + position);
    throw input_error(file_, line, column, what);
  }

  const char** farthest() { return &at_; }
  json_value take() { return std::move(root_); }

 private:
  // Messages and names of files end at a zero character.
  void refuse_zero(const std::string& text) {
    if (text.find('\0') == std::string::npos) return;
    const auto [line, column] = place_of(quote_start());
    throw input_error(file_, line, column, "a zero character (\\u0000) in a text, expected none");
  }

  std::pair<unsigned, unsigned> place_of(const char* at) {
    // Events arrive in text order. Only the start of the current token can be before the last position.
    if (at < counted_) {
      counted_ = begin_;
      line_ = 1;
      line_start_ = begin_;
    }
    for (; counted_ < at; ++counted_) {
      if (*counted_ == '\n') {
        ++line_;
        line_start_ = counted_ + 1;
      }
    }
    return {line_, static_cast<unsigned>(at - line_start_) + 1};
  }

  // Quotes inside a string are escaped, so the nearest unescaped quote before this position opens the string.
  [[nodiscard]] const char* quote_start() const {
    for (const char* p = at_ - 2; p > begin_; --p) {
      if (*p != '"') continue;
      const char* slash = p;
      while (slash > begin_ && slash[-1] == '\\') --slash;
      if ((p - slash) % 2 == 0) return p;
    }
    return begin_;
  }
  [[nodiscard]] const char* word_start() const {
    const char* p = at_;
    while (p > begin_ && std::isalpha(static_cast<unsigned char>(p[-1]))) --p;
    return p;
  }
  static bool of_number(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) || (c && std::strchr("+-.eE", c));
  }

  // The parser has read one character past a number, unless the number ends the text.
  bool number() {
    const char* last = at_;
    if (last > begin_ && !of_number(last[-1])) --last;
    const char* first = last;
    while (first > begin_ && of_number(first[-1])) --first;
    bool more = add(json_value::kind::number, first);
    last_->text.assign(first, last);
    return more;
  }

  bool add(json_value::kind kind, const char* start) {
    auto place = place_of(start);
    json_value* v = &root_;
    if (!open_.empty()) v = &open_.back()->items.emplace_back();
    v->what = kind;
    v->line = place.first;
    v->column = place.second;
    last_ = v;
    return true;
  }
  bool enter(json_value::kind kind) {
    add(kind, at_ - 1);
    open_.push_back(last_);
    seen_.emplace_back();
    if (open_.size() > deepest) {
      throw input_error(file_, last_->line, last_->column, "nested deeper than " + std::to_string(deepest) + " levels");
    }
    return true;
  }
  bool leave() {
    open_.pop_back();
    seen_.pop_back();
    return true;
  }

  const char* begin_;
  const char* end_;
  const std::string& file_;
  const char* at_;
  const char* counted_ = begin_;
  const char* line_start_ = begin_;
  unsigned line_ = 1;
  json_value root_;
  json_value* last_ = nullptr;
  std::vector<json_value*> open_;            // an open value is the last child of its parent, so it does not move
  std::vector<std::set<std::string>> seen_;  // keys of each open value
};

const char* name_of(json_value::kind kind) {
  switch (kind) {
    case json_value::kind::null: return "null";
    case json_value::kind::boolean: return "true or false";
    case json_value::kind::number: return "a number";
    case json_value::kind::string: return "a string";
    case json_value::kind::array: return "an array";
    case json_value::kind::object: return "an object";
  }
  return "";
}

}  // namespace

const json_value* json_value::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

json_value parse_json(const std::string& text, const std::string& file_name) {
  tree_builder builder(text, file_name);
  // The parser would take a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos)
    builder.refuse_at(zero, "not valid JSON: a zero byte");
  counting_iterator begin(text.data(), builder.farthest());
  counting_iterator end(text.data() + text.size(), builder.farthest());
  json::sax_parse(begin, end, &builder);
  return builder.take();
}

json_reader::json_reader(const json_value& value, const std::string& file, std::string path)
    : value_(value), file_(file), path_(std::move(path)) {
  static_cast<void>(expect(value, json_value::kind::object, path_.empty() ? "the job" : path_));
}

const json_value* json_reader::optional(const std::string& key) {
  asked_.push_back(key);
  return value_.find(key);
}

const json_value& json_reader::required(const std::string& key) {
  const json_value* v = optional(key);
  if (!v) fail(value_, path_, "key '" + key + "' is missing" + suggestion_among({key}));
  return *v;
}

std::uint64_t json_reader::number(const std::string& key, std::uint64_t otherwise, std::uint64_t maximum) {
  const json_value* v = optional(key);
  return v ? to_number(*v, path_of(key), maximum) : otherwise;
}

double json_reader::real(const std::string& key, double otherwise) {
  const json_value* v = optional(key);
  if (!v) return otherwise;
  double number = 0;
  parse_float(expect(*v, json_value::kind::number, path_of(key)).text, number);
  return number;
}

bool json_reader::truth(const std::string& key) {
  const json_value* v = optional(key);
  return v != nullptr && expect(*v, json_value::kind::boolean, path_of(key)).truth;
}

std::string json_reader::string(const std::string& key) {
  return expect(required(key), json_value::kind::string, path_of(key)).text;
}

std::string json_reader::path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

std::string json_reader::place(const std::string& key) const {
  const json_value* v = value_.find(key);
  return place_of(v ? *v : value_);
}

std::string json_reader::place_of(const json_value& v) const {
  return file_ + ":" + std::to_string(v.line) + ":" + std::to_string(v.column);
}

void json_reader::fail(const json_value& v, const std::string& path, const std::string& message) const {
  throw input_error(file_, v.line, v.column, path.empty() ? message : path + ": " + message);
}

std::uint64_t json_reader::to_number(const json_value& v, const std::string& path, std::uint64_t maximum) const {
  static_cast<void>(expect(v, json_value::kind::number, path));
  std::uint64_t number = 0;
  if (!parse_unsigned(v.text, number) || number > maximum) {
    fail(v, path, "got " + v.text + ", expected a whole number from 0 to " + std::to_string(maximum));
  }
  return number;
}

std::size_t json_reader::to_choice(const json_value& v, const std::string& path,
                                   const std::vector<std::string>& names) const {
  const std::string& text = expect(v, json_value::kind::string, path).text;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    fail(v, path, "got '" + text + "', expected one of " + join(names, " ") + suggestion(text, names));
  return static_cast<std::size_t>(found - names.begin());
}

const json_value& json_reader::expect(const json_value& v, json_value::kind kind, const std::string& path) const {
  if (v.what != kind) fail(v, path, std::string("expected ") + name_of(kind) + ", got " + name_of(v.what));
  return v;
}

void json_reader::finish() const {
  std::vector<std::string> known;
  for (const std::vector<std::string>* keys : {&asked_, &offered_})
    for (const std::string& key : *keys)
      if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
  for (std::size_t i = 0; i < value_.keys.size(); ++i) {
    const std::string& key = value_.keys[i];
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    auto [line, column] = value_.key_places[i];
    const std::string in = path_.empty() ? "" : " in " + path_;
    if (std::find(known.begin(), known.end(), key) != known.end())
      throw input_error(file_, line, column, "key '" + key + "'" + in + " does not go with the others");
    throw input_error(
        file_, line, column,
        "unknown key '" + key + "'" + in + suggestion(key, known) + " (known: " + join(known, ", ") + ")");
  }
}

std::string json_reader::suggestion_among(const std::vector<std::string>& wanted) const {
  const auto is_among = [](const std::string& key, const std::vector<std::string>& keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const std::string& key : value_.keys) {
    if (is_among(key, asked_) || is_among(key, offered_)) continue;
    const std::string hint = suggestion(key, wanted);
    if (!hint.empty()) return ", not '" + key + "'" + hint;
  }
  return "";
}

}  // namespace heddle::testbench
