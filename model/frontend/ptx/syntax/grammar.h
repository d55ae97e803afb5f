// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/frontend/ptx/syntax/constant.h"
#include "heddle/frontend/ptx/syntax/token_stream.h"

// The grammar of PTX, a function per rule (PTX ISA, chapters "Syntax", "State Spaces, Types, and Variables",
// "Instruction Operands", "Directives"). Each takes its rule's tokens and throws input_error where they do not fit.
// Used only by parse().
namespace heddle::ptx {

// parse_constants.cpp

/// Precedences of binary operators; `additive` reads the operators above + and -, for symbol+a*b-c.
enum class precedence : int { lowest = 1, multiplicative = 10 };
constant parse_constant(token_stream& tokens, precedence lowest = precedence::lowest);
/// Sum of the +c and -c that follow a symbol or register, in bytes.
std::int64_t parse_offset(token_stream& tokens);
bool starts_constant(const token& t);

// parse_operands.cpp

/// Operands up to (not including) the ';'. `opcode` tells calls, whose parentheses are lists, and moves, which take
/// addresses.
void parse_operands(token_stream& tokens, ast_instruction& instruction);

// parse_variables.cpp

/// Bytes of the largest variable: beyond it a declaration is a slip of the pen, and sizes could overflow.
constexpr std::uint64_t largest_variable = std::uint64_t{1} << 40;
/// The state space that a directive names; none if it names none.
state_space space_of(std::string_view directive);
/// A linkage prefix (.extern, .visible, .weak, .common); taken if there is one.
bool accept_linkage(token_stream& tokens, linkage& link);
/// A declaration from its state space to its ';', which may declare several names.
void parse_variables(token_stream& tokens, linkage link, std::vector<ast_variable>& out);
/// (parameter, …), each with its state space; in prototypes their names are '_'.
std::vector<ast_variable> parse_parameters(token_stream& tokens);
/// .attribute( … ): says nothing that the model needs.
void skip_attribute(token_stream& tokens);

// parse_initialiser.cpp

/// What follows the '=' of a declaration. Sizes an array whose first dimension is open.
void parse_initialiser(token_stream& tokens, ast_variable& variable);

// parse_statements.cpp

/// A '{' … '}' with what is in it.
void parse_block(token_stream& tokens, ast_block& block);
/// Directives that may stand anywhere and say nothing to the model: .loc, .file, .pragma, .section. False: none of
/// them.
bool skip_debug_directive(token_stream& tokens);

// hoist_variables.cpp

/// Moves .global and .const variables that functions declare to module scope, under names that no program can write.
void hoist_variables(ast_module& m);

// parse_functions.cpp

/// From .entry or .func to the end of the body, or the ';' of a declaration.
ast_function parse_function(token_stream& tokens);
/// What follows .callprototype, without its ';'.
ast_function parse_prototype(token_stream& tokens);

}  // namespace heddle::ptx
