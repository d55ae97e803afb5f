// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>

#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

constexpr std::uint32_t largest_range = 1u << 24;
constexpr std::uint32_t largest_alignment = 1u << 16;

struct type_entry {
  std::string_view word;
  isa::dtype type;
};

/// Types of variables. Opaque references have no arithmetic type.
constexpr std::array<type_entry, 23> types = {{
    {"b32", isa::dtype::b32},         {"b64", isa::dtype::b64},       {"b8", isa::dtype::b8},
    {"b16", isa::dtype::b16},         {"f32", isa::dtype::f32},       {"f64", isa::dtype::f64},
    {"pred", isa::dtype::pred},       {"u8", isa::dtype::u8},         {"u16", isa::dtype::u16},
    {"u32", isa::dtype::u32},         {"u64", isa::dtype::u64},       {"s8", isa::dtype::s8},
    {"s16", isa::dtype::s16},         {"s32", isa::dtype::s32},       {"s64", isa::dtype::s64},
    {"b128", isa::dtype::b128},       {"f16", isa::dtype::f16},       {"f16x2", isa::dtype::f16x2},
    {"bf16", isa::dtype::bf16},       {"bf16x2", isa::dtype::bf16x2}, {"texref", isa::dtype::none},
    {"samplerref", isa::dtype::none}, {"surfref", isa::dtype::none},
}};

const type_entry* find_type(std::string_view word) {
  for (const type_entry& entry : types) {
    if (entry.word == word) return &entry;
  }
  return nullptr;
}

/// A power of two in 1 … largest_alignment.
std::uint32_t parse_alignment(token_stream& tokens) {
  const location where = tokens.current().where;
  const std::uint32_t align = tokens.expect_count("an alignment in bytes", largest_alignment);
  if (align == 0 || (align & (align - 1)) != 0)
    tokens.fail(where, "alignment " + std::to_string(align) + ", expected a power of two");
  return align;
}

void parse_space(token_stream& tokens, ast_variable& v) {
  const std::string_view directive = tokens.current().text;
  v.space = space_of(directive);
  if (!tokens.is_directive() || v.space == state_space::none) tokens.unexpected("a state space (.reg, .param, ...)");
  if (directive == ".tex") {  // old spelling of .global .texref
    v.type_name = "texref";
    tokens.advance();
    return;
  }
  tokens.advance();
  if (v.space == state_space::constant && tokens.accept('[')) {  // bank in PTX 1.x; later versions have one bank
    tokens.expect_count("a constant bank");
    tokens.expect(']');
  }
}

/// Skips .ptr {.space} {.align N}, which describe the pointer's target; the alignment is not that of the parameter.
void skip_pointee(token_stream& tokens) {
  if (tokens.is_directive() && space_of(tokens.current().text) != state_space::none) tokens.advance();
  if (tokens.accept_directive(".align")) parse_alignment(tokens);
}

/// Parses alignment, attribute, vector and type in the orders that compilers emit. Stops before the name.
void parse_type(token_stream& tokens, ast_variable& v) {
  const bool old_texture = !v.type_name.empty();
  bool typed = false;
  for (; tokens.is_directive();) {
    const std::string_view word = tokens.current().word();
    if (word == "align") {
      tokens.advance();
      v.align = parse_alignment(tokens);
    } else if (word == "attribute") {
      v.managed |= skip_attribute(tokens);
    } else if (word == "ptr" && typed) {
      tokens.advance();
      v.pointer = true;
      skip_pointee(tokens);
    } else if (word == "v2" || word == "v4") {
      v.vector = static_cast<unsigned>(word[1] - '0');
      tokens.advance();
    } else if (const type_entry* entry = find_type(word); entry != nullptr && !typed) {
      typed = true;
      if (!old_texture) {
        v.type = entry->type;
        v.type_name = std::string(word);
      }
      tokens.advance();
    } else {
      tokens.unexpected(typed ? "a name" : "a type (.b32, .f64, .pred, ...)");
    }
  }
  if (!typed) tokens.unexpected("a type (.b32, .f64, .pred, ...)");
}

/// [n][m]…; only the first dimension may be open.
void parse_dimensions(token_stream& tokens, ast_variable& v) {
  std::uint64_t bytes = std::max<std::uint64_t>(1, v.element_bytes());
  while (tokens.is('[')) {
    const location where = tokens.current().where;
    tokens.advance();
    v.is_array = true;
    if (tokens.is(']') && v.dims.empty()) {
      tokens.advance();
      v.dims.push_back(-1);
      continue;
    }
    if (!starts_constant(tokens.current())) tokens.unexpected("the size of the dimension");
    const constant size = parse_constant(tokens);
    if (!size.is_integer() || (!size.is_unsigned && static_cast<std::int64_t>(size.bits) < 0)) {
      tokens.fail(where, "array dimension is no size, expected a non-negative integer");
    }
    if (size.bits > largest_variable || size.bits > largest_variable / bytes) {
      tokens.fail(where, "array '" + v.name + "' is too large, expected at most 1 TiB");
    }
    bytes *= std::max<std::uint64_t>(1, size.bits);
    v.dims.push_back(static_cast<std::int64_t>(size.bits));
    tokens.expect(']', "an operator or ']'");
  }
}

/// name, name<range>, name[dimensions]. False: name<0>, which declares nothing.
bool parse_declarator(token_stream& tokens, ast_variable& v) {
  v.where = tokens.current().where;
  v.name = tokens.expect_identifier("a name");
  if (tokens.accept('<')) {
    v.range = tokens.expect_count("the number of names", largest_range);
    tokens.expect('>');
    if (v.range == 0) return false;
  }
  parse_dimensions(tokens, v);
  return true;
}

/// Checks the rules for variables of a state space.
void check_variable(token_stream& tokens, const ast_variable& v) {
  const bool in_register = v.space == state_space::reg;
  const auto fail = [&](const char* what) { tokens.fail(v.where, "'" + v.name + "' " + what); };
  if (v.type == isa::dtype::pred && (!in_register || v.vector > 1))
    fail("is a predicate, expected it alone and in .reg");
  if (std::uint64_t{isa::size_of(v.type)} * v.vector > 16)
    fail("is a vector of more than 128 bits, expected at most .v2 of 64 or .v4 of 32");
  if (in_register && v.is_array) fail("is an array of registers, expected a range such as %r<4>");
  const bool holds_values = v.space == state_space::global || v.space == state_space::constant;
  if (v.has_initialiser && !holds_values) fail("has an initial value, expected one in .global or .const only");
  if (v.type == isa::dtype::none && v.space != state_space::global)
    fail("is a texture, surface or sampler reference, expected it in .global or as a kernel's parameter");
  if (v.is_array && !v.is_extern && v.type != isa::dtype::none && v.elements() == 0)
    fail("is an array without elements, expected a size, an initial value or .extern");
}

}  // namespace

state_space space_of(std::string_view directive) {
  if (directive == ".reg") return state_space::reg;
  if (directive == ".param") return state_space::param;
  if (directive == ".shared") return state_space::shared;
  if (directive == ".global" || directive == ".tex") return state_space::global;
  if (directive == ".local") return state_space::local;
  if (directive == ".const") return state_space::constant;
  if (directive == ".sreg") return state_space::sreg;
  return state_space::none;
}

bool accept_linkage(token_stream& tokens, linkage& link) {
  if (tokens.accept_directive(".extern")) link = linkage::external;
  else if (tokens.accept_directive(".visible")) link = linkage::visible;
  else if (tokens.accept_directive(".weak")) link = linkage::weak;
  else if (tokens.accept_directive(".common")) link = linkage::common;
  else return false;
  return true;
}

bool skip_attribute(token_stream& tokens) {
  bool managed = false;
  tokens.advance();
  tokens.expect('(');
  for (unsigned depth = 1; depth != 0; tokens.advance()) {
    if (tokens.at_end()) tokens.unexpected("')'");
    managed |= tokens.current().is_directive(".managed");
    if (tokens.is('(')) ++depth;
    if (tokens.is(')')) --depth;
  }
  return managed;
}

void parse_variables(token_stream& tokens, linkage link, std::vector<ast_variable>& out) {
  ast_variable common;
  common.link = link;
  common.is_extern = link == linkage::external;
  parse_space(tokens, common);
  parse_type(tokens, common);
  bool initialised = false;
  do {
    ast_variable v = common;
    if (!parse_declarator(tokens, v)) continue;
    initialised = tokens.accept('=');
    if (initialised) {
      v.has_initialiser = true;
      parse_initialiser(tokens, v);
    }
    check_variable(tokens, v);
    tokens.declare(v);
    out.push_back(std::move(v));
  } while (tokens.accept(','));
  if (!tokens.accept(';')) tokens.unexpected(initialised ? "',' or ';'" : "',', '=' or ';'");
}

std::vector<ast_variable> parse_parameters(token_stream& tokens) {
  std::vector<ast_variable> out;
  tokens.expect('(');
  if (tokens.accept(')')) return out;
  do {
    ast_variable v;
    parse_space(tokens, v);
    parse_type(tokens, v);
    const location where = tokens.current().where;
    if (!parse_declarator(tokens, v)) tokens.fail(where, "parameter of 0 names, expected a single name");
    tokens.declare(v);
    out.push_back(std::move(v));
  } while (tokens.accept(','));
  tokens.expect(')', "',' or ')'");
  return out;
}

}  // namespace heddle::ptx
