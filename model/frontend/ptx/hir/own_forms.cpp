// SPDX-License-Identifier: MIT
// Rules for the words and operands of instructions that have their own decoders, as ptxas checks them.
#include "heddle/frontend/ptx/hir/own_forms.h"

#include <algorithm>
#include <string_view>
#include <vector>

#define EVICTIONS "L2::evict_first|L2::evict_last|L2::evict_normal|L2::evict_unchanged"

namespace heddle::ptx {

namespace {

/// `operations`: names, separated by '|'. `words`: words that the instruction must have, or must not have if preceded
/// by '!'. `operands` as in form_table.h. All rows that match an instruction are alternatives; a row whose `words` end
/// with ';' excludes the rows after it.
struct operand_row {
  const char* operations;
  const char* words;
  const char* operands;
};

constexpr operand_row operand_rows[] = {
    {"mbarrier", "init ;", "[] u32"},
    {"mbarrier", "inval ;", "[]"},
    {"mbarrier", "arrive|arrive_drop expect_tx ;", "=u64_ [] u32"},
    {"mbarrier", "arrive|arrive_drop noComplete ;", "=u64_ [] u32"},
    {"mbarrier", "arrive|arrive_drop ;", "=u64_ [] u32?"},
    {"mbarrier", "expect_tx|complete_tx ;", "[] u32"},
    {"mbarrier", "test_wait parity ;", "=pred [] u32"},
    {"mbarrier", "test_wait ;", "=pred [] u64"},
    {"mbarrier", "try_wait parity ;", "=pred [] u32 u32?"},
    {"mbarrier", "try_wait ;", "=pred [] u64 u32?"},
    {"mbarrier", "pending_count ;", "=u32 u64"},
    {"prefetch", "tensormap ;", "[]"},
    {"tensormap", "cp_fenceproxy ;", "[] [] #"},
    {"tensormap", "global_address ;", "[] u64"},
    {"tensormap", "rank ;", "[] u32"},
    {"tensormap", "global_stride ;", "[] # u64"},
    {"tensormap", "box_dim ;", "[] # u32"},
    {"tensormap", "global_dim ;", "[] # u32"},
    {"tensormap", "element_stride ;", "[] # u32"},
    {"tensormap", ";", "[] #"},
    {"fence", "tensormap::generic release ;", ""},
    {"fence", "tensormap::generic acquire ;", "[] #"},
    {"createpolicy", "fractional ;", "=b64 f32?"},
    {"createpolicy", "range ;", "=b64 [] u32 u32"},
    {"createpolicy", "cvt ;", "=b64 b64"},
    {"cp", "commit_group|wait_all ;", ""},
    {"cp", "wait_group ;", "#"},
    {"cp", "mbarrier ;", "[]"},
    {"cp", "bulk prefetch tensor im2col ;", "[] {u16} b64^"},
    {"cp", "bulk prefetch tensor ;", "[] b64^"},
    {"cp", "bulk bulk_group tensor ;", "[] [] b64^"},
    {"cp", "bulk tensor im2col multicast::cluster ;", "[] [] [] {u16} u16 b64^"},
    {"cp", "bulk tensor im2col ;", "[] [] [] {u16} b64^"},
    {"cp", "bulk tensor multicast::cluster ;", "[] [] [] u16 b64^"},
    {"cp", "bulk tensor ;", "[] [] [] b64^"},
    {"cp", "bulk prefetch !tensor ;", "[] u32 b64^"},
    {"cp", "bulk bulk_group !tensor ;", "[] [] u32 b64^"},
    {"cp", "bulk multicast::cluster !tensor ;", "[] [] u32 [] u16 b64^"},
    {"cp", "bulk !tensor ;", "[] [] u32 [] b64^"},
    {"cp", "!bulk", "[] [] # b64^"},
    {"cp", "!bulk", "[] [] # u32_ b64^"},
    {"cp", "!bulk", "[] [] # pred b64^"},
    {"movmatrix", ";", "=b32 b32!"},
    {"vadd|vsub|vabsdiff|vmin|vmax|vset|vshl|vshr", ";", "=u32 u32 u32 u32?"},
    {"vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2|vset2|vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4|vset4", ";",
     "=u32 u32! u32! u32!"},
    {"txq|suq", ";", "=b32 []"},
};

/// The instruction must have one of the words `required` and none of `forbidden`; both are lists separated by '|'.
struct word_row {
  const char* operations;
  const char* words;
  const char* required;
  const char* forbidden;
};

constexpr word_row word_rows[] = {
    {"prefetch", "tensormap", "", "global|local|shared"},
    {"createpolicy", "", "fractional|range|cvt", ""},
    {"createpolicy", "", "b64", ""},
    {"createpolicy", "fractional", EVICTIONS, "range|cvt|global|L2"},
    {"createpolicy", "range", EVICTIONS, "cvt|L2"},
    {"createpolicy", "cvt", "L2", "global|" EVICTIONS},
    {"tensormap", "", "replace|cp_fenceproxy", "local|const|param|shared|shared::cluster"},
    {"tensormap", "replace", "tile", "tensormap::generic|sync|aligned|cta|cluster|gpu|sys"},
    {"tensormap", "replace", "b1024", ""},
    {"tensormap", "replace", "b32|b64", ""},
    {"tensormap", "replace",
     "global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|interleave_layout|swizzle_mode|fill_mode",
     ""},
    {"tensormap", "global_address", "b64", ""},
    {"tensormap", "global_stride", "b64", ""},
    {"tensormap", "cp_fenceproxy", "global", ""},
    {"tensormap", "cp_fenceproxy", "shared::cta", ""},
    {"tensormap", "cp_fenceproxy", "tensormap::generic", ""},
    {"tensormap", "cp_fenceproxy", "release", "acquire|acq_rel|relaxed|sc|tile|b1024"},
    {"tensormap", "cp_fenceproxy", "cta|cluster|gpu|sys", ""},
    {"tensormap", "cp_fenceproxy", "sync", ""},
    {"tensormap", "cp_fenceproxy", "aligned", ""},
    {"fence", "tensormap::generic", "proxy", "sc|acq_rel|alias|async|global|shared::cta|shared::cluster"},
    {"fence", "tensormap::generic", "release|acquire", ""},
    {"fence", "tensormap::generic", "cta|cluster|gpu|sys", ""},
    {"mma|ldmatrix|stmatrix|movmatrix", "", "sync", ""},
    {"mma|ldmatrix|stmatrix|movmatrix", "", "aligned", ""},
    {"ldmatrix|stmatrix", "", "", "global|local|const|param"},
    {"mbarrier", "", "", "global|local|const|param"},
    {"mbarrier", "init|inval|test_wait|try_wait", "", "shared::cluster"},
    {"mbarrier", "arrive|arrive_drop", "", "acquire"},
    {"mbarrier", "test_wait|try_wait", "", "release"},
    {"mbarrier", "pending_count", "", "shared|shared::cta|shared::cluster"},
    {"mbarrier", "expect_tx|complete_tx cta|cluster !arrive !arrive_drop", "relaxed", ""},
    {"cp", "async !bulk !mbarrier !commit_group !wait_group !wait_all", "ca|cg", "cs|cv|lu|L2::32B"},
    {"cp", "async mbarrier", "", "global"},
    {"cp", "bulk global !prefetch !tensor !commit_group !wait_group !mbarrier::complete_tx::bytes", "bulk_group",
     "shared"},
    {"cp", "bulk prefetch !tensor", "global", ""},
    {"suld|sust", "", "b|p", ""},
    {"suld|sust", "", "trap|clamp|zero", ""},
    {"suld|sust", "b", "b8|b16|b32|b64", ""},
    {"tld4", "", "r|g|b|a", ""},
    {"txq|suq", "", "b32", ""},
    {"txq", "",
     "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2",
     ""},
};

template <class F>
bool any_part(std::string_view list, F&& is) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find('|', at), list.size());
    if (end > at && is(list.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

bool has_one(const ast_instruction& i, std::string_view list) {
  return any_part(list, [&](std::string_view word) {
    return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
  });
}

/// True if an instruction has the words of a row.
bool applies(const ast_instruction& i, std::string_view words) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, end - at);
    at = end + 1;
    if (word.empty() || word == ";") continue;
    if (word[0] == '!' ? has_one(i, word.substr(1)) : !has_one(i, word)) return false;
  }
  return true;
}

bool is_literal(const ast_instruction& i, std::size_t k) {
  return i.operands.size() > k && i.operands[k].what == ast_operand::kind::integer;
}

std::string listed(std::string_view words) {
  std::string text;
  any_part(words, [&](std::string_view w) {
    text += (text.empty() ? "'." : ", '.") + std::string(w) + "'";
    return false;
  });
  return text;
}

/// The rows of one instruction.
struct own_rows {
  struct operands {
    std::string_view words;
    operand_column column;
  };
  std::vector<operands> alternatives;
  std::vector<const word_row*> rules;
};

const own_rows& rows_of(ptx_op op) {
  static const std::vector<own_rows> all = [] {
    std::vector<own_rows> rows(static_cast<std::size_t>(ptx_op::count));
    const auto add = [&](std::string_view operations, const auto& to) {
      any_part(operations, [&](std::string_view name) {
        to(rows[static_cast<std::size_t>(find_op(name))]);
        return false;
      });
    };
    for (const operand_row& r : operand_rows)
      add(r.operations, [&](own_rows& o) { o.alternatives.push_back({r.words, parse_operand_column(r.operands)}); });
    for (const word_row& r : word_rows) add(r.operations, [&](own_rows& o) { o.rules.push_back(&r); });
    return rows;
  }();
  return all[static_cast<std::size_t>(op)];
}

std::string arrival_problem(const hir_instruction& h, const ast_instruction& i) {
  const auto kind = static_cast<arrival_kind>(h.m.sub);
  const bool arrives = kind == arrival_kind::arrive || kind == arrival_kind::arrive_drop;
  if (h.m.parity && is_literal(i, 2) && i.operands[2].bits > 1)
    return "'" + i.operands[2].text + "' in '" + i.mnemonic() + "', expected 0 or 1";
  if (arrives && !h.m.sums && is_literal(i, 2) && i.operands[2].bits == 0)
    return "'" + i.operands[2].text + "' in '" + i.mnemonic() + "', expected a count of at least 1";
  if (arrives && h.m.any_block && !i.operands.empty() && i.operands[0].what != ast_operand::kind::sink)
    return "'" + i.mnemonic() + "' returns no state, expected '_' for its destination";
  return "";
}

std::string copy_problem(const hir_instruction& h, const ast_instruction& i) {
  const auto literal = [&](std::size_t k) { return is_literal(i, k) ? i.operands[k].bits : 0; };
  if (h.m.sub == copy_bulk && literal(2) % 16 != 0)
    return "'" + i.operands[2].text + "' in '" + i.mnemonic() + "', expected a multiple of 16";
  if (i.has("bulk") || !has_one(i, "ca|cg")) return "";
  const auto at = [&](const char* word) {
    return std::find(i.modifiers.begin(), i.modifiers.end(), word) - i.modifiers.begin();
  };
  const auto shared = std::min({at("shared"), at("shared::cta"), at("shared::cluster")});
  if (!(shared < at("global")) || !i.has("global"))
    return "'" + i.mnemonic() + "' of other spaces, expected '.shared.global'";
  if (is_literal(i, 3) && literal(3) > literal(2))
    return "'" + i.operands[3].text + "' in '" + i.mnemonic() + "', expected 0 to " + i.operands[2].text;
  return "";
}

}  // namespace

std::vector<const operand_column*> own_operands(const ast_instruction& i) {
  std::vector<const operand_column*> found;
  for (const own_rows::operands& o : rows_of(i.op).alternatives) {
    if (!applies(i, o.words)) continue;
    found.push_back(&o.column);
    if (!o.words.empty() && o.words.back() == ';') break;
  }
  return found;
}

std::string own_words_problem(const hir_instruction& h, const ast_instruction& i) {
  for (const word_row* r : rows_of(i.op).rules) {
    if (!applies(i, r->words)) continue;
    if (*r->required != '\0' && !has_one(i, r->required))
      return "'" + i.mnemonic() + "' without a word that it needs, expected " + listed(r->required);
    std::string wrong;
    any_part(r->forbidden, [&](std::string_view w) { return has_one(i, w) && (wrong = w, true); });
    if (!wrong.empty()) return "unsupported modifier '." + wrong + "' in instruction '" + i.mnemonic() + "'";
  }
  return i.op == ptx_op::mbarrier ? arrival_problem(h, i) : i.op == ptx_op::cp ? copy_problem(h, i) : "";
}

}  // namespace heddle::ptx
