// SPDX-License-Identifier: MIT
#include "testbench/sweep/store/result_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "heddle/config/error.h"
#include "testbench/files/output_place.h"
#include "testbench/files/result_files.h"
#include "testbench/files/temporary_file.h"
#include "testbench/sweep/store/csv_file.h"
#include "testbench/sweep/store/database.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

const char* const store_schema = "heddle.sweep_store/1";
const char* const point_schema = "heddle.point/1";

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    const int error = errno;
    throw unwritable_result("cannot make the folder '" + path + "': " + std::strerror(error), error);
  }
}

// A table of another program is not overwritten: ours begin with the names of their first columns. An empty file may
// be overwritten.
void check_csv(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || status.st_size == 0) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"), &std::fclose);
  std::string begin(csv_head().size(), '\0');
  if (!in || std::fread(begin.data(), 1, begin.size(), in.get()) != begin.size() || begin != csv_head()) {
    throw input_error("store: '" + file + "' is not a table of a sweep's results (it does not begin with \"" +
                      csv_head() + "\") and would be replaced; expected another store, or that file elsewhere");
  }
}

// True unless the folder is new: empty, or with the unfinished description of another process.
bool holds_files(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  while (const dirent* e = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string name = e->d_name;
    if (name != "." && name != ".." && name != "store.json" && name.rfind(".heddle-", 0) != 0) return true;
  }
  return false;
}

// A result's file begins with this text, so that the status can be read without the rest.
std::string head(const std::string& status) {
  return std::string("{\"schema\":\"") + point_schema + "\",\"status\":\"" + status + "\",";
}

const std::string metrics_key = ",\"metrics\":";
const std::string tail = "}\n";
const char* const hexadecimal = "0123456789abcdef";

}  // namespace

result_store::result_store(std::string database, std::string version)
    : database_(std::move(database)), version_(std::move(version)) {}

std::string result_store::description() const {
  return nlohmann::ordered_json{{"schema", store_schema}, {"version", version_}}.dump() + "\n";
}

void result_store::check() const {
  const std::string who = "store";
  if (csv() == database_)
    throw input_error("store: '" + database_ + "' is the name of the CSV, expected another, such as results.sqlite");
  for (const std::string& file : {database_, csv()})
    if (find_output(file, who).what != output_place::kind::file)
      throw input_error("store: cannot write '" + file + "': it is a device, expected a regular file");
  check_csv(csv());
  if (exists(database_)) check_database(database_, store_schema, version_);
  struct stat status;
  if (::stat(folder().c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) throw input_error("store: '" + folder() + "' is not a directory");
  if (::access(folder().c_str(), W_OK | X_OK) != 0)
    throw input_error("store: cannot write to '" + folder() + "': " + std::strerror(errno));
  const std::string file = folder() + "/store.json";
  if (!exists(file)) {
    if (holds_files(folder()))
      throw input_error("store: '" + folder() + "' holds something else than results of sweeps");
    return;
  }
  const auto described = nlohmann::json::parse(read_file(file, who), nullptr, false);
  if (!described.is_object() || described.value("schema", nlohmann::json()) != store_schema) {
    throw input_error("store: '" + folder() + "' holds something else than results of sweeps");
  }
  if (described.value("version", nlohmann::json()) != version_) {
    throw input_error("store: '" + database_ + "' is of version " +
                      described.value("version", nlohmann::json()).dump() + " of Heddle, this is \"" + version_ +
                      "\"; expected another store");
  }
}

void result_store::create() const {
  make_folder(folder());
  const std::string file = folder() + "/store.json";
  if (exists(file)) return;
  result_files files;
  files.add(file, description());
  files.commit();
}

void result_store::remove_if_empty() const {
  std::error_code ignored;
  std::size_t files = 0;
  for (std::filesystem::directory_iterator at(folder(), ignored), end; !ignored && at != end; at.increment(ignored))
    ++files;
  const std::string file = folder() + "/store.json";
  if (files != 1 || !exists(file)) return;
  std::remove(file.c_str());
  ::rmdir(folder().c_str());
}

std::string result_store::csv() const {
  const std::string ending = ".sqlite";
  const bool usual = database_.size() > ending.size() &&
                     database_.compare(database_.size() - ending.size(), ending.size(), ending) == 0;
  return (usual ? database_.substr(0, database_.size() - ending.size()) : database_) + ".csv";
}

std::string result_store::point_file(const std::string& id) const {
  return folder() + "/" + id.substr(0, 2) + "/" + id.substr(2) + ".json";
}

std::string result_store::checkpoint_file(const std::string& id) const {
  return folder() + "/" + id.substr(0, 2) + "/" + id.substr(2) + ".ckpt";
}

std::string result_store::new_checkpoint_file(const std::string& id) const {
  make_folder(folder() + "/" + id.substr(0, 2));
  return checkpoint_file(id);
}

point_status result_store::status(const std::string& id) const {
  const int fd = ::open(point_file(id).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(fd < 0 ? nullptr : ::fdopen(fd, "rb"), &std::fclose);
  if (!in) return point_status::missing;
  char text[128];
  const std::size_t got = std::fread(text, 1, sizeof text, in.get());
  const std::string begin(text, got);
  if (std::fseek(in.get(), -static_cast<long>(tail.size()), SEEK_END) != 0) return point_status::missing;
  if (std::fread(text, 1, tail.size(), in.get()) != tail.size() || std::string(text, tail.size()) != tail)
    return point_status::missing;
  for (std::size_t i = 0; i < point_status_count; ++i) {
    const auto status = static_cast<point_status>(i);
    if (begin.rfind(head(name_of(status)), 0) == 0) return status;
  }
  return point_status::missing;
}

point_result result_store::read(const std::string& id) const {
  const std::string file = point_file(id);
  if (!exists(file)) return {};
  std::string content = read_file(file, "store");
  point_result r;
  // The metrics come last and are passed on unparsed. The key cannot occur within a string, where its quotation marks
  // would be escaped.
  const std::size_t begin = content.find(metrics_key);
  if (begin != std::string::npos && content.size() >= begin + metrics_key.size() + tail.size() &&
      content.compare(content.size() - tail.size(), tail.size(), tail) == 0) {
    r.metrics = content.substr(begin + metrics_key.size(), content.size() - tail.size() - begin - metrics_key.size());
    content.resize(begin);
    content += '}';
  }
  const auto all = nlohmann::ordered_json::parse(content, nullptr, false);
  const auto text = [&](const char* key) {
    const auto found = all.find(key);
    return found != all.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!all.is_object() || text("schema") != point_schema || text("id") != id) return {};
  r.status = status_of(text("status"));
  r.reason = text("reason");
  return r;
}

void result_store::write(const std::string& id, const point_result& result) const {
  const auto quoted = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::string text = head(name_of(result.status)) + "\"id\":\"" + id + "\",\"version\":" + quoted(version_) +
                     ",\"reason\":" + quoted(result.reason);
  if (!result.metrics.empty()) text += metrics_key + result.metrics;
  make_folder(folder() + "/" + id.substr(0, 2));
  const std::string file = point_file(id);
  temporary_file temporary(unfinished_begin(id, ::getpid()) + random_word() + ".tmp");
  const int fd = ::open(temporary.name().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(fd < 0 ? nullptr : ::fdopen(fd, "wb"), &std::fclose);
  text += tail;
  const bool written = out && std::fwrite(text.data(), 1, text.size(), out.get()) == text.size() &&
                       std::fflush(out.get()) == 0 && ::fsync(::fileno(out.get())) == 0;
  if (!written || std::fclose(out.release()) != 0 || std::rename(temporary.name().c_str(), file.c_str()) != 0) {
    const int error = errno;
    throw unwritable_result("cannot write '" + file + "': " + std::strerror(error), error);
  }
  temporary.keep();
}

// Machine and process are in the name, so that unfinished files of other processes do not collide with ours.
std::string result_store::unfinished_begin(const std::string& id, int process) const {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return folder() + "/" + id.substr(0, 2) + "/.heddle-" + host + "-" + std::to_string(process) + "-";
}

void result_store::remove(const std::string& id) const { ::unlink(point_file(id).c_str()); }

void result_store::remove_unfinished(const std::string& id, int process) const {
  const std::string begin = unfinished_begin(id, process);
  const std::string part = begin.substr(0, begin.rfind('/'));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(part.c_str()), &::closedir);
  if (!entries) return;
  while (const dirent* e = ::readdir(entries.get())) {
    const std::string file = part + "/" + e->d_name;
    if (file.rfind(begin, 0) == 0) ::unlink(file.c_str());
  }
}

void result_store::remove_old_unfinished() const {
  constexpr std::time_t old_seconds = 3600;
  const std::time_t now = std::time(nullptr);
  for (unsigned i = 0; i < 256; ++i) {
    const std::string part = folder() + "/" + hexadecimal[i / 16] + hexadecimal[i % 16];
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(part.c_str()), &::closedir);
    if (!entries) continue;
    while (const dirent* e = ::readdir(entries.get())) {
      const std::string file = part + "/" + e->d_name;
      struct stat status;
      if (std::strncmp(e->d_name, ".heddle-", 8) != 0 || ::lstat(file.c_str(), &status) != 0) continue;
      if (now - status.st_mtime > old_seconds) ::unlink(file.c_str());
    }
  }
}

}  // namespace heddle::testbench
