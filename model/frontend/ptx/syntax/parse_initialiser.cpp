// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <utility>

#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

/// The limit of implicit zeros between the elements of a sparse initialiser: without it, a few bytes of source could
/// fill the memory.
constexpr std::uint64_t largest_padding = std::uint64_t{1} << 20;

/// Parses the initialiser of a variable into its flat, row-major form.
class initialiser_reader {
 public:
  initialiser_reader(token_stream& tokens, ast_variable& variable) : tokens_(tokens), variable_(variable) {
    for (std::size_t i = 1; i < variable.dims.size(); ++i)
      shape_.push_back(static_cast<std::uint64_t>(variable.dims[i]));
    if (variable.vector > 1) shape_.push_back(variable.vector);
    open_ended_ = !variable.dims.empty() && variable.dims[0] < 0;
    capacity_ = variable.elements() * variable.vector;
  }

  void read() {
    if (!tokens_.is('{')) {
      if (variable_.is_array) tokens_.unexpected("'{'");
      read_element();
      return;
    }
    if (!variable_.is_array && variable_.vector == 1) tokens_.unexpected("a single value");
    read_group(variable_.is_array ? 0 : shape_.size());
    if (open_ended_) close_first_dimension();
  }

 private:
  /// The number of elements in a brace group `level` levels inside the outermost one.
  [[nodiscard]] std::uint64_t group_size(std::size_t level) const {
    std::uint64_t size = 1;
    for (std::size_t i = level; i < shape_.size(); ++i) size *= shape_[i];
    return size;
  }

  [[nodiscard]] std::uint64_t position() const { return variable_.initialiser.size() + padding_; }

  /// { … }: each nested group begins at a multiple of its size; omitted elements are zero.
  void read_group(std::size_t level) {
    const token_stream::nesting nesting(tokens_);
    tokens_.advance();
    if (tokens_.accept('}')) return;
    do {
      if (!tokens_.is('{')) {
        read_element();
        continue;
      }
      if (level == shape_.size()) tokens_.unexpected("a value");
      check_room(tokens_.current().where);
      const std::uint64_t size = group_size(level);
      const std::uint64_t start = position();
      if (size == 0) tokens_.unexpected("no values, as the rows are empty");
      if (start % size != 0) tokens_.unexpected("a value, as the row before is not complete");
      read_group(level + 1);
      if (position() > start + size) tokens_.fail(tokens_.previous().where, excess(size, "row"));
      pad_to(start + size);
    } while (tokens_.accept(','));
    tokens_.expect('}', "',' or '}'");
  }

  std::string excess(std::uint64_t size, const char* of_what) const {
    return std::string("too many initial values, expected at most ") + std::to_string(size) + " in this " + of_what;
  }

  void check_room(location where) const {
    if (!open_ended_ && position() >= capacity_) tokens_.fail(where, excess(capacity_, "variable"));
  }

  void pad_to(std::uint64_t end) {
    if (end > largest_variable) tokens_.unexpected("a smaller array, of at most 1 TiB");
    padding_ = end - variable_.initialiser.size();
  }

  void append(ast_variable::initial value, location where) {
    check_room(where);
    padded_ += padding_;
    if (padding_ > largest_padding || padded_ > largest_padding) {
      tokens_.fail(where,
                   "initialiser leaves out too many values, expected at most " + std::to_string(largest_padding));
    }
    variable_.initialiser.resize(variable_.initialiser.size() + padding_);
    padding_ = 0;
    variable_.initialiser.push_back(std::move(value));
  }

  void close_first_dimension() {
    const std::uint64_t row = group_size(0);
    const std::uint64_t rows = row == 0 ? 0 : (position() + row - 1) / row;
    if (rows * row > largest_variable / std::max<std::uint64_t>(1, variable_.element_bytes())) {
      tokens_.fail(variable_.where, "array '" + variable_.name + "' is too large, expected at most 1 TiB");
    }
    variable_.dims[0] = static_cast<std::int64_t>(rows);
  }

  void read_element() {
    const token first = tokens_.current();
    if (first.what == token::kind::integer && tokens_.peek().is(symbol('('))) {
      ast_variable::initial value;
      value.mask = first.bits;
      if (value.mask == 0) tokens_.fail(first.where, "mask of 0, expected the bits to take of the address");
      tokens_.advance();
      tokens_.advance();
      read_symbol(value);
      check_holds_address(true, first.where);
      tokens_.expect(')', "an offset or ')'");
      append(std::move(value), first.where);
    } else if (first.what == token::kind::identifier && first.text != "WARP_SZ") {
      ast_variable::initial value;
      read_symbol(value);
      check_holds_address(false, first.where);
      append(std::move(value), first.where);
    } else if (starts_constant(first)) {
      ast_variable::initial value;
      value.bits = converted(parse_constant(tokens_), first.where);
      append(std::move(value), first.where);
    } else {
      tokens_.unexpected("an initial value");
    }
  }

  /// The types in which ptxas has addresses; bytes of one, by a mask, also in .u8.
  void check_holds_address(bool masked, location where) const {
    using isa::dtype;
    if (variable_.type == dtype::u32 || variable_.type == dtype::u64 || (masked && variable_.type == dtype::u8)) return;
    tokens_.fail(where, "address in " + described_type() + ", expected .u32 or .u64, or a byte of it by a mask in .u8");
  }

  /// symbol+4 or generic(symbol)+4.
  void read_symbol(ast_variable::initial& value) {
    if (isa::is_float(variable_.type)) tokens_.unexpected("a floating-point value");
    if (tokens_.is_identifier() && tokens_.current().text == "generic" && tokens_.peek().is(symbol('('))) {
      value.generic = true;
      tokens_.advance();
      tokens_.advance();
      value.symbol = tokens_.expect_identifier("the name of a variable");
      value.bits = static_cast<std::uint64_t>(parse_offset(tokens_));
      tokens_.expect(')', "an offset or ')'");
    } else {
      value.symbol = tokens_.expect_identifier("the name of a variable or function");
    }
    value.bits += static_cast<std::uint64_t>(parse_offset(tokens_));
  }

  /// Converts a value to the bits of the variable's element type.
  [[nodiscard]] std::uint64_t converted(const constant& value, location where) const {
    const isa::dtype type = variable_.type;
    if (type == isa::dtype::f32 || type == isa::dtype::f64) {
      if (value.is_integer())
        tokens_.fail(where, "integer value for " + described_type() + ", expected a floating-point value");
      return type == isa::dtype::f64 ? constant::of_double(value.as_double()).bits : f32_bits(value);
    }
    if (!value.is_integer()) {
      const bool raw = (type == isa::dtype::b32 && value.what == constant::kind::f32) ||
                       (type == isa::dtype::b64 && value.what == constant::kind::f64);
      if (!raw) tokens_.fail(where, "floating-point value for " + described_type() + ", expected an integer");
      return value.bits;
    }
    const unsigned bytes = isa::size_of(type);
    return bytes == 0 || bytes >= 8 ? value.bits : value.bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
  }

  static std::uint64_t f32_bits(const constant& value) {
    if (value.what == constant::kind::f32) return value.bits;  // keeps the payload of a NaN
    const auto rounded = static_cast<float>(value.as_double());
    std::uint32_t bits = 0;
    std::memcpy(&bits, &rounded, sizeof bits);
    return bits;
  }

  [[nodiscard]] std::string described_type() const { return "a variable of type ." + variable_.type_name; }

  token_stream& tokens_;
  ast_variable& variable_;
  std::vector<std::uint64_t> shape_;  // dimensions after the first, and the vector's components
  bool open_ended_ = false;
  std::uint64_t capacity_ = 0;  // number of values in the variable
  std::uint64_t padding_ = 0;   // pending zeros before the next value
  std::uint64_t padded_ = 0;    // zeros written so far
};

/// Skips { property = value, … } of an opaque reference: its sampling modes are set by the launch.
void skip_properties(token_stream& tokens) {
  tokens.expect('{');
  if (tokens.accept('}')) return;
  do {
    tokens.expect_identifier("the name of a property or '}'");
    tokens.expect('=');
    if (tokens.current().what != token::kind::integer && !tokens.is_identifier())
      tokens.unexpected("the property's value");
    tokens.advance();
  } while (tokens.accept(','));
  tokens.expect('}', "',' or '}'");
}

}  // namespace

void parse_initialiser(token_stream& tokens, ast_variable& variable) {
  const bool opaque = variable.type == isa::dtype::none;
  if (opaque && !variable.is_array) {
    skip_properties(tokens);
  } else {
    initialiser_reader(tokens, variable).read();
  }
}

}  // namespace heddle::ptx
