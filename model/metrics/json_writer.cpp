// SPDX-License-Identifier: MIT
#include "heddle/metrics/json_writer.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace heddle {

namespace {

// Characters that stand for themselves in a JSON string.
constexpr std::array<bool, 256> plain_characters() {
  std::array<bool, 256> plain{};
  for (unsigned c = 0x20; c < plain.size(); ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> plain = plain_characters();

bool is_plain(char c) { return plain[static_cast<unsigned char>(c)]; }

// A byte of `word` is 0 (the top bit of some byte is set; that of a byte above it may be, too).
constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr std::uint64_t zero_bytes(std::uint64_t word) { return (word - each_byte) & ~word & each_byte << 7; }

// Eight characters at a time, the last eight of them perhaps for the second time.
bool is_plain(std::string_view text) {
  std::uint64_t word = 0;
  if (text.size() < sizeof word) return std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
  const std::size_t last = text.size() - sizeof word;
  for (std::size_t i = 0;; i = std::min(i + sizeof word, last)) {
    std::memcpy(&word, text.data() + i, sizeof word);
    const std::uint64_t below_space = (word - each_byte * ' ') & ~word & each_byte << 7;
    if ((below_space | zero_bytes(word ^ each_byte * '"') | zero_bytes(word ^ each_byte * '\\')) != 0) return false;
    if (i == last) return true;
  }
}

// Both halves of the product of two numbers.
std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Tables of texts, by a hash of what they say. There are some 500 keys, and few should share a place.
template <unsigned Bits>
struct hashed {
  static constexpr std::size_t size = std::size_t{1} << Bits;
  static constexpr std::size_t place(std::uint64_t of) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    return of * golden_ratio >> (64 - Bits);
  }
};
using hashed_keys = hashed<12>;
using hashed_numbers = hashed<11>;
using hashed_texts = hashed<11>;

// As text.
bool same(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }
bool same(std::uint64_t a, std::uint64_t b) { return a == b; }

}  // namespace

// Short ones, one after another.
void json_writer::put(std::string_view text) {
  if (__builtin_expect(text.size() > parts_bytes - parts_size_, 0)) return put_long(text);
  std::memcpy(parts_.data() + parts_size_, text.data(), text.size());
  parts_size_ += text.size();
}

inline void json_writer::put(char c) {
  if (__builtin_expect(parts_size_ == parts_bytes, 0)) put_parts();
  parts_[parts_size_++] = c;
}

// `text` has padded_bytes characters, of which `size` count. Copying all of them is cheaper than a call.
inline void json_writer::put_padded(const char* text, std::size_t size) {
  if (__builtin_expect(parts_size_ > parts_bytes - padded_bytes, 0)) put_parts();
  std::memcpy(parts_.data() + parts_size_, text, padded_bytes);
  parts_size_ += size;
}

json_writer& json_writer::key(std::string_view name) {
  value(name);
  put(": ");
  after_key_ = true;
  return *this;
}

json_writer& json_writer::key(std::uint64_t number) {
  separate();
  const std::size_t digits = text_of(number).size();
  constexpr std::string_view end = "\": ";
  std::array<char, padded_bytes> text;  // what lies behind the key is not read
  text[0] = '"';
  std::memcpy(text.data() + 1, whole_text_.data(), whole_text_.size());
  std::memcpy(text.data() + 1 + digits, end.data(), end.size());
  put_padded(text.data(), 1 + digits + end.size());
  after_key_ = true;
  return *this;
}

json_writer& json_writer::key(constant_key name) {
  if (keys_.empty()) keys_.resize(hashed_keys::size);
  const std::size_t place = hashed_keys::place(reinterpret_cast<std::uintptr_t>(name.text) + margin_size_);
  const auto is_it = [&](const key_text& k) { return k.name == name.text && k.margin == margin_size_; };
  key_text* known = &keys_[place];
  if (__builtin_expect(!is_it(*known), 0)) {
    key_text& other = keys_[place ^ 1];
    if (is_it(other)) {
      known = &other;
    } else {
      if (known->name != nullptr && other.name == nullptr) known = &other;
      if (!make_key(*known, name.text)) return key(std::string_view(name.text));
    }
  }
  const std::size_t comma = first_ ? 1 : 0;
  put_padded(known->text.data() + comma, known->size - comma);
  first_ = false;
  after_key_ = true;
  return *this;
}

// False if the text is too long.
bool json_writer::make_key(key_text& to, const char* name) {
  const std::string_view text = name;
  constexpr std::string_view end = "\": ";
  const std::size_t size = margin_size_ + 1 + text.size() + end.size();
  if (size > padded_bytes || !is_plain(text)) return false;
  to.name = name;
  to.margin = margin_size_;
  to.size = size;
  char* at = std::copy_n(margin_.data(), margin_size_, to.text.data());
  *at++ = '"';
  at = std::copy(text.begin(), text.end(), at);
  std::copy(end.begin(), end.end(), at);
  return true;
}

// Null if a text is too long.
const json_writer::key_text* json_writer::keys_of(const char* const* names, std::size_t count) {
  for (const key_list& l : key_lists_)
    if (l.names == names && l.margin == margin_size_) return l.texts.data();
  key_list made{names, margin_size_, std::vector<key_text>(count)};
  for (std::size_t i = 0; i < count; ++i)
    if (!make_key(made.texts[i], names[i])) return nullptr;
  return key_lists_.emplace_back(std::move(made)).texts.data();
}

json_writer& json_writer::members(const char* const* names, const double* numbers, std::size_t count) {
  const key_text* const keys = keys_of(names, count);
  if (keys == nullptr) {
    for (std::size_t i = 0; i < count; ++i) member(constant_key{names[i]}, numbers[i]);
    return *this;
  }
  std::size_t comma = first_ ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (__builtin_expect(parts_size_ > parts_bytes - 2 * padded_bytes, 0)) put_parts();
    char* to = parts_.data() + parts_size_;
    std::memcpy(to, keys[i].text.data() + comma, padded_bytes);
    to += keys[i].size - comma;
    comma = 0;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &numbers[i], sizeof bits);
    if (bits == 0) {
      *to++ = '0';
    } else {
      const std::string_view text = text_of(numbers[i]);
      std::memcpy(to, text.data(), padded_bytes);
      to += text.size();
    }
    parts_size_ = static_cast<std::size_t>(to - parts_.data());
  }
  if (count != 0) first_ = false;
  return *this;
}

// Where the text of these numbers belongs; it is of `kind` if it is there.
json_writer::known_text& json_writer::find(const void* kind, const void* numbers, std::size_t bytes) {
  if (texts_.empty()) texts_.resize(hashed_texts::size);
  const auto* const all = static_cast<const std::byte*>(numbers);
  std::uint64_t of = reinterpret_cast<std::uintptr_t>(kind) + margin_size_ + (first_ ? 1 : 0) + (after_key_ ? 2 : 0);
  const auto word = [all](std::size_t at) {
    std::uint64_t of_text = 0;
    std::memcpy(&of_text, all + at, sizeof of_text);
    return of_text;
  };
  constexpr std::size_t pair = 2 * sizeof(std::uint64_t);
  std::size_t at = 0;
  for (; at + pair <= bytes; at += pair)
    of = folded_product(of ^ word(at), word(at + sizeof(std::uint64_t)) ^ 0xff51afd7ed558ccd);
  if (at != bytes) of = folded_product(of ^ word(at), 0xff51afd7ed558ccd);
  const auto same = [&](const known_text& known) {
    return known.kind == kind && known.margin == margin_size_ && known.first == first_ &&
           known.after_key == after_key_ && known.numbers.size() == bytes &&
           std::memcmp(known.numbers.data(), all, bytes) == 0;
  };
  const std::size_t place = hashed_texts::place(of);
  known_text* known = &texts_[place];
  if (same(*known)) return *known;
  known_text& other = texts_[place ^ 1];
  if (same(other)) return other;
  if (known->kind != nullptr && other.kind == nullptr) known = &other;
  known->kind = nullptr;
  known->margin = margin_size_;
  known->first = first_;
  known->after_key = after_key_;
  known->numbers.assign(all, all + bytes);
  return *known;
}

// The last so many characters, unless some have left parts_.
void json_writer::remember(known_text& as, const void* kind, std::size_t characters) {
  if (characters > parts_size_) return;
  as.kind = kind;
  as.text.assign(parts_.data() + parts_size_ - characters, characters);
}

json_writer& json_writer::again(const known_text& known) {
  put(known.text);
  after_key_ = false;
  if (!known.text.empty()) first_ = false;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  put("\"");
  if (is_plain(text)) {
    put(text);
    put("\"");
    return *this;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      put(fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
      continue;
    }
    if (!is_plain(c)) put("\\");
    put({&c, 1});
  }
  put("\"");
  return *this;
}

json_writer& json_writer::value(double number) {
  if (number == 0 && !std::signbit(number)) return whole(0);
  separate();
  const std::string_view text = text_of(number);
  put_padded(text.data(), text.size());
  return *this;
}

json_writer& json_writer::whole(std::uint64_t number) {
  if (number > 9) return raw(text_of(number));
  separate();
  put(static_cast<char>('0' + number));
  return *this;
}

// Valid until the next call; put_padded() may have it. A number is in one of two places, so that two numbers of each
// launch seldom drive each other out.
std::string_view json_writer::text_of(double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  if (numbers_.empty()) numbers_.resize(hashed_numbers::size);
  const std::size_t place = hashed_numbers::place(bits);
  number_text* known = &numbers_[place];
  if (__builtin_expect(known->bits == bits, 1)) return {known->text.data(), known->size};
  number_text& other = numbers_[place ^ 1];
  if (other.bits == bits) return {other.text.data(), other.size};
  if (!std::isfinite(number)) return no_number.data();
  if (known->bits != number_text{}.bits && other.bits == number_text{}.bits) known = &other;
  known->bits = bits;
  known->size =
      static_cast<std::size_t>(fmt::format_to(known->text.data(), FMT_COMPILE("{}"), number) - known->text.data());
  return {known->text.data(), known->size};
}

// Valid until the next call.
std::string_view json_writer::text_of(std::uint64_t number) {
  const char* const end = fmt::format_to(whole_text_.data(), FMT_COMPILE("{}"), number);
  return {whole_text_.data(), static_cast<std::size_t>(end - whole_text_.data())};
}

template <class T>
json_writer& json_writer::runs(const std::vector<T>& numbers) {
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && same(numbers[end], numbers[i])) ++end;
    tokens(text_of(numbers[i]), end - i);
    i = end;
  }
  return *this;
}

json_writer& json_writer::values(const std::vector<double>& numbers) { return runs(numbers); }
json_writer& json_writer::values(const std::vector<std::uint64_t>& numbers) { return runs(numbers); }

json_writer& json_writer::values(double number, std::size_t times) {
  return times == 0 ? *this : tokens(text_of(number), times);
}

// Elements of an array. What has been written is copied, twice as much each time.
json_writer& json_writer::tokens(std::string_view token, std::size_t times) {
  if (times == 0) return *this;
  raw(token);
  const std::size_t size = 2 + token.size(), most = parts_bytes / size;
  for (std::size_t left = times - 1; left != 0;) {
    const std::size_t now = std::min(left, most);
    if (now * size > parts_bytes - parts_size_) put_parts();
    char* const to = parts_.data() + parts_size_;
    to[0] = ',';
    to[1] = ' ';
    std::memcpy(to + 2, token.data(), token.size());
    for (std::size_t made = size, all = now * size; made < all; made *= 2)
      std::memcpy(to + made, to, std::min(made, all - made));
    parts_size_ += now * size;
    left -= now;
  }
  return *this;
}

json_writer& json_writer::value(bool truth) { return raw(truth ? "true" : "false"); }

json_writer& json_writer::open(char bracket) {
  separate();
  put(bracket);
  nesting_ += bracket;
  margin_size_ += 2;
  if (margin_size_ > margin_.size()) margin_.append(2, ' ');
  first_ = true;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  bool in_line = nesting_.back() == '[';
  nesting_.pop_back();
  margin_size_ -= 2;
  if (!first_ && !in_line) put(std::string_view(margin_).substr(1, margin_size_ - 1));
  put(bracket);
  first_ = false;
  return *this;
}

json_writer& json_writer::raw(std::string_view token) {
  separate();
  put(token);
  return *this;
}

std::string json_writer::text() {
  put("\n");
  put_parts();
  return std::move(text_);
}

void json_writer::put_long(std::string_view text) {
  put_parts();
  text_ += text;
}

void json_writer::put_parts() {
  text_.append(parts_.data(), parts_size_);
  parts_size_ = 0;
}

// Writes what comes before a member or an element. Members of an object take one line each; elements of an array are on
// one line.
void json_writer::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (nesting_.empty()) return;
  if (nesting_.back() == '{') {
    put(std::string_view(margin_.data(), margin_size_).substr(first_ ? 1 : 0));
  } else if (!first_) {
    put(',');
    put(' ');
  }
  first_ = false;
}

}  // namespace heddle
