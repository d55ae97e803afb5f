// SPDX-License-Identifier: MIT
// docs/use/job.schema.json, against which editors validate jobs, must agree with the parser.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "schema_validator.h"
#include "testbench/job/job_parser.h"
#include "testbench/text/text.h"
#include "tests/system/common/json_text.h"

namespace heddle::testbench {

namespace job_schema_test {

namespace fs = std::filesystem;
using json = nlohmann::json;

json load(const fs::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

const json& schema() {
  static const json s = load(HEDDLE_SOURCE "/docs/use/job.schema.json");
  return s;
}

/// The parser's message about a job; empty if it accepts it.
std::string refusal(const json& job, const std::string& name = "j.json") {
  try {
    parse_job(job.dump(), name);
    return "";
  } catch (const input_error& e) {
    return e.what();
  }
}

/// A job with one object of each kind. The keys that the parser knows for an object are listed in its message about an
/// unknown key.
const json every_object = json::parse(std::string(R"({"module": "k.ptx",
  "buffers": {"b": {"bytes": 64, "pointers": [{"at": 0, "to": "b"}]}, "f": {"file": ")" HEDDLE_SOURCE "/LICENSE"
                                                  R"("}, "flag": {"bytes": 4}},
  "slices": {"profile": "1g.5gb", "numbers": {"sms": 1, "channels": 1}}, "clients": {"c": {"sm_percent": 50.5}},
  "symbols": [{"symbol": "s", "file": ")" HEDDLE_SOURCE "/LICENSE"
                                                  R"("}],
  "textures": {"t": {"buffer": "b", "type": "u8", "width": 4}},
  "launches": [{"kernel": "k", "grid": [1], "block": [1], "args": [{"u32": 1}, {"buffer": "b"}, {"bytes_hex": "00"}]}, {"memset": "b"},
               {"copy": {"from": "b", "to": "b"}}, {"repeat": [{"kernel": "k", "grid": [1], "block": [1]}], "max": 1}],
  "preempt": [{"at_cycle": 1}],
  "outputs": [{"buffer": "b", "file": "o"}]})"));

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& item : object.items()) keys.insert(item.key());
  return keys;
}

TEST(job_schema, has_every_key_of_the_parser_and_no_other) {
  ASSERT_EQ("", refusal(every_object));
  EXPECT_TRUE(schema_validator(schema()).valid(every_object));
  const struct {
    const char* place;      // in the job above
    const char* described;  // in the schema
  } objects[] = {{"", ""},
                 {"/buffers/b", "/definitions/buffer"},
                 {"/buffers/f", "/definitions/buffer"},
                 {"/buffers/b/pointers/0", "/definitions/pointer"},
                 {"/slices/numbers", "/definitions/slice_numbers"},
                 {"/clients/c", "/definitions/client"},
                 {"/symbols/0", "/definitions/symbol"},
                 {"/textures/t", "/definitions/texture"},
                 {"/launches/0", "/definitions/kernel"},
                 {"/launches/1", "/definitions/memset"},
                 {"/launches/2", "/definitions/copy"},
                 {"/launches/2/copy", "/definitions/copy/properties/copy"},
                 {"/launches/3", "/definitions/repeat"},
                 {"/preempt/0", "/definitions/preemption"},
                 {"/outputs/0", "/definitions/output"}};
  for (const auto& object : objects) {
    json job = every_object;
    job[json::json_pointer(object.place)]["zzz"] = 1;
    const std::string message = refusal(job);
    const auto list = message.find("(known: ");
    ASSERT_NE(list, std::string::npos) << object.place << ": " << message;
    std::set<std::string> known;
    const std::string names = message.substr(list + 8, message.find(')', list) - list - 8);
    for (const std::string& name : split(names, ',')) known.insert(name.substr(name.find_first_not_of(' ')));
    EXPECT_EQ(known, keys_of(schema().at(json::json_pointer(std::string(object.described) + "/properties"))))
        << object.place;
  }
}

TEST(job_schema, has_every_sort_of_argument) {
  json job = every_object;
  job["launches"][0]["args"] = json::array({{{"zzz", 1}}});
  const std::string message = refusal(job);
  const auto list = message.find("the keys ");
  ASSERT_NE(list, std::string::npos) << message;
  std::set<std::string> known;
  for (const std::string& name : split(message.substr(list + 9), ','))
    known.insert(name.substr(name.find_first_not_of(' ')));
  std::set<std::string> described = keys_of(schema()["definitions"]["scalar"]["properties"]);
  for (const json& sort : schema()["definitions"]["argument"]["oneOf"])
    if (sort.contains("properties")) described.merge(keys_of(sort["properties"]));
  described.erase("offset");
  described.erase("module");
  EXPECT_EQ(known, described);
}

TEST(job_schema, has_every_value_of_the_parser_and_no_other) {
  const struct {
    const char* place;
    const char* described;
  } values[] = {{"/textures/t/type", "/definitions/texture/properties/type/enum"},
                {"/textures/t/filter", "/definitions/texture/properties/filter/enum"},
                {"/textures/t/address/0", "/definitions/texture/properties/address/items/enum"},
                {"/preempt/0/mode", "/definitions/preemption/properties/mode/enum"},
                {"/outputs/0/type", "/definitions/output/properties/type/enum"}};
  json base = every_object;
  base["textures"]["t"]["address"] = {"clamp"};
  base["outputs"][0]["expect"] = "e";
  for (const auto& v : values) {
    json job = base;
    job[json::json_pointer(v.place)] = "zzz";
    const std::string message = refusal(job);
    const auto list = message.find("expected one of ");
    ASSERT_NE(list, std::string::npos) << message;
    std::set<std::string> known, described;
    for (const std::string& name : split(message.substr(list + 16), ' ')) known.insert(name);
    for (const json& name : schema().at(json::json_pointer(v.described))) described.insert(name);
    EXPECT_EQ(known, described) << v.place;
  }
}

/// True if the parser's message concerns the structure of a job, which a schema describes, and not names, files and
/// their consistency.
bool about_shape(const std::string& message) {
  for (const char* part :
       {"unknown key", "is missing", "does not go with", "expected a number, got", "expected a string, got",
        "expected an array, got", "expected an object, got", "expected one of", "expected either",
        "expected at least one", "expected one to three", "expected the name of a file", "has no meaning without",
        "expected a whole number from 0", "got fill"})
    if (message.find(part) != std::string::npos) return true;
  return false;
}

/// All places of a job, the deepest last.
void places_of(const json& v, const json::json_pointer& at, std::vector<json::json_pointer>& all) {
  if (!at.empty()) all.push_back(at);
  if (v.is_object())
    for (const auto& [key, part] : v.items()) places_of(part, at / key, all);
  else if (v.is_array())
    for (std::size_t i = 0; i < v.size(); ++i) places_of(v[i], at / i, all);
}

/// A job with one error at each place: another value, a missing or misspelt key.
std::vector<json> slips_of(const json& job) {
  std::vector<json> slips;
  std::vector<json::json_pointer> places;
  places_of(job, json::json_pointer(), places);
  for (const json::json_pointer& at : places) {
    for (const json& value : {json(nullptr), json(true), json(-1), json(1.5), json(70000), json(""), json("x"),
                              json::array(), json::object(), json(1e300)}) {
      json slip = job;
      slip[at] = value;
      slips.push_back(std::move(slip));
    }
    if (!job[at.parent_pointer()].is_object()) continue;
    json slip = job;
    slip[at.parent_pointer()].erase(at.back());
    slips.push_back(slip);
    slip[at.parent_pointer()][at.back() + "_"] = job[at];
    slips.push_back(std::move(slip));
  }
  return slips;
}

TEST(job_schema, holds_for_every_shipped_job_and_judges_slips_as_the_parser_does) {
  const schema_validator validator(schema());
  unsigned jobs = 0, refused = 0;
  std::vector<fs::path> files = {HEDDLE_SOURCE "/testbench/occupancy/preempted.json",
                                 HEDDLE_SOURCE "/testbench/occupancy/turning.json",
                                 HEDDLE_SOURCE "/testbench/preemption/full_context.json"};
  for (const auto& folder : fs::directory_iterator(HEDDLE_SOURCE "/testbench/workloads"))
    if (fs::exists(folder.path() / "job.json")) files.push_back(folder.path() / "job.json");
  for (const fs::path& file : files) {
    const json job = load(file);
    EXPECT_EQ("", refusal(job, file.string()));
    EXPECT_TRUE(validator.valid(job)) << file;
    ++jobs;
    if (job["launches"].size() > 4) continue;  // more of the same
    for (const json& slip : slips_of(job)) {
      const std::string message = refusal(slip, file.string());
      const bool valid = validator.valid(slip);
      refused += !valid;
      if (!valid) {
        EXPECT_NE("", message) << "the parser takes what the schema does not:\n" << slip.dump(1);
      }
      if (about_shape(message)) {
        EXPECT_FALSE(valid) << "the schema takes what the parser does not: " << message << "\n" << slip.dump(1);
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(jobs, 29u);
  EXPECT_GE(refused, 2000u);
}

TEST(job_schema, holds_for_open_files_and_texts_of_modules) {
  const schema_validator validator(schema());
  const int zeros = ::open("/dev/zero", O_RDWR);
  ASSERT_GE(zeros, 0);
  json job = every_object;
  job["module"] = {{"name", "m"}, {"text", ""}};
  job["buffers"] = {{"b", {{"descriptor", zeros}, {"at", 4}, {"bytes", 64}}}, {"flag", {{"bytes", 4}}}};
  job["outputs"] = {{{"buffer", "b"}, {"descriptor", zeros}, {"at", 4}}};
  EXPECT_EQ("", refusal(job));
  EXPECT_TRUE(validator.valid(job));
  for (const json& slip : slips_of(job)) {
    const std::string message = refusal(slip);
    EXPECT_TRUE(validator.valid(slip) || !message.empty()) << "the parser takes what the schema does not:\n" << slip;
    EXPECT_FALSE(validator.valid(slip) && about_shape(message))
        << "the schema takes what the parser does not: " << message;
  }
  ::close(zeros);
}

}  // namespace job_schema_test

}  // namespace heddle::testbench
