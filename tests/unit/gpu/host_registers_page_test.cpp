// SPDX-License-Identifier: MIT
// Software that does not include host_registers.h is written from docs/library/host_interface.md: its offsets must be
// those of the header.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/register_map.h"

namespace heddle {
namespace host_registers_page_test {

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t next; (next = text.find(by, at)) != std::string::npos; at = next + by.size())
    parts.push_back(text.substr(at, next - at));
  parts.push_back(text.substr(at));
  return parts;
}

/// Rows of the tables below a heading: their cells.
std::vector<std::vector<std::string>> rows_below(const std::string& heading) {
  std::ifstream page(HEDDLE_DOCS "/library/host_interface.md");
  std::vector<std::vector<std::string>> rows;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind('#', 0) == 0) here = line == heading;
    if (here && line.rfind("| 0x", 0) == 0) rows.push_back(split(line.substr(2), " | "));
  }
  return rows;
}

/// Offset and access, as the page writes them.
using place = std::pair<std::uint64_t, std::string>;

std::string access_text(register_access access) {
  switch (access) {
    case register_access::read_only:
    case register_access::read_takes: return "R";
    case register_access::write_only: return "W";
    case register_access::read_write: return "RW";
    case register_access::write_1_clears: return "R, W1C";
  }
  return "";
}

TEST(host_registers_page, has_each_register_where_it_is) {
  std::map<std::string, place> found, expected;
  for (const auto& row : rows_below("# The host interface")) {
    const auto offsets = split(row.at(0), ", "), names = split(row.at(1), ", ");
    ASSERT_EQ(offsets.size(), names.size()) << row.at(1);
    for (std::size_t i = 0; i < names.size(); ++i) found[names[i]] = {std::stoull(offsets[i], nullptr, 16), row.at(2)};
  }
  for (const host_register_row& r : host_register_rows) expected[r.name] = {r.offset, access_text(r.access)};
  expected["message"] = {host_register::message, "R"};
  expected["print"] = {host_register::print, "R"};
  EXPECT_EQ(found, expected);
}

// HEDDLE_RENEW_PAGE=1 writes the file.
TEST(host_registers_page, the_systemrdl_file_is_made_from_the_rows) {
  const std::string file = HEDDLE_DOCS "/library/heddle.rdl", map = register_map();
  if (std::getenv("HEDDLE_RENEW_PAGE") != nullptr) std::ofstream(file) << map;
  std::ifstream in(file);
  EXPECT_EQ(map, std::string(std::istreambuf_iterator<char>(in), {})) << "HEDDLE_RENEW_PAGE=1 writes it";
  for (const host_register_row& r : host_register_rows)
    EXPECT_NE(map.find(std::string("\"") + r.meaning + "\";\n"), std::string::npos) << r.name;
}

struct field {
  std::size_t offset, bytes;
  std::string name;
  bool operator==(const field& o) const { return offset == o.offset && bytes == o.bytes && name == o.name; }
};

void expect_layout(const std::string& command, host_command number, std::size_t size,
                   const std::vector<field>& expected) {
  const auto rows = rows_below("### " + command + " (" + std::to_string(static_cast<unsigned>(number)) + ")");
  ASSERT_EQ(rows.size(), expected.size()) << command;
  std::size_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const field on_page{std::stoul(rows[i].at(0), nullptr, 16), std::stoul(rows[i].at(1)), rows[i].at(2)};
    EXPECT_TRUE(on_page == expected[i]) << command << ", row " << i;
    EXPECT_EQ(on_page.offset, end) << command << " has a gap before " << on_page.name;
    end = on_page.offset + on_page.bytes;
  }
  EXPECT_EQ(end, size) << command;
}

#define FIELD(name) \
  field { offsetof(d, name), sizeof(d::name), #name }

TEST(host_registers_page, has_each_descriptor_as_it_is) {
  {
    using d = load_module_descriptor;
    expect_layout("load_module", host_command::load_module, sizeof(d),
                  {FIELD(command), FIELD(reserved), FIELD(text_address), FIELD(text_bytes), FIELD(name_address),
                   FIELD(name_bytes), FIELD(globals_address), FIELD(constants_address)});
  }
  {
    using d = launch_descriptor;
    expect_layout("launch", host_command::launch, sizeof(d),
                  {FIELD(command), FIELD(module), FIELD(kernel_address), FIELD(kernel_bytes), FIELD(grid), FIELD(block),
                   FIELD(dynamic_shared_bytes), FIELD(stream), FIELD(priority), FIELD(carveout_percent),
                   FIELD(max_registers), FIELD(parameter_bytes), FIELD(parameter_address), FIELD(local_address),
                   FIELD(local_bytes), FIELD(cluster), FIELD(non_portable_cluster), FIELD(programmatic)});
  }
  {
    using d = preempt_descriptor;
    expect_layout("preempt", host_command::preempt, sizeof(d),
                  {FIELD(command), FIELD(mode), FIELD(sms_address), FIELD(sm_count), FIELD(resume_after)});
  }
  {
    using d = launch_recording_descriptor;
    expect_layout("launch_recording", host_command::launch_recording, sizeof(d),
                  {FIELD(command), FIELD(stream), FIELD(priority), FIELD(carveout_percent)});
  }
  {
    using d = create_texture_descriptor;
    expect_layout("create_texture", host_command::create_texture, sizeof(d),
                  {FIELD(command), FIELD(width), FIELD(address), FIELD(height), FIELD(depth), FIELD(type),
                   FIELD(channels), FIELD(linear), FIELD(normalized), FIELD(mode), FIELD(levels), FIELD(pitch_bytes),
                   FIELD(bias), FIELD(least_level), FIELD(most_level), FIELD(levels_linear), FIELD(further)});
  }
}

}  // namespace host_registers_page_test
}  // namespace heddle
