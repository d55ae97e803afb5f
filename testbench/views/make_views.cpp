// SPDX-License-Identifier: MIT
#include "testbench/views/make_views.h"

#include "heddle/config/error.h"
#include "heddle/observe/pipeline_view.h"
#include "heddle/observe/timeline.h"
#include "heddle/observe/waveform.h"
#include "testbench/views/line_view.h"

namespace heddle::testbench {

namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// `--vcd`: the waveform, and beside it the layout that GTKWave opens it with.
class waveform_view : public view {
 public:
  waveform_view(const run_options& o, gpu& g, const power_ledger* ledger, result_files& files)
      : directory_(directory_of(o.vcd_file)),
        name_(o.vcd_file.substr(directory_.size())),
        files_(files),
        option_(o.vcd_option),
        waveform_(g, files.reserve(o.vcd_file, option_), o.trace_scope, o.trace_begin, o.trace_end - 1, ledger) {
    if (o.layout_begin != ~std::uint64_t{0}) waveform_.open_at(o.layout_begin);
  }

  void finish(const std::string& mark) override {
    try {
      waveform_.close(mark);
    } catch (const input_error&) {
      throw input_error(std::string(option_) + ": cannot write '" + directory_ + name_ +
                        "': the disk is full, or the file's size is limited");
    }
    for (const auto& [name, text] : waveform_.layout(name_)) files_.add(directory_ + name, text, option_);
  }

 private:
  std::string directory_;
  std::string name_;
  result_files& files_;
  const char* option_;
  waveform waveform_;
};

/// `--timeline`.
class timeline_view : public view {
 public:
  timeline_view(const run_options& o, gpu& g, const power_ledger* ledger, result_files& files)
      : name_(o.timeline_file),
        timeline_(g, files.reserve(o.timeline_file, "--timeline"), o.trace_begin, o.trace_end, ledger) {}

  void finish(const std::string& mark) override {
    try {
      timeline_.close(mark);
    } catch (const input_error&) {
      throw input_error("--timeline: cannot write '" + name_ + "': the disk is full, or the file's size is limited");
    }
  }

 private:
  std::string name_;
  timeline timeline_;
};

/// `--pipeline`.
class instruction_view : public view {
 public:
  instruction_view(const run_options& o, gpu& g, result_files& files)
      : name_(o.pipeline_file),
        option_(o.pipeline_option),
        pipeline_(g, files.reserve(o.pipeline_file, option_), o.trace_scope, o.trace_begin, o.trace_end) {}

  void finish(const std::string& mark) override {
    try {
      pipeline_.close(mark);
    } catch (const input_error&) {
      throw input_error(std::string(option_) + ": cannot write '" + name_ +
                        "': the disk is full, or the file's size is limited");
    }
  }

 private:
  std::string name_;
  const char* option_;
  pipeline_view pipeline_;
};

}  // namespace

std::vector<std::unique_ptr<view>> make_views(const run_options& o, gpu& g, const power_ledger* ledger,
                                              result_files& files) {
  std::vector<std::unique_ptr<view>> views;
  if (!o.vcd_file.empty()) views.push_back(std::make_unique<waveform_view>(o, g, ledger, files));
  if (!o.timeline_file.empty()) views.push_back(std::make_unique<timeline_view>(o, g, ledger, files));
  if (!o.pipeline_file.empty()) views.push_back(std::make_unique<instruction_view>(o, g, files));
  if (!o.watched.result.empty()) views.push_back(std::make_unique<line_view>(o, g, files));
  return views;
}

std::vector<view_file> view_files(const run_options& o) {
  std::vector<view_file> files;
  if (!o.vcd_file.empty()) {
    const std::string directory = directory_of(o.vcd_file);
    files.push_back({o.vcd_file, o.vcd_option});
    for (const std::string& n : waveform::layout_names(o.vcd_file.substr(directory.size())))
      files.push_back({directory + n, o.vcd_option});
  }
  if (!o.timeline_file.empty()) files.push_back({o.timeline_file, "--timeline"});
  if (!o.pipeline_file.empty()) files.push_back({o.pipeline_file, o.pipeline_option});
  return files;
}

}  // namespace heddle::testbench
