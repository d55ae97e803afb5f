// SPDX-License-Identifier: MIT
#include "testbench/program/wrong_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"
#include "heddle/frontend/ptx/lower.h"
#include "testbench/options/options.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

namespace fs = std::filesystem;

enum class file_kind : std::uint8_t {
  unknown,
  directory,
  job,
  ptx,
  cuda_source,
  host_program,
  cubin,
  fat_binary,
  configuration,
  sweep,
  kernels_list,
  trace,
  raw_trace,
  metrics,
  store,
  suite,
  profiler_export
};

bool ends_in_one_of(const std::string& text, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const std::string& e) { return ends(text, e); });
}

/// The beginning of a regular file, long enough to recognise its kind; empty if it cannot be read.
std::string beginning_of(const std::string& file) {
  constexpr std::size_t enough = 65536;
  std::string text(enough, '\0');
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return "";
  struct stat status;
  ssize_t got = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? ::read(fd, text.data(), text.size()) : 0;
  ::close(fd);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

file_kind kind_of_binary(const std::string& name, const std::string& text) {
  constexpr unsigned char cuda_machine = 190;
  if (begins(text,
             "\x7f"
             "ELF"))
    return text.size() > 19 && static_cast<unsigned char>(text[18]) == cuda_machine ? file_kind::cubin
                                                                                    : file_kind::host_program;
  if (begins(text, "\x50\xed\x55\xba")) return file_kind::fat_binary;
  if (begins(text, "SQLite format 3")) return file_kind::store;
  if (name.find(".traceg.") != std::string::npos) return file_kind::trace;
  return file_kind::unknown;
}

bool is_configuration_section(const std::string& name) {
  const auto& all = parameters();
  return std::any_of(all.begin(), all.end(), [&](const parameter& p) { return p.section == name; });
}

/// INI text: the name of the first section decides.
file_kind kind_of_ini(const std::string& text) {
  for (std::string line : split(text, '\n')) {
    line.erase(0, std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line[0] == ';' || line[0] == '#') continue;
    if (begins(line, "base") && line.find('=') == line.find_first_not_of(" \t", 4)) return file_kind::configuration;
    if (line[0] != '[' || line.find(']') == std::string::npos) return file_kind::unknown;
    const std::string section = line.substr(1, line.find(']') - 1);
    if (section == "sweep" || section == "axes") return file_kind::sweep;
    return is_configuration_section(section) ? file_kind::configuration : file_kind::unknown;
  }
  return file_kind::unknown;
}

file_kind kind_of(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) return file_kind::directory;
  const std::string text = beginning_of(file);
  if (const file_kind binary = kind_of_binary(file, text); binary != file_kind::unknown || text.empty()) return binary;
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto holds = [&](const char* part) { return text.find(part) != std::string::npos; };
  if (first != std::string::npos && text[first] == '{')
    return holds("\"heddle.metrics/") ? file_kind::metrics
           : holds("\"launches\"")    ? file_kind::job
                                      : file_kind::unknown;
  if (begins(text, "-kernel name")) return ends(file, ".trace") ? file_kind::raw_trace : file_kind::trace;
  if (ends_in_one_of(file, {".cu", ".cuh"}) || holds("__global__")) return file_kind::cuda_source;
  if (begins(text, ".version") || holds("\n.version")) return file_kind::ptx;
  if (begins(text, "gpu,kernel,run")) return file_kind::suite;
  if (begins(text, "==PROF==") || begins(text, "\"ID\",\"Process ID\"") || holds("NVPROF is profiling"))
    return file_kind::profiler_export;
  if (begins(text, "kernel-") || begins(text, "MemcpyHtoD,")) return file_kind::kernels_list;
  return kind_of_ini(text);
}

/// The command to run a kernel of the module, such as "heddle run --kernel x.ptx:saxpy --grid X --block X --arg s32:N
/// --arg buf:BYTES".
std::string launch_of(const std::string& file) {
  std::string line = "heddle run --kernel " + printable(file);
  try {
    const auto module = ptx::parse(read_file(file, "run"), file);
    for (const ptx::ast_function& f : module->functions) {
      if (!f.is_entry || !f.has_body) continue;
      line += ":" + f.name + " --grid X --block X";
      for (const ptx::ast_variable& v : f.parameters) {
        const bool address = v.pointer || v.type_name == "u64" || v.type_name == "b64";
        line += v.is_array ? " --arg in:FILE" : " --arg " + (address ? std::string("buf:BYTES") : v.type_name + ":N");
      }
      return line;
    }
  } catch (const std::exception&) {
    // Errors in the module are reported when it is run.
  }
  return line + " --grid X --block X --arg TYPE:VALUE";
}

/// How to use the PTX that is first compiled from `file`.
std::string then(const std::string& command) {
  return command == "disasm" ? "then heddle disasm x.ptx"
                             : "then heddle run --kernel x.ptx --grid X --block X --arg TYPE:VALUE";
}

/// What is in the folder for the command: its usual file, or the first one with the ending of such files.
std::string with_directory(const std::string& command, file_kind wanted, const std::string& folder) {
  std::error_code ignored;
  const fs::path place = folder;
  const auto use = [&](const std::string& what, const std::string& file) {
    return "heddle " + what + " " + printable((place / file).lexically_normal().string());
  };
  const bool of_job = wanted == file_kind::job, of_list = wanted == file_kind::kernels_list;
  const std::pair<const char*, const char*> usual[] = {{"job.json", "run"}, {"kernelslist.g", "replay"}};
  if (of_job || of_list)
    for (const auto& [name, what] : usual)
      if (fs::is_regular_file(place / name, ignored)) return use(what, name);
  const std::string ending = wanted == file_kind::sweep   ? ".ini"
                             : wanted == file_kind::suite ? ".csv"
                             : wanted == file_kind::ptx   ? ".ptx"
                             : of_list                    ? ".g"
                                                          : ".json";
  std::vector<std::string> found;
  for (fs::directory_iterator at(place, ignored), end; !ignored && at != end && found.size() < 100;
       at.increment(ignored)) {
    const std::string file = at->path().filename().string();
    if (ends(file, ending)) found.push_back(file);
  }
  if (found.empty()) return "name a file of it";
  const bool of_kernel = wanted == file_kind::ptx && command == "run";
  return use(of_kernel ? "run --kernel" : command, *std::min_element(found.begin(), found.end()));
}

std::string with_trace(const std::string& file) {
  std::error_code ignored;
  const fs::path list = fs::path(file).parent_path() / "kernelslist.g";
  if (fs::is_regular_file(list, ignored)) return "heddle replay " + printable(list.string());
  return "write its name into a file kernelslist.g beside it, then heddle replay " + printable(list.string());
}

/// The kind of a file and how to use it; the text follows "FILE is ".
std::string advice(file_kind kind, const std::string& command, file_kind wanted, const std::string& file) {
  const std::string name = printable(file);
  switch (kind) {
    case file_kind::directory: return "a directory: " + with_directory(command, wanted, file);
    case file_kind::job: return "a job: heddle run " + name;
    case file_kind::ptx: return "PTX: " + (command == "disasm" ? "heddle disasm " + name : launch_of(file));
    case file_kind::cuda_source:
      return "CUDA source: nvcc -ptx " + name + " -o x.ptx (or clang++ --cuda-device-only -S), " + then(command);
    case file_kind::host_program:
      return "a program of this machine: cuobjdump -ptx " + name +
             " takes the PTX of its CUDA kernels out; save it as x.ptx, " + then(command);
    case file_kind::fat_binary:
      return "a CUDA fat binary: cuobjdump -ptx " + name + " takes its PTX out; save it as x.ptx, " + then(command);
    case file_kind::cubin:
      return "a GPU's machine code, which Heddle does not run: compile its source with nvcc -ptx -o x.ptx, " +
             then(command);
    case file_kind::configuration: return "a GPU's configuration: heddle run JOB.json --gpu " + name;
    case file_kind::sweep: return "a sweep: heddle sweep " + name;
    case file_kind::kernels_list: return "a list of traces: heddle replay " + name;
    case file_kind::trace: return "the trace of one kernel: " + with_trace(file);
    case file_kind::raw_trace:
      return "a trace as the tracer writes it: Accel-Sim's post-traces-processing makes a .traceg and a kernelslist.g of it";
    case file_kind::metrics: return "the metrics of a run: heddle report " + name + " -o REPORT.html";
    case file_kind::store: return "a database, perhaps a sweep's store: heddle report " + name + " -o REPORT.html";
    case file_kind::suite: return "a suite of measurements: heddle correlate " + name;
    case file_kind::profiler_export:
      return "what a profiler has exported: heddle correlate " + name + " --gpu NAME --run JOB.json";
    case file_kind::unknown: break;
  }
  return "";
}

void refuse_unless(const std::string& command, const std::string& file, std::initializer_list<file_kind> taken,
                   const std::string& expected) {
  const file_kind kind = kind_of(file);
  if (kind == file_kind::unknown || std::find(taken.begin(), taken.end(), kind) != taken.end()) return;
  throw input_error("'" + printable(file) + "' is " + advice(kind, command, *taken.begin(), file) + " (expected " +
                    expected + ")");
}

}  // namespace

void refuse_wrong_files(const command& c, const std::vector<std::string>& arguments) {
  const auto checks = [](const std::string& a) { return a.compare(0, 10, "--sanitize") == 0; };
  if (std::string(c.name) == "replay" && std::any_of(arguments.begin(), arguments.end(), checks))
    throw input_error(
        "--sanitize: a trace has no data that could be checked, expected heddle run or heddle exec (see heddle run --help)");
  const std::string name = c.name;
  // What follows "--" belongs to a program; `exec` counts it among its own arguments.
  const auto behind = name == "whatif" ? std::find(arguments.begin(), arguments.end(), "--") : arguments.end();
  option_parser p = c.options();
  if (p.parse({arguments.begin(), behind})) return;
  const auto module = [&](const std::string& text) {
    std::string file, kernel;
    split_kernel(text, file, kernel);
    refuse_unless(name, file, {file_kind::ptx}, "a PTX module");
  };
  for (const std::string& file : p.positionals()) {
    if (name == "run" && !p.has("kernel")) refuse_unless(name, file, {file_kind::job}, "a job file");
    if (name == "replay") refuse_unless(name, file, {file_kind::kernels_list}, "a list of traces");
    if (name == "sweep") refuse_unless(name, file, {file_kind::sweep}, "a sweep file");
    if (name == "report")
      refuse_unless(name, file, {file_kind::metrics, file_kind::store}, "metrics, or the store of a sweep");
    if (name == "correlate")
      refuse_unless(name, file, {file_kind::suite, file_kind::profiler_export},
                    "a suite, or what a profiler has exported (CSV)");
    if (name == "disasm") module(file);
  }
  if ((name == "run" || name == "disasm") && p.has("kernel")) module(p.text("kernel"));
}

}  // namespace heddle::testbench
