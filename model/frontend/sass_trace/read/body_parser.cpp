// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/read/body_parser.h"

#include <cstring>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/read/hopper_fields.h"

namespace heddle::sass_trace {

namespace {
constexpr unsigned most_results = 16;
constexpr unsigned most_operands = 16;
constexpr std::uint64_t most_bytes = 128;  // largest access per lane
constexpr const char* bytes_expected = "bytes that a lane moves, 0 or a power of two up to 128";
constexpr const char* at_line_end = "the end of the line";
}  // namespace

bool body_parser::as_expected(block_trace& block) {
  const std::size_t n = known_[last_].next;
  known_line& known = known_[n];
  const std::string_view text = lines_.unread();
  const std::size_t start = known.start.size();
  if (start == 0 || text.size() <= start || std::memcmp(text.data(), known.start.data(), start) != 0) return false;
  trace_record record;
  record.instruction = static_cast<std::uint32_t>(n - 1);
  record.mask = known.mask;
  std::size_t end = start;
  if (known.form != 0) {
    std::uint64_t first = 0;
    end = field_scanner::hex_word(text, start, first);
    const std::size_t rest = known.text.size();
    if (end == start || text.size() - end <= rest || text[end + rest] != '\n' ||
        std::memcmp(text.data() + end, known.text.data(), rest) != 0)
      return false;
    end += rest + 1;
    record.addresses = again(first, known, block);
  }
  lines_.skip_line(end);
  block.records.push_back(record);
  last_ = n;
  return true;
}

void body_parser::instruction(std::string_view line, block_trace& block) {
  field_scanner s(line, lines_);
  if (format_.block_ids)
    for (unsigned k = 0; k < 4; ++k) s.decimal(0xffffffffu, "block coordinates and a warp's number");
  if (format_.line_number) s.decimal(0xffffffffu, "a source line");
  s.skip_blanks();
  const char* const place = s.position();
  const auto pc = static_cast<std::uint32_t>(s.hex(32, "an instruction's place, a hexadecimal number"));
  trace_record record;
  record.mask = static_cast<std::uint32_t>(s.hex(32, "a mask of lanes, eight hexadecimal digits"));
  s.skip_blanks();
  const code_entry* e = code_.find(pc, s.rest());
  std::size_t address = 0;
  if (e == nullptr) {
    if (pc % 8 != 0) s.refuse(place, "an instruction's place, a multiple of 8 bytes");
    e = &learn(pc, s, record.mask, block, record);
  } else {
    s.skip(e->fields.size());
    if (e->has_addresses) {
      address = with_addresses(s, e->index, record.mask, block, record);
    } else if (s.rest() != e->tail) {
      if (e->bulk) s.skip(bulk_copy_fields(s.rest(), format_));
      tail(s);
    }
  }
  record.instruction = e->index;
  remember(line, address, *e, record);
  block.records.push_back(record);
}

// `address`: column of the first address; 0: the line has none, or its addresses cannot be expected again.
void body_parser::remember(std::string_view line, std::size_t address, const code_entry& e,
                           const trace_record& record) {
  const std::size_t n = e.index + std::size_t{1};
  if (n >= known_.size()) known_.resize(n + 1);
  known_[last_].next = n;
  last_ = n;
  known_line& known = known_[n];
  known.copies = e.instruction.op == isa::opcode::ldgsts;
  if (e.has_addresses && address == 0) {
    known.start.clear();
    known.form = 0;
    return;
  }
  known.start.assign(line.substr(0, address == 0 ? line.size() : address));
  if (address == 0) known.start += '\n';
  known.mask = record.mask;
}

void body_parser::join_copy(block_trace& block, std::size_t first) {
  std::vector<trace_record>& records = block.records;
  const std::size_t n = records.size();
  if (n < first + 2 || records[n - 1].instruction != records[n - 2].instruction) return;
  records[n - 2] = records[n - 1];
  records.pop_back();
}

const code_entry& body_parser::learn(std::uint32_t pc, field_scanner& s, std::uint32_t mask, block_trace& block,
                                     trace_record& record) {
  const char* from = s.position();
  fields_.pc = pc;
  registers(s, most_results, "a number of result registers, at most 16", fields_.results);
  s.skip_blanks();
  const char* opcode = s.position();
  fields_.opcode = s.word();
  if (fields_.opcode.size() > 64 || fields_.opcode.empty() || fields_.opcode[0] < 'A' || fields_.opcode[0] > 'Z')
    s.refuse(opcode, "an opcode, such as IADD3");
  for (const char c : fields_.opcode)
    if (c <= ' ' || c > '~') s.refuse(opcode, "an opcode, such as IADD3");
  registers(s, most_operands, "a number of operand registers, at most 16", fields_.operands);
  if (has_group_field(fields_.opcode, s.rest(), format_)) s.word();
  s.skip_blanks();
  const char* width = s.position();
  fields_.bytes = static_cast<unsigned>(s.decimal(most_bytes, bytes_expected));
  if ((fields_.bytes & (fields_.bytes - 1)) != 0) s.refuse(width, bytes_expected);
  const std::string_view text(from, static_cast<std::size_t>(s.position() - from));
  const std::string_view behind = s.rest();
  const std::size_t bulk = is_bulk_copy(fields_.opcode) ? bulk_copy_fields(behind, format_) : 0;
  fields_.bulk = bulk != 0;
  if (fields_.bulk) {
    s.skip(bulk);
    fields_.bytes = 0;  // none for each lane
  }
  if (fields_.bytes != 0) addresses(s, mask, block, record);
  fields_.immediate = tail(s);
  try {
    return code_.add(fields_, text, fields_.bytes == 0 ? behind : std::string_view{});
  } catch (const input_error& e) {
    lines_.fail(1, e.what());
  }
}

// Parses "n R1 R2 ...". Uniform registers, predicates and the like are not tracked by the scoreboard and are skipped.
void body_parser::registers(field_scanner& s, unsigned most, const char* what, std::vector<std::uint8_t>& out) {
  out.clear();
  const std::uint64_t n = s.decimal(most, what);
  for (std::uint64_t k = 0; k < n; ++k) {
    s.skip_blanks();
    const char* from = s.position();
    std::string_view word = s.word();
    const bool vector = !word.empty() && word[0] == 'R';
    const bool other =
        word.size() > 1 && (word.substr(0, 2) == "UR" || word.substr(0, 2) == "UP" || word[0] == 'P' || word[0] == 'B');
    if (!vector && !other) s.refuse(from, "a register, such as R12");
    if (!vector) continue;
    unsigned number = 0;
    word.remove_prefix(1);
    bool good = !word.empty() && word.size() < 4;
    for (const char c : word) {
      good = good && c >= '0' && c <= '9';
      number = number * 10 + static_cast<unsigned>(c - '0');
    }
    if (!good || number > 255) s.refuse(from, "a register from R0 to R255");
    out.push_back(static_cast<std::uint8_t>(number));
  }
}

// Parses the addresses and the rest of the line; if the rest equals that of the instruction's last line, its shape is
// reused. Returns the column (from 0) of the first address; 0: the addresses are listed one by one, or no lane is
// active.
std::size_t body_parser::with_addresses(field_scanner& s, std::uint32_t index, std::uint32_t mask, block_trace& block,
                                        trace_record& record) {
  if (index + std::size_t{1} >= known_.size()) known_.resize(index + std::size_t{2});
  known_line& known = known_[index + std::size_t{1}];
  field_scanner copy = s;
  const std::uint64_t form = copy.decimal(2, "the form of the addresses, 0, 1 or 2");
  if (form == 0 || mask == 0) {
    addresses(s, mask, block, record);
    tail(s);
    return 0;
  }
  copy.skip_blanks();
  const std::size_t column = copy.column();
  const std::uint64_t first = copy.hex(64, "a base address");
  if (known.shape.form != 0 && known.mask == mask && known.form == form && copy.rest() == known.text) {
    record.addresses = again(first, known, block);
    return column;
  }
  addresses(s, mask, block, record);
  tail(s);
  known.text = copy.rest();
  known.form = form;
  known.mask = mask;
  known.tried = false;
  known.shared = shape_store::none;
  block.addresses.shape_of(record.addresses, known.shape);
  return known.shape.form != 0 ? column : 0;
}

// Only repeated shapes are shared: shapes that occur once would fill the store.
address_list::handle body_parser::again(std::uint64_t first, known_line& known, block_trace& block) {
  if (!known.tried) {
    known.tried = true;
    shape_store::offset_list offsets{};
    const unsigned lanes = static_cast<unsigned>(__builtin_popcount(known.mask));
    if (known.shape.offsets(lanes, offsets)) known.shared = shapes_->find_or_add(offsets);
  }
  if (known.shared != shape_store::none) return block.addresses.add(first, shapes_, known.shared);
  return block.addresses.add(first, known.shape);
}

void body_parser::addresses(field_scanner& s, std::uint32_t mask, block_trace& block, trace_record& record) {
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(mask));
  std::uint64_t list[32];
  s.skip_blanks();
  const char* from = s.position();
  switch (s.decimal(2, "the form of the addresses, 0, 1 or 2")) {
    case 0:
      for (unsigned k = 0; k < lanes; ++k) list[k] = s.hex(64, "an address for each active lane");
      record.addresses = block.addresses.add(list, lanes);
      return;
    case 1: {
      const std::uint64_t base = s.hex(64, "a base address");
      const std::int64_t stride = s.integer("a stride");
      if (lanes == 0) return;
      const std::uint32_t run = mask >> __builtin_ctz(mask);
      if ((run & (run + 1)) != 0) s.refuse(from, "a list or differences, as the active lanes are no run");
      record.addresses = block.addresses.add_strided(base, stride);
      return;
    }
    default:
      // The differences are between active lanes, so there is one less than active lanes; a line without active lanes
      // still has a base address.
      list[0] = s.hex(64, "a base address");
      for (unsigned k = 1; k < lanes; ++k)
        list[k] =
            list[k - 1] + static_cast<std::uint64_t>(s.integer("a difference for each active lane but the first"));
      record.addresses = block.addresses.add(list, lanes);
  }
}

// Parses the fields after the addresses; returns the first immediate.
std::int64_t body_parser::tail(field_scanner& s) {
  std::int64_t first = 0;
  for (unsigned k = 0; k < format_.immediates; ++k) {
    const std::int64_t value = s.integer("an immediate");
    if (k == 0) first = value;
  }
  if (format_.values) values(s);
  s.expect_end(at_line_end);
  return first;
}

// Skips "NoVal", or "Val" and then counts of values and values: register data, which a replay does not need.
void body_parser::values(field_scanner& s) {
  s.skip_blanks();
  const char* from = s.position();
  const std::string_view word = s.word();
  if (word == "NoVal") return;
  if (word != "Val") s.refuse(from, "Val or NoVal");
  while (!s.done()) {
    const char* at = s.position();
    if (*at == '-') s.integer("a value");
    else s.hex(64, "a value");
  }
}

}  // namespace heddle::sass_trace
