// SPDX-License-Identifier: MIT
// The handling of problematic files: outputs that are inputs, pipes, links created by another user, jobs that access
// files outside their folder.
#include "tests/system/common/files_fixture.h"

namespace files_test {

using namespace file_tests;

// ---- outputs that are inputs ----

TEST_F(files, no_option_names_a_file_that_the_run_reads) {
  put("g.ini", content(HEDDLE_SOURCE "/configs/gtx1080.ini"));
  put("in/e.bin", std::string(128, '\2'));
  put("in/all.json", job_with("/outputs/0", {{"buffer", "x"}, {"expect", "e.bin"}}));
  for (const char* option : {"--metrics", "--report", "--vcd", "--timeline", "--pipeline"}) {
    for (const char* file : {"in/all.json", "in/k.ptx", "in/x.bin", "in/e.bin", "g.ini", "./in/../in/x.bin"})
      refused("heddle run in/all.json --gpu g.ini " + std::string(option) + " " + file, "is read by this run");
  }
  fs::create_symlink("in/x.bin", place_ / "link.bin");
  fs::create_hard_link(place_ / "in/x.bin", place_ / "hard.bin");
  fs::create_directory_symlink("in", place_ / "folder");
  for (const char* file : {"link.bin", "hard.bin", "folder/x.bin"})
    refused("heddle run in/all.json --metrics " + std::string(file), "is read by this run");
  // The layout file beside a waveform.
  put("in/w.gtkw", std::string(128, '\1'));
  put("in/layout.json", job_with("/buffers/x/file", "w.gtkw"));
  refused("heddle run in/layout.json --vcd in/w.vcd", "is read by this run");
}

TEST_F(files, no_output_of_a_job_names_a_file_that_it_reads) {
  for (const char* file : {"k.ptx", "job.json", "x.bin", "./x.bin", "../in/x.bin"}) {
    put("in/job.json", job_with("/outputs/0/file", file));
    refused("heddle run in/job.json", "is read by this run");
  }
}

TEST_F(files, two_outputs_are_two_files) {
  for (const char* other : {"o.bin", "./o.bin", "../in/o.bin"}) {
    put("in/job.json", job_with("/outputs/1", {{"buffer", "x"}, {"file", other}}));
    refused("heddle run in/job.json", "is written by something else already");
  }
  put("in/job.json", job_text);
  refused("heddle run in/job.json --metrics in/o.bin", "is written by something else already");
  refused("heddle run in/job.json --metrics m --report ./m", "is written by something else already");
  refused("heddle run in/job.json --vcd w.vcd --timeline w.gtkw", "is written by something else already");
  const std::string launch = "heddle run --kernel in/k.ptx --grid 1 --block 32 ";
  refused(launch + "--arg out:128:o.bin --metrics ./o.bin", "is written by something else already");
  refused(launch + "--arg in:in/x.bin --metrics in/x.bin", "is read by this run");
  refused(launch + "--arg inout:in/x.bin:in/k.ptx", "is read by this run");
}

TEST_F(files, an_argument_may_replace_the_file_that_it_is_filled_from) {
  good("heddle run --kernel in/k.ptx --grid 1 --block 32 --arg inout:in/x.bin:./in/x.bin");
  EXPECT_EQ(get("in/x.bin"), std::string(128, '\2'));
}

TEST_F(files, a_replay_and_a_report_keep_what_they_read) {
  put("kernelslist.g", "kernel-1.traceg\n");
  put("kernel-1.traceg", trace_text + block_of("0,0,0", "4") + block_of("1,0,0", "4"));
  refused("heddle replay kernelslist.g --gpu v100 --metrics kernel-1.traceg", "is read by this run");
  refused("heddle replay kernelslist.g --gpu v100 --timeline kernelslist.g", "is read by this run");
  good("heddle replay kernelslist.g --gpu v100 --metrics m.json");
  fs::create_hard_link(place_ / "m.json", place_ / "same.json");
  refused("heddle report m.json -o ./m.json", "is read by this run");
  refused("heddle report m.json -o same.json", "is read by this run");
}

TEST_F(files, a_sweep_keeps_what_it_reads_and_tables_of_others) {
  const auto sweep = [](const std::string& store) {
    return "[sweep]\njob = in/job.json\nstore = " + store + "\n[axes]\ngpu.sm_count = 1, 2\n";
  };
  put("x.csv", sweep("x.sqlite"));
  refused("heddle sweep x.csv", "is read by this run");
  put("s.ini", sweep("s.sqlite"));
  put("s.csv", "name,figure\nmine,1\n");
  refused("heddle sweep s.ini", "is not a table of a sweep's results");
  put("s.csv", "");
  good("heddle sweep s.ini");
  EXPECT_EQ(get("s.csv").rfind("position,id,status,reason,", 0), 0u);
  good("heddle sweep s.ini");
}

// ---- pipes and devices ----

TEST_F(files, a_pipe_by_its_name_is_refused_and_not_waited_for) {
  ASSERT_EQ(mkfifo((place_ / "in/pipe.ini").c_str(), 0666), 0);
  ASSERT_EQ(mkfifo((place_ / "in/pipe").c_str(), 0666), 0);
  refused("heddle config --gpu in/pipe.ini", "it is a pipe");
  refused("heddle run in/job.json --gpu in/pipe.ini", "it is a pipe");
  refused("heddle run in/pipe", "it is a pipe");
  refused("heddle run --kernel in/pipe --grid 1 --block 32", "it is a pipe");
  refused("heddle disasm in/pipe", "it is a pipe");
  refused("heddle replay in/pipe --gpu v100", "no regular file");
  refused("heddle sweep in/pipe", "it is a pipe");
  refused("heddle report in/pipe -o r.html", "it is a pipe");
  for (const char* option : {"--metrics", "--report", "--vcd", "--timeline", "--pipeline"})
    refused("heddle run in/job.json " + std::string(option) + " in/pipe", "it is a pipe");
  for (const char* key : {"/module", "/buffers/x/file", "/outputs/0/file", "/outputs/0/expect"}) {
    put("in/piped.json", job_with(key, "pipe"));
    refused("heddle run in/piped.json", "it is a pipe");
  }
  refused("heddle config --gpu /dev/zero", "it is a device");
  refused("heddle run in/job.json --metrics /dev/random", "cannot write '/dev/random': it is a device");
  refused("heddle run in/job.json --vcd /dev/null", "expected a regular file");
}

TEST_F(files, what_the_shell_opens_is_read_and_written) {
  put("g.ini", content(HEDDLE_SOURCE "/configs/v100.ini"));
  EXPECT_EQ(shell("heddle config --gpu <(cat g.ini)").out, shell("heddle config --gpu v100").out);
  put("here.json", job_with("/module", "in/k.ptx"));
  put("here.json", json::parse(get("here.json"))
                       .patch(json::parse(R"([{"op": "replace", "path": "/buffers/x/file", "value": "in/x.bin"}])"))
                       .dump());
  for (const char* way :
       {"heddle run - < here.json", "cat here.json | heddle run /dev/stdin", "heddle run <(cat here.json)"}) {
    fs::remove(place_ / "o.bin");
    good(way);
    EXPECT_EQ(get("o.bin"), std::string(128, '\2')) << way;
  }
  for (const char* out : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const outcome o = shell("heddle run in/job.json --metrics " + std::string(out));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(json::parse(o.out, nullptr, false).value("schema", ""), "heddle.metrics/1")
        << out << ": the summary is left out\n"
        << o.out;
  }
  good("heddle run in/job.json --timeline - > t.json");
  EXPECT_TRUE(json::accept(get("t.json")));
  good(
      "heddle run in/job.json --quiet --metrics >(cat > m.json; echo > done); while [ ! -e done ]; do sleep 0.02; done");
  good("heddle run in/job.json --metrics /dev/null --report /dev/null --timeline /dev/null");
}

// ---- temporary files ----

// An output of 256 MB is written in chunks, the last one shorter, and is compared with any reference.
TEST_F(files, a_large_output_needs_no_memory_of_its_size) {
  json j = json::parse(job_text);
  j["buffers"]["y"] = {{"bytes", (256u << 20) + 5}};
  j["launches"].push_back({{"memset", "y"}, {"byte", 7}, {"offset", (256u << 20) - 3}, {"bytes", 8}});
  put("in/small.json", j.dump());
  j["outputs"].push_back({{"buffer", "y"}, {"file", "large.bin"}});
  put("in/large.json", j.dump());
  good(
      "heddle run in/small.json --quiet --metrics small.json && heddle run in/large.json --quiet --metrics large.json");
  const auto peak = [&](const char* file) {
    return json::parse(get(file)).at("host").at("peak_rss_bytes").get<double>();
  };
  EXPECT_LT(peak("large.json"), peak("small.json") + (64 << 20));
  EXPECT_EQ(fs::file_size(place_ / "in/large.bin"), (256u << 20) + 5);
  std::ifstream in(place_ / "in/large.bin", std::ios::binary);
  in.seekg((256 << 20) - 5);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), std::string(2, '\0') + std::string(8, '\7'));
  fs::remove(place_ / "in/large.bin");
}

TEST_F(files, permissions_of_an_output_are_kept) {
  for (const char* file :
       {"m.json", "r.html", "w.vcd", "w.gtkw", "t.json", "p.kanata", "in/o.bin", "s.sqlite", "s.csv"}) {
    put(file, "");
    fs::permissions(place_ / file, fs::perms(0600));
  }
  const std::string views = " --metrics m.json --report r.html --vcd w.vcd --timeline t.json --pipeline p.kanata";
  good("umask 022; heddle run in/job.json" + views);
  fs::remove(place_ / "s.sqlite");
  put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n");
  good("umask 022; heddle sweep s.ini");
  const auto mode = [&](const std::string& file) { return unsigned(fs::status(place_ / file).permissions()); };
  for (const char* file : {"m.json", "r.html", "w.vcd", "w.gtkw", "t.json", "p.kanata", "in/o.bin", "s.csv"}) {
    EXPECT_EQ(mode(file), 0600u) << file;
    EXPECT_GT(fs::file_size(place_ / file), 0u) << file;
  }
  EXPECT_EQ(mode("s.sqlite"), 0644u);
  fs::permissions(place_ / "s.sqlite", fs::perms(0640));
  good("umask 022; heddle sweep s.ini");
  EXPECT_EQ(mode("s.sqlite"), 0640u);
  good("umask 027; heddle run in/job.json --metrics new.json --timeline new_t.json");
  EXPECT_EQ(mode("new.json"), 0640u);
  EXPECT_EQ(mode("new_t.json"), 0640u);
}

TEST_F(files, a_link_that_waits_for_a_temporary_file_is_not_followed) {
  put("victim", "mine");
  // Predictable names: the process number and a counter.
  const std::string links = "for n in 0 1 2 3 4 5 6 7; do ln -s victim .heddle-$BASHPID-$n.tmp; done; ";
  good(links + "exec '" HEDDLE_PROGRAM
               "' run in/job.json --metrics m.json --vcd w.vcd --timeline t.json --pipeline p.kanata");
  EXPECT_EQ(get("victim"), "mine");
  fs::create_directories(place_ / "s.sqlite.points");
  fs::create_symlink("../victim", place_ / "s.sqlite.points/lock");
  put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n");
  EXPECT_EQ(shell("heddle sweep s.ini").code, 2);
  EXPECT_EQ(get("victim"), "mine");
}

TEST_F(files, a_kill_leaves_outputs_as_they_were) {
  put("m.json", "old");
  put("w.vcd", "old");
  put("in/spin.ptx",
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry spin(.param .u64 x)\n{\nagain:\n\tbra.uni again;\n}\n");
  put("in/spin.json", json::parse(job_with("/module", "spin.ptx"))
                          .patch(json::parse(R"([{"op": "replace", "path": "/launches/0/kernel", "value": "spin"}])"))
                          .dump());
  shell(
      "'" HEDDLE_PROGRAM
      "' run in/spin.json --metrics m.json --vcd w.vcd & p=$!; "
      "for k in $(seq 500); do ls -lA > listing; grep -q '^-rw------- .* [.]heddle-' listing && break; sleep 0.02; done; kill -9 $p; wait $p");
  EXPECT_EQ(get("m.json"), "old");
  EXPECT_EQ(get("w.vcd"), "old");
  EXPECT_NE(get("listing").find("-rw------- "), std::string::npos) << "others cannot read what is not whole\n"
                                                                   << get("listing");
  good("heddle run in/job.json --metrics m.json --vcd w.vcd");
}

// ---- an untrusted job ----

TEST_F(files, a_confined_job_stays_below_its_folder) {
  put("secret.bin", std::string(128, '\3'));
  fs::create_symlink("../secret.bin", place_ / "in/inside.bin");
  fs::create_directory_symlink("..", place_ / "in/up");
  const std::string outside = "which a job's files must not leave";
  const std::vector<std::string> ways = {"../secret.bin", (place_ / "secret.bin").string(), "inside.bin",
                                         "up/secret.bin"};
  for (const std::string& file : ways) {
    for (const char* key : {"/module", "/buffers/x/file", "/outputs/0/expect", "/outputs/0/file"}) {
      put("in/job.json", job_with(key, file));
      refused("heddle run in/job.json --confine in", outside);
    }
  }
  put("in/job.json", job_with("/symbols", json::array({{{"symbol", "s"}, {"file", "../secret.bin"}}})));
  refused("heddle run in/job.json --confine in", outside);
  put("in/job.json", job_with("/outputs/0/file", "up/new.bin"));
  refused("heddle run in/job.json --confine in", outside);
  put("in/job.json", job_with("/outputs/0/file", "/dev/null"));
  refused("heddle run in/job.json --confine in", outside);
  const std::string launch = "heddle run --confine in --grid 1 --block 32 --kernel ";
  refused(launch + "in/k.ptx --arg in:secret.bin", outside);
  refused(launch + "in/k.ptx --arg out:128:o.bin", outside);
  refused(launch + "secret.bin", outside);
  refused("heddle run in/job.json --confine nowhere", "is no folder");
  refused("heddle run in/job.json --confine in/x.bin", "is no folder");

  put("in/job.json", job_text);
  good("heddle run in/job.json --confine in --metrics m.json");  // files that the user names may be elsewhere
  EXPECT_EQ(get("in/o.bin"), std::string(128, '\2'));
  put("in/job.json", job_with("/buffers/x/file", "../secret.bin"));
  good("heddle run in/job.json --confine .");
  good("heddle run in/job.json --confine /");
  good("heddle run in/job.json");
  put("in/job.json", job_with("/buffers/x/file", (place_ / "in/x.bin").string()));
  good("heddle run in/job.json --confine in");
}

TEST_F(files, a_gpus_base_stays_below_its_folder_or_the_confined_one) {
  fs::create_directories(place_ / "chips/sub");
  put("secret.ini", "[gpu]\nsm_count = 2\n");
  put("chips/sub/first.ini", "base = v100\n[gpu]\nsm_count = 2\n");
  put("chips/second.ini", "base = sub/first.ini\n");
  put("chips/third.ini", "base = ../secret.ini\n");
  put("chips/fourth.ini", "base = ../in/fifth.ini\n");
  put("in/fifth.ini", "[gpu]\nsm_count = 2\n");
  good("heddle run in/job.json --gpu chips/third.ini");
  refused("heddle run in/job.json --gpu chips/third.ini --confine in", "chips/third.ini:1:8: base '../secret.ini'");
  refused("heddle run in/job.json --gpu chips/third.ini --confine in", "which a job's files must not leave");
  good("heddle run in/job.json --gpu chips/second.ini --confine in");
  good("heddle run in/job.json --gpu chips/fourth.ini --confine in");
  refused("cd in && heddle run job.json --gpu <(echo base = ../secret.ini) --confine .",
          "which a job's files must not leave");
  good("cd in && heddle run job.json --gpu <(echo base = fifth.ini) --confine .");
  refused("heddle run in/job.json --gpu chips/second.ini --metrics chips/sub/first.ini", "is read by this run");
  refused("heddle run in/job.json --gpu chips/absent.ini", "cannot open the configuration");
  put("s.ini", "[sweep]\njob = in/job.json\nstore = chips/sub/first.ini\n[axes]\ngpu = chips/second.ini\n");
  EXPECT_EQ(shell("heddle sweep s.ini").code, 2) << "a base is read by the sweep";
  put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu = chips/third.ini\n");
  EXPECT_EQ(shell("heddle sweep s.ini --confine in").code, 2);
  good("heddle sweep s.ini");
}

TEST_F(files, jobs_of_a_sweep_stay_below_their_folders) {
  put("secret.bin", std::string(128, '\3'));
  put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n");
  for (const char* key : {"/buffers/x/file", "/outputs/0/expect", "/outputs/0/file"}) {
    put("in/job.json", job_with(key, "../secret.bin"));
    refused("heddle sweep s.ini", "which a job's files must not leave");
  }
  good("heddle sweep s.ini --confine .");
  put("list/kernelslist.g", "");
  fs::create_directories(place_ / "list");
  put("list/kernelslist.g", "../kernel-1.traceg\n");
  put("kernel-1.traceg", trace_text + block_of("0,0,0", "4"));
  put("t.ini", "[sweep]\ntrace = list/kernelslist.g\nstore = t.sqlite\n[axes]\ngpu = v100\ngpu.sm_count = 1\n");
  refused("heddle sweep t.ini", "which a job's files must not leave");
  good("heddle sweep t.ini --confine .");
}

// ---- files that the program was started with ----

TEST_F(files, a_buffer_comes_from_an_open_file_and_goes_back_into_its_place) {
  json j = json::parse(job_text);
  j["module"] = {{"name", "own text"}, {"text", kernel_text}};
  j["buffers"]["x"] = {{"descriptor", 7}, {"at", 5}, {"bytes", 128}};
  j["outputs"] = json::array({{{"buffer", "x"}, {"descriptor", 7}, {"at", 5}}, {{"buffer", "x"}, {"file", "o.bin"}}});
  put("job.json", j.dump());
  const std::string around = "12345" + std::string(128, '\1') + "678";
  put("x.bin", around);
  good("heddle run - 7<>x.bin <job.json");
  EXPECT_EQ(get("x.bin"), "12345" + std::string(128, '\2') + "678");
  EXPECT_EQ(get("o.bin"), std::string(128, '\2'));
  put("x.bin", around);
  refused("heddle run job.json", "descriptor 7 is not open");
  refused("heddle run job.json 7<x.bin", "descriptor 7 is not open for writing");
  refused("heddle run job.json 7>>x.bin", "descriptor 7 is not open for reading");
  refused("heddle run job.json 7<> >(cat)", "descriptor 7 is a pipe or a device");
  refused("heddle run job.json --confine . 7<>x.bin", "'descriptor' leaves the folder");
  put("s.ini", "[sweep]\njob = job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1\n");
  refused("heddle sweep s.ini 7<>x.bin", "'descriptor' leaves the folder");
  j["buffers"]["x"]["at"] = 20;
  put("job.json", j.dump());
  refused("heddle run job.json 7<>x.bin", "cannot read descriptor 7 at byte 136: it ends there");
  // A run that fails leaves it as it is.
  j["buffers"]["x"]["at"] = 5;
  j["launches"][0]["block"] = {64};
  put("job.json", j.dump());
  const outcome failed = shell("heddle run job.json 7<>x.bin");
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.err.find("own text:12:2: illegal address"), std::string::npos) << failed.err;
  EXPECT_EQ(get("x.bin"), around);
}

TEST_F(files, a_job_with_the_text_of_its_module_can_be_swept) {
  json j = json::parse(job_text);
  j["module"] = {{"name", "own"}, {"text", kernel_text}};
  put("in/job.json", j.dump());
  put("s.ini", "[sweep]\njob = in/job.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1, 2\n");
  good("heddle sweep s.ini");
  j["modules"] = {{{"name", "own"}, {"text", kernel_text}}, {{"name", "own"}, {"text", ""}}};
  j.erase("module");
  put("in/job.json", j.dump());
  refused("heddle run in/job.json", "there are two modules 'own'");
}

TEST_F(files, kernels_are_described_for_programs) {
  const outcome o = shell("heddle disasm - --json <in/k.ptx");
  ASSERT_EQ(o.code, 0) << o.err;
  const json kernels = json::parse(o.out);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0]["name"], "twice");
  EXPECT_EQ(kernels[0]["names"], json::array({"twice"}));
  EXPECT_EQ(kernels[0]["parameters"], json::parse(R"([{"name": "data", "bytes": 8, "type": "u64"}])"));
  EXPECT_EQ(kernels[0]["shared_bytes"], 0);
  EXPECT_GT(kernels[0]["registers_per_thread"], 1);
}

}  // namespace files_test
