// SPDX-License-Identifier: MIT
#include "heddle/config/shipped.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/input_file.h"
#include "heddle/config/parameters.h"
#include "heddle/config/suggestion.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// share/heddle/configs of the tree in which `file` is installed: PREFIX/bin, PREFIX/lib or PREFIX/lib/ARCHITECTURE;
/// otherwise "".
fs::path installed_beside(const fs::path& file) {
  std::error_code ignored;
  fs::path directory = fs::weakly_canonical(file, ignored).parent_path();
  for (int level = 0; level < 3 && directory.has_relative_path(); ++level) {
    directory = directory.parent_path();
    const fs::path configs = directory / "share" / "heddle" / "configs";
    if (fs::is_directory(configs, ignored)) return configs;
  }
  return {};
}

/// The directory of the shipped configurations: the user's choice, that of the tree in which the library or the program
/// is installed, that of the source tree, or the build's install directory.
fs::path config_directory() {
  if (const char* set = std::getenv("HEDDLE_CONFIGS"); set != nullptr && *set != '\0') return set;
  std::error_code ignored;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&shipped_config_file), &self) != 0 && self.dli_fname != nullptr)
    if (const fs::path found = installed_beside(self.dli_fname); !found.empty()) return found;
  if (const fs::path found = installed_beside(fs::read_symlink("/proc/self/exe", ignored)); !found.empty())
    return found;
  if (fs::is_directory(HEDDLE_SOURCE_CONFIGS, ignored)) return HEDDLE_SOURCE_CONFIGS;
  return HEDDLE_INSTALLED_CONFIGS;
}

/// Newer chips have a higher compute capability, so it stands for age; if the file lacks it, that of its base counts. A
/// file that cannot be read is sorted last; the error is reported when it is loaded.
int age_of(std::string file) {
  constexpr int most_files = 8;
  try {
    for (int k = 0; k < most_files; ++k) {
      ini_entry base;
      for (const ini_entry& entry : read_ini(read_text_file(file), file, nullptr, &base))
        if (entry.section == "gpu" && entry.key == "compute_capability") {
          gpu_config config;
          config.gpu.compute_capability = choice::named<choice::compute_capability>(entry.value);
          return compute_capability(config);
        }
      if (base.line == 0) break;
      file = base_file(base.value, file);
    }
  } catch (const input_error&) {}
  return 100000;
}

}  // namespace

std::string no_shipped_gpus() {
  return "no configurations in " + printable(config_directory().string()) + " (HEDDLE_CONFIGS names another directory)";
}

std::string shipped_config_folder() { return config_directory().string(); }

std::vector<std::string> shipped_gpus() {
  std::vector<std::tuple<int, std::string>> found;
  std::error_code error;
  fs::directory_iterator at(config_directory(), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() == ".ini" && at->is_regular_file(ignored))
      found.emplace_back(age_of(at->path().string()), at->path().stem().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (const auto& gpu : found) names.push_back(std::get<1>(gpu));
  return names;
}

bool names_a_file(const std::string& text) {
  const std::string ending = ".ini";
  const bool ini = text.size() > ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
  return ini || text.find('/') != std::string::npos;
}

std::string base_file(const std::string& text, const std::string& file) {
  if (!names_a_file(text)) return (config_directory() / (text + ".ini")).string();
  if (names_own_descriptor(file)) return text;
  return (fs::path(file).parent_path() / text).string();
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) && !ignored;
}

const std::string& default_gpu() {
  static const std::string name = gpu_config().gpu.name;
  return name;
}

std::string shipped_config_file(const std::string& name) {
  const fs::path file = config_directory() / (name + ".ini");
  std::error_code ignored;
  if (!name.empty() && fs::is_regular_file(file, ignored)) return file.string();
  const std::vector<std::string> names = shipped_gpus();
  if (names.empty()) throw input_error("unknown GPU '" + printable(name) + "': " + no_shipped_gpus());
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  throw input_error("unknown GPU '" + printable(name) + "', expected one of " + list + " or a file NAME.ini" +
                    suggestion(name, names));
}

}  // namespace heddle
