// SPDX-License-Identifier: MIT
#include "testbench/program/man_page.h"

#include <algorithm>
#include <cctype>

#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

/// Escapes text for groff: '-' stays the ASCII character that a user types, and no line begins with a control
/// character.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string head(const std::string& name, const std::string& purpose) {
  return ".TH " + upper(plain(name)) + " 1 \"\" \"heddle " HEDDLE_VERSION "\" \"Heddle\"\n.SH NAME\n" +
         plain(name + " - " + purpose) + "\n";
}

std::string paragraph(const std::string& text) { return ".PP\n" + plain(text) + "\n"; }
std::string item(const std::string& tag, const std::string& text) { return ".TP\n" + tag + "\n" + plain(text) + "\n"; }

std::string verbatim(const std::string& lines) { return ".PP\n.nf\n.RS\n" + plain(lines) + "\n.RE\n.fi\n"; }

std::string option_item(const option_entry& o) {
  const std::string meaning = "\\fI" + plain(o.meaning) + "\\fR";
  const std::string value = o.meaning.empty() ? "" : o.may_lack_value ? "[=" + meaning + "]" : " " + meaning;
  std::string tag = o.letter ? bold("-" + std::string(1, o.letter)) + ", " : "";
  tag += bold("--" + o.name) + value;
  std::string help = o.help;
  if (!o.also.empty()) help += "; --" + join(o.also, ", --") + " is accepted, too";
  return item(tag, help);
}

/// The sections that all commands share.
std::string tail(const std::string& self) {
  std::string text = ".SH EXIT STATUS\n";
  text += item("0", "done");
  text += item(
      "1",
      "the simulated program failed: an illegal address, a deadlock, a result that differs from what was expected, --max-cycles");
  text += item("2", "bad input: an unknown option, a wrong value, a syntax error, a block that fits no SM");
  text += item("3", "a fault in Heddle itself; the message says how to report it");
  text += ".SH ENVIRONMENT\n";
  text += item(bold("HEDDLE_CONFIGS"), "the folder of the shipped GPUs, where it is not the installed one");
  text += item(bold("HEDDLE_THREADS"), "the host threads of runs without --threads");
  text += item(bold("NO_COLOR"), "anything but nothing: no colours on a terminal");
  text += ".SH SEE ALSO\n";
  std::string others = self == "heddle" ? "" : bold("heddle") + "(1)";
  for (const std::string& name : command_names()) {
    if ("heddle-" + name == self) continue;
    others += (others.empty() ? "" : ",\n") + bold("heddle-" + name) + "(1)";
  }
  return text + others + "\n" +
         paragraph(
             "The pages in /usr/share/heddle/docs, or in docs/ of the source tree: use/first_hour.md, use/job.md, "
             "use/metrics.md.");
}

}  // namespace

std::string program_man_page() {
  std::string text = head("heddle", "a cycle-level model of a GPU that runs CUDA kernels");
  text += ".SH SYNOPSIS\n" + bold("heddle") + " \\fICOMMAND\\fR ...\n.br\n" + bold("heddle --help") + " | " +
          bold("--version") + "\n";
  text += ".SH DESCRIPTION\n";
  text +=
      plain(
          "Heddle is a SystemC TLM-2.0 model, cycle by cycle, of a GPU's streaming multiprocessors, caches and memory. It runs CUDA "
          "kernels (PTX as compilers emit it) without a GPU, says how many cycles they take and what they wait for, and writes metrics, "
          "a report for a browser, waveforms and timelines.") +
      "\n";
  text += ".SH COMMANDS\n";
  for (const command& c : command_table())
    for (const auto& [usage, purpose] : c.uses)
      text += item(bold(std::string("heddle ") + usage), std::string(purpose) + "; see heddle-" + c.name + "(1)");
  text += ".SH FILES\n";
  text += item("/usr/share/heddle/configs",
               "the shipped GPUs, one INI file each; copy one, edit it, and name it with --gpu FILE.ini");
  text += item("/usr/share/heddle/workloads", "kernels with jobs to begin with");
  text += item("/usr/share/heddle/waveforms", "layouts and filters for GTKWave");
  text += item("/usr/share/heddle/job.schema.json", "the schema of job files, for editors");
  return text + tail("heddle");
}

std::string command_man_page(const command& c) {
  const option_parser p = c.options();
  const std::string name = std::string("heddle-") + c.name;
  std::string text = head(name, c.uses[0].second);
  text += ".SH SYNOPSIS\n";
  const std::vector<std::string> lines = split(p.usage(), '\n');
  for (const std::string& line : lines) text += (&line == lines.data() ? "" : ".br\n") + bold("heddle " + line) + "\n";
  text += ".SH DESCRIPTION\n" + plain(p.purpose()) + "\n";
  for (const std::string& note : p.notes()) text += paragraph(note);
  text += ".SH OPTIONS\n";
  for (const option_group& g : p.groups()) {
    if (p.groups().size() > 1) text += ".SS " + plain(g.title) + "\n";
    for (const option_entry& o : g.options) text += option_item(o);
  }
  if (!p.examples().empty()) text += ".SH EXAMPLES\n";
  for (const auto& [arguments, purpose] : p.examples())
    text += paragraph(purpose + ":") + verbatim("heddle " + arguments);
  return text + tail(name);
}

}  // namespace heddle::testbench
