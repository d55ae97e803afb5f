// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "job_bench.h"
#include "testbench/files/result_files.h"
#include "testbench/sweep/store/gathering_lock.h"

namespace heddle::testbench {
namespace result_files_test {

TEST(result_files_test, appear_together_or_not_at_all) {
  folder f;
  const std::string a = f.name("a");
  const std::string b = f.write("b", "old");
  {
    result_files files;
    files.add(a, "new a");
    files.add(b, "new b");
    EXPECT_NE(access(a.c_str(), F_OK), 0);
    EXPECT_EQ(content_of(b), "old");
  }
  EXPECT_NE(access(a.c_str(), F_OK), 0);
  result_files files;
  files.add(a, "new a");
  files.add(b, "new b");
  files.commit();
  EXPECT_EQ(content_of(a), "new a");
  EXPECT_EQ(content_of(b), "new b");
  EXPECT_EQ(files.written(), (std::vector<std::string>{a, b}));
}

TEST(result_files_test, a_full_device_leaves_the_others_as_they_were) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  folder f;
  const std::string a = f.write("a", "old");
  result_files files;
  files.add(a, "new");
  files.add("/dev/full", "text");
  EXPECT_EQ(refusal([&] { files.commit(); }), "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(content_of(a), "old");
}

TEST(result_files_test, a_link_stays_and_its_target_is_replaced) {
  folder f;
  const std::string target = f.write("target", "old");
  const std::string link = f.name("link");
  ASSERT_EQ(symlink("target", link.c_str()), 0);
  result_files files;
  files.add(link, "new");
  files.commit();
  EXPECT_EQ(content_of(target), "new");
  struct stat status;
  ASSERT_EQ(lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
}

// A process killed while it replaces the note must leave one that names the temporary files.
TEST(gathering_lock_test, a_note_that_cannot_be_written_leaves_the_one_before) {
  folder f;
  const std::string note = f.name(".heddle-first.tmp") + "\n";
  gathering_lock lock(f.name(""));
  lock.note({f.name(".heddle-first.tmp")});
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  lock.note({f.name(".heddle-first.tmp"), f.name(".heddle-second.tmp")});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(content_of(f.name("lock")), note);
}

}  // namespace result_files_test
}  // namespace heddle::testbench
