// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

bool type_of_word(const std::string& w, dtype& t) {
  t = type_named(w);
  return t != dtype::none;
}
bool round_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  static const std::unordered_map<std::string, isa::rounding> table = {{"rn", isa::rounding::rn},
                                                                       {"rz", isa::rounding::rz},
                                                                       {"rm", isa::rounding::rm},
                                                                       {"rp", isa::rounding::rp},
                                                                       {"rna", isa::rounding::rna}};
  const bool integer = (groups & word_group::integer_round) && w.size() == 3 && w[2] == 'i';
  auto it = table.find(integer ? w.substr(0, 2) : w);
  if (it == table.end() || !(groups & word_group::round) || m.rounded) return false;
  m.round = it->second;
  m.rounded = true;
  m.to_integer = integer;
  return true;
}

bool combining_word(const std::string& w, modifiers& m) {
  if (w != "and" && w != "or" && w != "xor") return false;
  m.bop = w == "and" ? isa::bool_op::and_ : w == "or" ? isa::bool_op::or_ : isa::bool_op::xor_;
  return m.combines = true;
}

bool compare_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  using isa::compare;
  struct row {
    const char* word;
    compare cmp;
    bool is_unsigned;
  };
  static constexpr row table[] = {
      {"eq", compare::eq, false},   {"ne", compare::ne, false},   {"lt", compare::lt, false},
      {"le", compare::le, false},   {"gt", compare::gt, false},   {"ge", compare::ge, false},
      {"lo", compare::lt, true},    {"ls", compare::le, true},    {"hi", compare::gt, true},
      {"hs", compare::ge, true},    {"equ", compare::equ, false}, {"neu", compare::neu, false},
      {"ltu", compare::ltu, false}, {"leu", compare::leu, false}, {"gtu", compare::gtu, false},
      {"geu", compare::geu, false}, {"num", compare::num, false}, {"nan", compare::nan, false}};
  if (!(groups & word_group::compare)) return false;
  for (const row& r : table) {
    if (w != r.word) continue;
    m.cmp = r.cmp;
    m.unsigned_compare = r.is_unsigned;
    return true;
  }
  return (groups & word_group::boolean) && combining_word(w, m);
}

bool space_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  if ((groups & word_group::to) && w == "to") return m.to = true;
  if (!(groups & word_group::space)) return false;
  const std::string base = w.substr(0, w.find("::"));
  const std::string rest = w.size() > base.size() ? w.substr(base.size() + 2) : "";
  if (base == "global" && rest.empty()) m.space = state_space::global;
  else if (base == "shared" && (rest.empty() || rest == "cta")) m.space = state_space::shared;
  else if (base == "shared" && rest == "cluster") m.space = state_space::shared, m.any_block = true;
  else if (base == "local" && rest.empty()) m.space = state_space::local;
  else if (base == "const" && rest.empty()) m.space = state_space::constant;
  else if (base == "param" && (rest.empty() || rest == "entry" || rest == "func")) m.space = state_space::param;
  else return false;
  return true;
}

bool eviction_word(const std::string& w, modifiers& m) {
  using isa::eviction;
  static const std::unordered_map<std::string, eviction> table = {{"L2::evict_unchanged", eviction::unchanged},
                                                                  {"L2::evict_first", eviction::first},
                                                                  {"L2::evict_last", eviction::last},
                                                                  {"L2::evict_normal", eviction::normal}};
  const auto it = table.find(w);
  if (it == table.end()) return false;
  (m.evictions++ == 0 ? m.evict : m.evict_rest) = it->second;
  return true;
}

/// Hints for the L2. Sizes of prefetches have no effect.
bool hint_word(const std::string& w, modifiers& m) {
  if (w.rfind("L2::", 0) != 0) return false;
  if (w == "L2::cache_hint") m.hinted = true;
  eviction_word(w, m);
  return true;
}

bool cache_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  using isa::cache_op;
  static const std::unordered_map<std::string, cache_op> table = {
      {"ca", cache_op::ca}, {"cg", cache_op::cg}, {"cs", cache_op::cs},
      {"lu", cache_op::lu}, {"cv", cache_op::cv}, {"wb", cache_op::wb},
      {"wt", cache_op::wt}, {"nc", cache_op::nc}, {"volatile", cache_op::volatile_}};
  if (!(groups & word_group::cache)) return false;
  auto it = table.find(w);
  if (it != table.end()) {
    m.cache = it->second;
    return true;
  }
  // Hints for the L1 affect only its replacement, which the configuration sets.
  return w.rfind("L1::", 0) == 0 || hint_word(w, m) || w == "unified";
}

bool order_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  using order = modifiers::order_kind;
  if (!(groups & word_group::order)) return false;
  if (w == "weak" || w == "mmio") return true;  // mmio accompanies relaxed.sys, which is as strong
  if (w == "relaxed") m.order = order::relaxed;
  else if (w == "acquire") m.order = order::acquire;
  else if (w == "release") m.order = order::release;
  else if (w == "acq_rel") m.order = order::acq_rel;
  else if (w == "sc") m.order = order::sc;
  else if (w == "cta") m.scope = 0;
  else if (w == "cluster" || w == "gpu" || w == "gl") m.scope = 1;
  else if (w == "sys") m.scope = 2;
  else return false;
  return true;
}

bool atomic_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  static constexpr const char* names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
  if (!(groups & word_group::atomic)) return false;
  for (std::uint8_t k = 0; k < 10; ++k) {
    if (w != names[k]) continue;
    m.sub = k;
    return true;
  }
  return w == "noftz" || hint_word(w, m);
}

template <std::size_t n>
bool choose(const std::string& w, const std::array<const char*, n>& names, std::uint8_t& sub) {
  for (std::size_t k = 0; k < n; ++k) {
    if (w != names[k]) continue;
    sub = static_cast<std::uint8_t>(k);
    return true;
  }
  return false;
}

/// barrier.cluster: an arrival releases, a wait acquires, if no word says otherwise.
bool cluster_barrier_word(const std::string& w, modifiers& m) {
  using order = modifiers::order_kind;
  if (w == "arrive") m.order = order::release;
  else if (w == "wait") m.sub = cluster_wait, m.order = order::acquire;
  else if (w == "relaxed") m.order = order::relaxed;
  else return w == "release" || w == "acquire" || w == "aligned";
  return true;
}

/// Words of proxy fences, of mbarrier_init and of fences of one state space (sync_restrict), treated as plain fences:
/// all proxies share one memory.
bool fence_word(const std::string& w, modifiers& m) {
  if (w == "shared::cluster") return m.any_block = true;
  if (w == "proxy" || w == "mbarrier_init") return m.of_views = true;
  static constexpr const char* others[] = {"alias",
                                           "async",
                                           "global",
                                           "shared::cta",
                                           "tensormap::generic",
                                           "sync_restrict::shared::cta",
                                           "sync_restrict::shared::cluster"};
  return std::find(std::begin(others), std::end(others), w) != std::end(others);
}

/// Words of cp.async.bulk, in any order; bulk_translator checks which go together.
bool bulk_word(const std::string& w, modifiers& m) {
  static constexpr const char* others[] = {"shared::cluster", "bulk_group", "prefetch", "L2",
                                           "tensor",          "tile",       "noftz"};
  if (w == "commit_group") m.sub = bulk_commit;
  else if (w == "wait_group") m.sub = bulk_wait;
  else if (w == "mbarrier::complete_tx::bytes") m.sums = true;
  else if (w == "multicast::cluster") m.any_block = true;
  else if (w == "im2col" || w == "im2col_no_offs") m.im2col = true;
  else if (w.size() == 2 && w[1] == 'd' && w[0] >= '1' && w[0] <= '5')
    m.dimensions = static_cast<std::uint8_t>(w[0] - '0');
  else if (isa::dtype t; type_of_word(w, t)) m.type = t;
  else if (!atomic_word(w, word_group::atomic, m))
    return std::find(std::begin(others), std::end(others), w) != std::end(others);
  else m.reduces = m.sub, m.sub = copy_bulk;
  return true;
}

/// mbarrier: .expect_tx is a word of an arrival, or an operation of its own.
bool arrives(const modifiers& m) {
  const auto kind = static_cast<arrival_kind>(m.sub);
  return kind == arrival_kind::arrive || kind == arrival_kind::arrive_drop;
}

bool own_word(const std::string& w, ptx_op op, modifiers& m) {
  switch (op) {
    case ptx_op::shfl: return choose(w, std::array<const char*, 4>{"up", "down", "bfly", "idx"}, m.sub);
    case ptx_op::vote: return choose(w, std::array<const char*, 4>{"any", "all", "uni", "ballot"}, m.sub);
    case ptx_op::match: return choose(w, std::array<const char*, 2>{"any", "all"}, m.sub);
    case ptx_op::redux: return choose(w, std::array<const char*, 6>{"add", "min", "max", "and", "or", "xor"}, m.sub);
    case ptx_op::prmt:
      return choose(w, std::array<const char*, 7>{"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}, m.sub);
    case ptx_op::testp:
      return choose(w, std::array<const char*, 6>{"finite", "infinite", "number", "notanumber", "normal", "subnormal"},
                    m.sub);
    case ptx_op::shf:
    case ptx_op::bmsk:
    case ptx_op::szext:
      if (w == "l" || w == "r") m.left = w == "l";
      else if (w == "wrap" || w == "clamp") m.wrap = w == "wrap";
      else return false;
      return true;
    case ptx_op::bfind: return w == "shiftamt" && (m.shift_amount = true);
    case ptx_op::lop3: return combining_word(w, m);
    case ptx_op::min:
    case ptx_op::max: return w == "abs" || (w == "xorsign" && (m.xorsign = true));
    case ptx_op::pmevent: return w == "mask" && (m.masked = true);
    case ptx_op::fence:
    case ptx_op::membar: return fence_word(w, m);
    case ptx_op::bar:
    case ptx_op::barrier:
      if (w == "cluster") m.sub = cluster_arrive;
      else if (m.sub >= cluster_arrive) return cluster_barrier_word(w, m);
      else if (w == "arrive") m.sub = 1;
      else if (w == "red") m.sub = 2;
      else if (w == "popc") m.sub = 2;
      else if (w == "and") m.sub = 3;
      else if (w == "or") m.sub = 4;
      else if (w == "warp") m.uniform = true;
      else if (w == "aligned") m.aligned = true;
      else return w == "cta";
      return true;
    case ptx_op::cp:
      if (w == "async") m.sub = copy_itself;
      else if (w == "bulk") m.sub = copy_bulk;
      else if (w == "reduce" && m.sub == 0) return true;
      else if (m.sub == bulk_wait) return w == "read" && (m.sums = true);
      else if (m.sub == copy_bulk) return bulk_word(w, m);
      else if (w == "commit_group") m.sub = copy_commit;
      else if (w == "wait_group" || w == "wait_all") m.sub = copy_wait;
      else if (w == "mbarrier") m.sub = copy_arrival;
      else if (w == "noinc" && m.sub == copy_arrival) m.sums = true;
      else return (w == "arrive" || w == "b64") && m.sub == copy_arrival;
      return true;
    case ptx_op::mbarrier:
      if (w == "parity") return m.parity = true;
      if (w == "noComplete") return true;
      if (w == "expect_tx" && arrives(m)) return m.sums = true;
      return choose(w,
                    std::array<const char*, 9>{"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait",
                                               "pending_count", "expect_tx", "complete_tx"},
                    m.sub);
    case ptx_op::tensormap:
      if (choose(w,
                 std::array<const char*, 11>{"replace", "global_address", "rank", "box_dim", "global_dim",
                                             "global_stride", "element_stride", "elemtype", "interleave_layout",
                                             "swizzle_mode", "fill_mode"},
                 m.sub))
        return true;
      return w == "tile" || w == "b1024" || w == "cp_fenceproxy" || w == "tensormap::generic" || w == "aligned";
    case ptx_op::griddepcontrol: return choose(w, std::array<const char*, 2>{"wait", "launch_dependents"}, m.sub);
    case ptx_op::createpolicy:
      return eviction_word(w, m) || w == "fractional" || w == "range" || w == "global" || w == "cvt" || w == "L2";
    case ptx_op::vabsdiff2:
    case ptx_op::vabsdiff4: return w == "add" && (m.sums = true);
    case ptx_op::applypriority:
    case ptx_op::discard:
    case ptx_op::prefetch:
      if (w == "tensormap") return true;
      [[fallthrough]];
    case ptx_op::prefetchu: return w.rfind("L1", 0) == 0 || w.rfind("L2", 0) == 0;
    default: return false;
  }
}

bool flag_word(const std::string& w, std::uint32_t groups, modifiers& m) {
  using part = modifiers::part_kind;
  if (w == "ftz" && (groups & word_group::ftz)) return m.ftz = true;
  if (w == "sat" && (groups & word_group::sat)) return m.saturate = true;
  if (w == "relu" && (groups & word_group::relu)) return m.relu = true;
  if (w == "satfinite" && (groups & word_group::integer_round)) return m.finite = true;  // cvt
  if (w == "approx" && (groups & word_group::approx)) return m.approx = true;
  if (w == "full" && (groups & word_group::approx)) return m.full = true;
  if (w == "NaN" && (groups & word_group::nan)) return m.nan = true;
  if (w == "cc" && (groups & word_group::carry)) return m.carry_out = true;
  if (w == "sync" && (groups & word_group::sync)) return true;
  if (w == "uni" && (groups & word_group::uni)) return m.uniform = true;
  if (w == "idx" && (groups & word_group::uni)) return true;
  if (groups & word_group::part) {
    if (w == "lo") m.part = part::lo;
    else if (w == "hi") m.part = part::hi;
    else if (w == "wide") m.part = part::wide;
    else return false;
    return true;
  }
  if ((groups & word_group::vector) && (w == "v2" || w == "v4")) {
    m.vector = w == "v2" ? 2 : 4;
    return true;
  }
  return false;
}

bool word(const std::string& w, ptx_op op, const ptx_op_info& row, modifiers& m) {
  dtype t;
  bool typed = type_of_word(w, t);
  if (op == ptx_op::cvt && w == "tf32") typed = true, t = dtype::b32;  // stored in 32 bits
  if (typed && m.types < row.types) {
    if (m.types < 2) (m.types == 0 ? m.type : m.type2) = t;
    else m.type3 = t;
    ++m.types;
    return true;
  }
  if (w == "v8" && (op == ptx_op::atom || op == ptx_op::red || op == ptx_op::ld || op == ptx_op::st)) {
    m.vector = 8;
    return true;
  }
  if ((op == ptx_op::st || op == ptx_op::red) && (w == "async" || w == "mbarrier::complete_tx::bytes"))
    return m.signals = true;
  if (op == ptx_op::cp && w == "shared::cluster") return own_word(w, op, m);  // the destination, not the source
  return flag_word(w, row.words, m) || round_word(w, row.words, m) || compare_word(w, row.words, m) ||
         space_word(w, row.words, m) || cache_word(w, row.words, m) || order_word(w, row.words, m) ||
         atomic_word(w, row.words, m) || ((row.words & word_group::own) && own_word(w, op, m));
}

/// cvt.pack, and pairs of 16-bit integers.
bool packs_integers(const ast_instruction& i) {
  if (i.op == ptx_op::cvt) return i.has("pack");
  return i.has("u16x2") || i.has("s16x2");
}

/// The first type is that of the integers in the destination.
void packed_words(const ast_instruction& i, modifiers& m) {
  for (const std::string& w : i.modifiers) {
    if (w == "relu") m.relu = true;
    if (w == "pack" || w == "sat" || w == "relu" || m.packed_bits != 0) continue;
    m.packed_signed = w[0] == 's';
    m.packed_bits = static_cast<std::uint8_t>(std::stoul(w.substr(1)));  // the number before "x2"
  }
}

}  // namespace

parameters_of parameters_named(const ast_instruction& i) {
  for (const std::string& w : i.modifiers) {
    if (w == "param") return parameters_of::any;
    if (w == "param::entry") return parameters_of::kernel;
    if (w == "param::func") return parameters_of::function;
  }
  return parameters_of::none;
}

modifiers decode_modifiers(const ast_instruction& i, const std::string& file, std::vector<matched_form>& forms) {
  modifiers m;
  const ptx_op_info& row = info(i.op);
  if (row.family == op_family::matrix || row.family == op_family::texture || row.family == op_family::video) return m;
  if (packs_integers(i)) {
    forms = check_form(i, file);
    packed_words(i, m);
    return m;
  }
  for (const std::string& w : i.modifiers)
    if (!word(w, i.op, row, m))
      throw input_error(file, i.where.line, i.where.column,
                        "unsupported modifier '." + w + "' in instruction '" + i.mnemonic() + "'");
  if (row.types == 2 && m.types == 1 && i.op != ptx_op::slct) m.type2 = m.type;
  forms = check_form(i, file);
  return m;
}

}  // namespace heddle::ptx
