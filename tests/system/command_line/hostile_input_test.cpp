// SPDX-License-Identifier: MIT
// Malicious texts and stores: each gets a one-line answer, and no files are left behind.
#include <sqlite3.h>

#include <utility>

#include "tests/system/common/files_fixture.h"

namespace hostile_input_test {

using namespace file_tests;

// ---- texts made to harm ----

TEST_F(files, a_text_of_gigabytes_is_refused_unread) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "it reserves terabytes of addresses";
#endif
  const std::string why = " has 3221225472 bytes, expected at most 268435456";
  for (const char* name : {"big.ptx", "big.json"}) {
    put(name, "");
    fs::resize_file(place_ / name, std::uint64_t{3} << 30);
  }
  const auto refused_unread = [&](const std::string& command, const std::string& part) {
    const outcome o = shell("ulimit -v 2000000; " + command);
    EXPECT_EQ(o.code, 2) << command;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  };
  refused_unread("heddle run --kernel big.ptx --grid 1 --block 1", "module 'big.ptx' has 3,221,225,472 bytes");
  refused_unread("heddle disasm big.ptx", "'big.ptx'" + why);
  refused_unread("heddle run big.json", "'big.json'" + why);
  refused_unread("heddle report big.json -o r.html", "'big.json'" + why);
  put("in/job.json", job_with("/module", "../big.ptx"));
  refused_unread("heddle run in/job.json", "big.ptx' has 3,221,225,472 bytes");
  const outcome little = shell("ulimit -v 150000; heddle disasm in/k.ptx");
  EXPECT_EQ(little.code, 0) << little.err;
}

TEST_F(files, what_would_be_ignored_is_refused) {
  const std::string text = kernel_text;
  const auto with = [&](const std::string& line) {
    std::string t = text;
    t.insert(t.find("\tret;"), line + "\n");
    return t;
  };
  put("p.ptx", with("#if 0\n\ttrap;\n#endif"));
  refused("heddle disasm p.ptx", "p.ptx:15:1: unexpected '#if', expected PTX that needs no preprocessor");
  put("p.ptx", with("#define x"));
  refused("heddle disasm p.ptx", "unexpected '#define'");
  put("p.ptx", with("# 1 \"f.cu\" 1 3\n#line 7 \"f.cu\"\n  # 3 \"g\""));
  good("heddle disasm p.ptx");
  refused("heddle disasm p.ptx:", "expected a kernel's name after the colon");
  put("p.ptx", with("\tbar.sync -1;"));
  refused("heddle disasm p.ptx", "barrier number -1, expected 0 to 15");
  put("in/job.json", job_with("/launches/0/kernel", ""));
  refused("heddle run in/job.json", "launches[0].kernel: expected a kernel's name");
  put("in/job.json", job_with("/launches/0/registers_per_thread", 256));
  refused("heddle run in/job.json", "got 256 registers per thread, expected 1 to 255");
  refused("heddle run --kernel in/k.ptx --grid 1 --block 32 --arg in:in/x.bin --regs 300 --gpu gtx1080",
          "got 300 registers per thread, expected 1 to 255");
  put("in/job.json", job_with("/buffers/x/pointers", {{{"at", 0}, {"to", "x"}}, {{"at", 4}, {"to", "x"}}}));
  refused("heddle run in/job.json", "the address at byte 4 of buffer 'x' overlaps another one of 8 bytes");
}

TEST_F(files, every_reader_answers_with_one_short_line) {
  const std::string hostile[] = {std::string("a\nheddle: error: b\r\x1b[2J\x7f\tc"), std::string(100000, 'n'),
                                 "\xff\xfe\xc2\x9b"
                                 "31m\xe2\x80\xae",
                                 "it's 'quoted' " + std::string(3000, 'q') + "' and more"};
  for (const std::string& name : hostile) {
    const auto short_line = [&](const std::string& what) {
      const std::string err = get("stderr");
      EXPECT_LT(err.size(), 2200u) << what;
      EXPECT_EQ(err.find("\nheddle: error: b"), std::string::npos) << what << err;
    };
    put("name", name);
    const std::string n = "\"$(cat name)\"";
    if (name.size() < 4000) {
      for (const std::string& command :
           {"heddle " + n, "heddle run --" + n, "heddle run " + n, "heddle run in/job.json --metrics " + n + "/m",
            "heddle run in/job.json --set " + n, "heddle run in/job.json --gpu " + n, "heddle config --gpu ./" + n,
            "heddle run in/job.json --trace-scope " + n + " --vcd w.vcd", "heddle disasm in/k.ptx:" + n,
            "heddle run --kernel in/k.ptx --grid " + n + " --block 1",
            "heddle run --kernel in/k.ptx --grid 1 --block 1 --arg " + n, "heddle sweep " + n, "heddle replay " + n,
            "heddle report " + n + " -o r.html", "heddle run in/job.json --confine " + n}) {
        refused(command, "");
        short_line(command);
      }
    }
    const auto of_file = [&](const std::string& file, const std::string& text, const std::string& command) {
      put(file, text);
      refused(command, "");
      short_line(command);
    };
    const std::string json_name = json(name).dump(-1, ' ', false, json::error_handler_t::replace);
    for (const char* pointer : {"/module", "/launches/0/kernel", "/buffers/x/file", "/outputs/0/buffer",
                                "/outputs/0/file", "/buffers/x/fill"}) {
      put("in/bad.json", "");
      json j = json::parse(job_text);
      j[json::json_pointer(pointer)] = "@@";
      std::string text = j.dump();
      text.replace(text.find("\"@@\""), 4, json_name);
      if (std::string(pointer) == "/outputs/0/file")
        text.replace(text.find("\"file\":" + json_name), 8, "\"file\":\"nowhere/");
      of_file("in/bad.json", text, "heddle run in/bad.json");
    }
    of_file("in/bad.json", "{" + json_name + ": 1}", "heddle run in/bad.json");
    of_file("in/bad.json", name, "heddle run in/bad.json");
    of_file("g.ini", "[gpu]\nname = " + name + "\n", "heddle config --gpu ./g.ini");
    of_file("g.ini", "[" + name + "]\n", "heddle config --gpu ./g.ini");
    of_file("g.ini", "[gpu]\n" + name + " = 1\n", "heddle config --gpu ./g.ini");
    of_file("bad.ptx", ".version 7.0\n.target sm_60\n.visible .entry k() { " + name + "; }\n", "heddle disasm bad.ptx");
    of_file("bad.ptx", ".version 7.0\n.target " + name, "heddle disasm bad.ptx");
    of_file("kernelslist.g", "kernel-" + name + "\n", "heddle replay kernelslist.g");
    of_file("kernelslist.g", "kernel-" + name + ".traceg\n", "heddle replay kernelslist.g");
    put("kernelslist.g", "kernel-1.traceg\n");
    of_file("kernel-1.traceg", "-kernel name = " + name + "\n" + name + "\n", "heddle replay kernelslist.g");
    of_file("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\n" + name + " = 1\n", "heddle sweep s.ini");
    of_file("s.ini", "[sweep]\njob = in/" + name + "\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n",
            "heddle sweep s.ini");
    of_file("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\nmetrics = " + name + "\n[axes]\ngpu.sm_count = 1\n",
            "heddle sweep s.ini");
    of_file("m.json", "{\"schema\": " + json_name + "}", "heddle report m.json -o r.html");
    for (const char* file : {"kernelslist.g", "s.ini", "g.ini", "m.json", "in/bad.json"}) fs::remove(place_ / file);
  }
}

TEST_F(files, what_was_accepted_in_silence_is_refused) {
  put("in/zero.json", std::string(job_text) + std::string(1, '\0') + "what follows");
  refused("heddle run in/zero.json", "in/zero.json:6:2: not valid JSON: a zero byte");
  put("kernelslist.g", "kernel-1.traceg\n");
  put("kernel-1.traceg", trace_text + block_of("1,0,0", "4") + block_of("1,0,0", "4"));
  refused("heddle replay kernelslist.g --gpu v100", "thread block (1,0,0) of kernel 'k' comes twice");
  put("kernel-1.traceg", trace_text + block_of("0,0,0", "3") + block_of("1,0,0", "3"));
  refused("heddle replay kernelslist.g --gpu v100", "got '3', expected bytes that a lane moves, 0 or a power of two");
  put("g.ini", "[gpu]\nsm_count = 2\n[nothing]\n");
  refused("heddle config --gpu ./g.ini", "g.ini:3:2: unknown section [nothing]");
  put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n[nothing]\n");
  refused("heddle sweep s.ini", "s.ini:6:2: unknown section [nothing]");
  refused("heddle config --set gpu.compute_capability=99.9", "unknown compute_capability '99.9', expected 1.0, 1.1, ");
  for (const char* option : {"--metrics", "--report", "--vcd", "--gpu", "--max-cycles", "--trace-scope"})
    refused("heddle run in/job.json " + std::string(option) + " ''",
            "option '" + std::string(option) + "' needs a value");
  refused("heddle run ''", "empty argument");
  refused("heddle report '' -o r.html", "empty argument");
  const std::string sweep =
      "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1, 2\n[sweep]\nmetrics = ";
  for (const char* path : {"kernels.1.cycles", "kernels.0.grid.3", "sms.2.ipc",
                           "sms.0.sub_partitions.64.warp_cycles.active", "context_switches.0.sm"}) {
    put("s.ini", sweep + path + "\n");
    refused("heddle sweep s.ini --dry-run", "metrics: '" + std::string(path) + "'");
  }
  put("s.ini", sweep + "kernels.0.cycles, kernels.0.grid.2, sms.1.ipc, sms.0.sub_partitions.3.warp_cycles.active\n");
  good("heddle sweep s.ini --dry-run");
}

TEST_F(files, messages_name_the_key_and_what_is_expected) {
  const auto said = [&] { return get("stderr").substr(std::min(get("stderr").find("heddle:"), get("stderr").size())); };
  put("in/job.json", job_with("/launches/0/args/0", {{"u64", std::string("7\0", 2)}}));
  refused("heddle run in/job.json", "a zero character (\\u0000) in a text, expected none");
  std::string misspelt = job_text;
  misspelt.replace(misspelt.find("module"), 6, "modul");
  put("in/job.json", misspelt);
  refused("heddle run in/job.json", "expected either 'module' or 'modules', not 'modul', did you mean 'module'?");
  misspelt = job_text;
  misspelt.replace(misspelt.find("grid"), 4, "gird");
  put("in/job.json", misspelt);
  refused("heddle run in/job.json", "launches[0]: key 'grid' is missing, not 'gird', did you mean 'grid'?");
  std::string kernels = ".version 7.0\n.target sm_60\n.address_size 64\n";
  for (unsigned k = 0; k < 2000; ++k) kernels += ".entry kernel" + std::to_string(k) + "() { ret; }\n";
  put("many.ptx", kernels);
  refused("heddle run --kernel many.ptx --grid 1 --block 1", "kernel11 and 1988 more");
  EXPECT_LT(said().size(), 400u) << said();
  refused("heddle run --kernel many.ptx:k --grid 1 --block 1", "kernel11 and 1988 more");
  const std::string folders(1000, 'd');
  refused("heddle run in/job.json --metrics none/" + folders + "/m.json", "");
  EXPECT_LT(said().size(), 420u) << said();
  put("kernelslist.g", "MemcpyHtoD,0x10,4\nkernel-1.traceg\n");
  fs::create_directory(place_ / "kernel-1.traceg");
  refused("heddle replay kernelslist.g", "kernelslist.g:2:1: the trace 'kernel-1.traceg' is no regular file");
}

TEST_F(files, a_kernel_of_two_modules_is_refused) {
  const auto job_of = [&](const char* first, const char* second) {
    json j = json::parse(job_text);
    j.erase("module");
    j["modules"] = {first, second};
    return j.dump();
  };
  put("in/job.json", job_of("k.ptx", "k.ptx"));
  refused("heddle run in/job.json", "kernel 'twice' is in 'in/k.ptx' and in 'in/k.ptx', expected it in one module");
  // A launch may name the module.
  std::string other = kernel_text;
  put("in/other.ptx", other + "// another text\n");
  json named = json::parse(job_of("k.ptx", "other.ptx"));
  put("in/job.json", named.dump());
  refused("heddle run in/job.json", "kernel 'twice' is in 'in/k.ptx' and in 'in/other.ptx', expected it in one module");
  for (const char* module : {"k.ptx", "./k.ptx", "other.ptx"}) {
    named["launches"][0]["module"] = module;
    put("in/job.json", named.dump());
    if (module[0] != '.') good("heddle run in/job.json");
    else refused("heddle run in/job.json", "the job has no module './k.ptx', expected one of: in/k.ptx, in/other.ptx");
  }
  named["launches"][0]["module"] = "other.ptx";
  named["launches"][0]["kernel"] = "twise";
  put("in/job.json", named.dump());
  refused("heddle run in/job.json", "no kernel 'twise' in module 'in/other.ptx', expected one of: twice");
  std::string weak = kernel_text;
  weak.replace(weak.find(".visible"), 8, ".weak");
  put("in/w.ptx", weak);
  put("in/job.json", job_of("k.ptx", "w.ptx"));
  good("heddle run in/job.json");
}

// ---- stores of others ----

/// A store written by a sweep and then modified by SQL.
class stores : public files {
 protected:
  stores() {
    put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n");
    good("heddle sweep s.ini");
  }
  void change(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((place_ / "s.sqlite").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
};

const char* const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT ";

TEST_F(stores, a_view_in_place_of_a_table_is_not_run) {
  fs::copy(place_ / "s.sqlite", place_ / "good.sqlite");
  const std::vector<std::pair<std::string, std::string>> views = {
      {"metric_values", "1 AS result, 1 AS metric, x AS value FROM c"},
      {"POINTS", "'s' AS sweep, x AS position, x AS id FROM c"},
      {"store", "x AS key, x AS value FROM c"},
      {"sweeps", "x AS sweep, '' AS metrics FROM c"},
      {"axes", "'s' AS sweep, x AS number, 'gpu' AS axis FROM c"}};
  for (const auto& [table, columns] : views) {
    fs::copy(place_ / "good.sqlite", place_ / "s.sqlite", fs::copy_options::overwrite_existing);
    change("DROP TABLE " + table + "; CREATE VIEW " + table + " AS " + endless + columns);
    refused("heddle report s.sqlite -o r.html", "is a view, expected a table");
    refused("heddle sweep s.ini", "is a view, expected a table");
  }
}

TEST_F(stores, one_without_a_table_is_refused_before_the_first_run) {
  fs::copy(place_ / "s.sqlite", place_ / "good.sqlite");
  fs::remove_all(place_ / "s.sqlite.points");
  for (const char* table : {"sweeps", "points", "metric_values"}) {
    fs::copy(place_ / "good.sqlite", place_ / "s.sqlite", fs::copy_options::overwrite_existing);
    change(std::string("DROP TABLE ") + table);
    refused("heddle sweep s.ini", "is no database of results (store: no such table: " + std::string(table) + ")");
    EXPECT_FALSE(exists("s.sqlite.points"));
  }
}

TEST_F(stores, what_is_in_one_is_data) {
  // A second sweep in the same store copies the data of the first.
  change("UPDATE axes SET number = '0) AS a; ATTACH ''stolen.db'' AS stolen; CREATE TABLE stolen.t(x); --'");
  put("second.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 2\n");
  shell("heddle sweep second.ini");
  EXPECT_FALSE(exists("stolen.db"));
  change("ALTER TABLE points ADD COLUMN g TEXT AS (hex(zeroblob(100000000)))");
  EXPECT_EQ(shell("heddle report s.sqlite -o r.html").err, "");
}

}  // namespace hostile_input_test
