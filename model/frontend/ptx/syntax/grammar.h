// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/frontend/ptx/syntax/constant.h"
#include "heddle/frontend/ptx/syntax/token_stream.h"

// The grammar of PTX, one function per rule (PTX ISA, chapters "Syntax", "State Spaces, Types, and Variables",
// "Instruction Operands", "Directives"). Each function consumes the tokens of its rule and throws input_error if they
// do not match. Used only by parse().
namespace heddle::ptx {

// parse_constants.cpp

/// Precedences of binary operators; `multiplicative` parses only operators that bind tighter than + and -, for
/// symbol+a*b-c.
enum class precedence : int { lowest = 1, multiplicative = 10 };
constant parse_constant(token_stream& tokens, precedence lowest = precedence::lowest);
/// The sum of the offsets +c and -c after a symbol or register, in bytes.
std::int64_t parse_offset(token_stream& tokens);
bool starts_constant(const token& t);

// parse_operands.cpp

/// Operands up to (not including) the ';'. The instruction's opcode distinguishes calls, whose parentheses are lists,
/// and moves, which accept addresses.
void parse_operands(token_stream& tokens, ast_instruction& instruction);

// parse_variables.cpp

/// The size limit of a variable, bytes: a larger declaration is an error, and sizes could overflow.
constexpr std::uint64_t largest_variable = std::uint64_t{1} << 40;
/// The state space named by a directive; none if it names none.
state_space space_of(std::string_view directive);
/// Consumes a linkage prefix (.extern, .visible, .weak, .common) if there is one.
bool accept_linkage(token_stream& tokens, linkage& link);
/// A declaration from its state space to its ';', which may declare several names.
void parse_variables(token_stream& tokens, linkage link, std::vector<ast_variable>& out);
/// (parameter, …), each with its state space; in prototypes their names are '_'.
std::vector<ast_variable> parse_parameters(token_stream& tokens);
/// Skips .attribute( … ). True: it says .managed; the others do not affect the model.
bool skip_attribute(token_stream& tokens);

// parse_initialiser.cpp

/// Parses the initialiser after the '=' of a declaration. Sizes an array whose first dimension is open.
void parse_initialiser(token_stream& tokens, ast_variable& variable);

// parse_statements.cpp

/// Parses a block '{' … '}' and its content.
void parse_block(token_stream& tokens, ast_block& block);
/// Parses directives that may occur anywhere and do not affect the model: .loc, .file and .section, for the source map,
/// and .pragma. False: there is none. `no_unrolling` becomes true for .pragma "nounroll", the one that counts.
bool accept_debug_directive(token_stream& tokens, bool& no_unrolling);

// hoist_variables.cpp

/// Moves .global and .const variables declared in functions to module scope, under names that no program can contain.
void hoist_variables(ast_module& m);

// parse_functions.cpp

/// Parses from .entry or .func to the end of the body, or to the ';' of a declaration.
ast_function parse_function(token_stream& tokens);
/// Parses the part after .callprototype, without its ';'.
ast_function parse_prototype(token_stream& tokens);

}  // namespace heddle::ptx
