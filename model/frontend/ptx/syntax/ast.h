// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/ptx/syntax/ptx_op.h"
#include "heddle/isa/opcode.h"
#include "heddle/isa/source_map.h"

namespace heddle::ptx {

struct location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The linkage of a name: .visible, .weak, .common, .extern (defined elsewhere); internal: only within its module.
enum class linkage : std::uint8_t { internal, visible, weak, common, external };

enum class state_space : std::uint8_t { none, reg, sreg, constant, global, local, param, shared };

/// A suffix such as .x .y .z .w or .b3210 after an identifier, stored in place because modules have millions of
/// operands.
class ast_component {
 public:
  ast_component() = default;
  /// `text` has at most five characters.
  ast_component(std::string_view text) { text.copy(text_, sizeof text_); }
  ast_component(const char* text) : ast_component(std::string_view(text)) {}
  operator std::string() const { return std::string(text_, size()); }
  bool operator==(std::string_view text) const { return std::string_view(text_, size()) == text; }
  [[nodiscard]] bool empty() const { return text_[0] == '\0'; }
  void clear() { *this = {}; }

 private:
  [[nodiscard]] std::size_t size() const { return text_[4] != '\0' ? 5 : std::char_traits<char>::length(text_); }

  char text_[5] = {};
};

/// One operand as written. `text` is the identifier (with its %), the label or the literal's spelling.
struct ast_operand {
  enum class kind : std::uint8_t {
    identifier,  // register, variable, label, special register, function: resolved later by scope; variable + `offset`
                 // bytes
    integer,     // `bits` (two's complement, 64 bits); constant expressions are folded
    f32,         // `bits` = pattern in the low 32 bits (0f…)
    f64,         // `bits` = pattern (0d…, or a decimal literal)
    address,  // [base + offset]; base in text (may be empty: absolute), offset in `offset`; further elements in `list`
              // (tex, tensor)
    vector,   // {a, b, …}: elements in `list`
    list,     // (a, b, …): call arguments, return lists
    pair,     // a|b : destination with predicate; two elements in `list`
    sink      // _
  };
  kind what = kind::identifier;
  bool negate = false;  // unary minus on an identifier
  bool invert = false;  // !p
  ast_component component;
  std::string text;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<ast_operand> list;
  location where;
};

struct ast_instruction {
  std::string guard;  // predicate register name, empty = none
  bool guard_negate = false;
  ptx_op op = unknown_op;              // what `opcode` names
  std::string opcode;                  // first word: "add", "ld", "setp", "bra"
  std::vector<std::string> modifiers;  // the rest between dots, in order: {"global","nc","f32"}
  std::vector<ast_operand> operands;
  location where;

  /// Whole mnemonic with modifiers, for messages: "ld.global.nc.f32".
  [[nodiscard]] std::string mnemonic() const;
  [[nodiscard]] bool has(const char* modifier) const;
};

/// .reg, .shared, .global, .const, .local, .param declaration.
struct ast_variable {
  state_space space = state_space::none;
  isa::dtype type = isa::dtype::none;
  std::string type_name;  // as written: "f16x2", "texref", …
  unsigned vector = 1;    // .v2, .v4
  std::string name;
  std::uint32_t range = 0;         // %r<range>; 0 = a single name
  std::uint32_t align = 0;         // 0 = natural
  std::vector<std::int64_t> dims;  // array dimensions; first may be -1 (unsized)
  bool is_array = false;
  bool is_extern = false;
  linkage link = linkage::internal;
  bool pointer = false;     // .param .u64 .ptr …
  bool managed = false;     // .attribute(.managed): the host accesses it, too
  std::string module_name;  // .global or .const in a function: name of the module-scope variable that represents it
  location where;

  /// One initialiser element: `bits` in the variable's element type, or the (generic) address of `symbol` plus bits;
  /// mask is for the forms mask(symbol) (0xff… selects a byte), 0: all bits.
  struct initial {
    std::uint64_t bits = 0;
    std::string symbol;
    bool generic = false;
    std::uint64_t mask = 0;
  };
  std::vector<initial> initialiser;  // flat, row-major, possibly shorter than the array; a .v2/.v4 element takes 2/4
  bool has_initialiser = false;      // also set for .samplerref and the like, whose `initialiser` stays empty

  [[nodiscard]] std::uint64_t element_bytes()
      const;                                     // one array element, with its vector components; opaque references: 8
  [[nodiscard]] std::uint64_t elements() const;  // product of dims (1 if scalar; unsized: 0)
  [[nodiscard]] std::uint64_t size_bytes() const;  // elements() x element_bytes()
  [[nodiscard]] std::uint32_t alignment() const;   // .align, else natural; at least 1
};

struct ast_statement;
struct ast_function;

struct ast_block {
  std::vector<ast_variable> variables;    // declared directly in this scope
  std::vector<ast_statement> statements;  // in order
};

struct ast_statement {
  enum class kind : std::uint8_t {
    instruction,
    label,
    block,
    branch_targets,
    call_prototype,
    call_targets,
    no_unrolling  // .pragma "nounroll"
  };
  kind what = kind::instruction;
  ast_instruction instruction;
  std::string label;                        // label, branch_targets, call_targets, call_prototype (its name)
  std::vector<std::string> targets;         // .branchtargets, .calltargets
  std::shared_ptr<ast_function> prototype;  // .callprototype: returns and parameters
  std::shared_ptr<ast_block> block;
  location where;
};

struct ast_function {
  bool is_entry = false;
  bool is_extern = false;  // declaration without body
  linkage link = linkage::internal;
  std::uint32_t unit = 0;  // index of the linked module that it comes from
  std::string name;
  std::vector<ast_variable> returns;
  std::vector<ast_variable> parameters;
  std::uint32_t max_threads[3] = {0, 0, 0};
  std::uint32_t required_threads[3] = {0, 0, 0};
  std::uint32_t min_blocks = 0;
  std::uint32_t max_registers = 0;                // .maxnreg
  std::uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  bool no_return = false;                         // .noreturn
  bool abi_directive = false;                     // .abi_preserve, .abi_preserve_control
  std::uint32_t max_blocks = 0;                   // .maxnctapersm of PTX 1.x
  std::uint32_t max_cluster_rank = 0;             // .maxclusterrank
  bool explicit_cluster = false;                  // .explicitcluster
  bool blocks_are_clusters = false;               // .blocksareclusters
  bool no_unrolling = false;                      // .pragma "nounroll" before the body, or of the module
  bool has_body = false;
  ast_block body;
  location where;
};

/// .alias name, target;
struct ast_alias {
  std::string name;
  std::string target;
  location where;
};

/// One of several linked modules.
struct ast_unit {
  std::string file;
  std::uint32_t first_line = 1;                          // line number of its first line in the linked module
  std::unordered_map<std::string, std::string> renamed;  // internal names that also occur in another unit
};

struct ast_module {
  std::string file;  // name for messages
  std::string version;
  std::string target;                       // "sm_90a"
  std::vector<std::string> target_options;  // the rest of .target: texmode_independent, debug, …
  unsigned address_size = 64;               // 32 if the source does not specify it
  bool no_unrolling = false;                // .pragma "nounroll" of the module
  std::vector<ast_variable> variables;      // module scope
  std::vector<ast_function> functions;
  std::vector<ast_alias> aliases;
  std::vector<ast_unit> units;                    // empty: a single module
  std::shared_ptr<const isa::source_map> source;  // nullptr: the module has no .loc

  /// The linked name of a module-scope name that a function of unit `unit` uses.
  [[nodiscard]] const std::string& meaning(const std::string& name, std::uint32_t unit) const {
    if (units.empty()) return name;
    const auto it = units[unit].renamed.find(name);
    return it == units[unit].renamed.end() ? name : it->second;
  }
};

/// Parses a PTX module. Throws input_error (FILE:LINE:COL, the error, what was expected) on a syntax error.
/// Unknown instructions are not syntax errors: the lowering rejects them when a kernel that reaches them is launched.
/// Line numbers in the tree start at `first_line`, those in messages at 1.
[[nodiscard]] std::shared_ptr<ast_module> parse(const std::string& text, const std::string& file_name,
                                                std::uint32_t first_line = 1);

}  // namespace heddle::ptx
