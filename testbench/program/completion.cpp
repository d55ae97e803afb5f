// SPDX-License-Identifier: MIT
#include "testbench/program/completion.h"

#include <algorithm>
#include <cstdio>

#include "heddle/config/config.h"
#include "heddle/config/parameter_table.h"
#include "heddle/frontend/ptx/lower.h"
#include "testbench/job/arguments.h"
#include "testbench/program/command_table.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

/// The possible completions of a word.
class candidates {
 public:
  /// Only candidates that begin with `word` count; `prefix`, the part of the word before it, is kept.
  candidates(std::string word, std::string prefix) : word_(std::move(word)), prefix_(std::move(prefix)) {}

  [[nodiscard]] const std::string& word() const { return word_; }
  void add(const std::string& text, const std::string& what = "") {
    if (begins(text, word_)) text_ += prefix_ + text + (what.empty() ? "" : "\t" + what) + "\n";
  }
  void files(const std::string& ending) { endings_ += " " + ending; }
  void folders() { folders_ = true; }
  [[nodiscard]] std::string take() const {
    return text_ + (folders_ ? ":folders\n" : endings_.empty() ? "" : ":files" + endings_ + "\n");
  }

 private:
  std::string word_;
  std::string prefix_;
  std::string text_;
  std::string endings_;
  bool folders_ = false;
};

void add_parameters(candidates& found) {
  const auto equals = found.word().find('=');
  if (equals == std::string::npos) {
    for (const parameter& p : parameters()) found.add(p.name() + "=", without_links(p.description));
    return;
  }
  const parameter* p = find_parameter(found.word().substr(0, equals));
  if (p == nullptr || p->is_number() || p->is_list) return;
  if (!p->is_text)
    for (const std::string& value : split(p->values(), ','))
      found.add(p->name() + "=" + value.substr(value.find_first_not_of(' ')));
}

void add_arguments(candidates& found) {
  for (const std::string& scalar : scalar_names()) found.add(scalar + ":", "a number");
  found.add("buf:", "a buffer: BYTES[:iota32|:iotaf|:random:SEED]");
  found.add("in:", "a buffer from a FILE");
  found.add("out:", "a buffer of BYTES, written to a FILE at the end");
  found.add("inout:", "a buffer from a FILE, written to another at the end");
  for (const char* fill : {"zero", "iota32", "iotaf", "random:"}) {
    const auto colon = found.word().find(':', 4);
    if (begins(found.word(), "buf:") && colon != std::string::npos) found.add(found.word().substr(0, colon + 1) + fill);
  }
}

// The kernels of a module after its name and a colon.
void add_entries(candidates& found) {
  const auto colon = found.word().rfind(':');
  if (colon == std::string::npos) return;
  const std::string file = found.word().substr(0, colon);
  for (const std::string& kernel : ptx::kernels(*ptx::parse(read_file(file, "complete"), file)))
    found.add(file + ":" + kernel);
}

/// The possible values of an option or operand of this meaning.
void add_meaning(candidates& found, const std::string& meaning) {
  for (const std::string& part : split(meaning, '|')) {
    const auto dot = part.find('.');
    if (part == "NAME") {
      for (const std::string& gpu : shipped_gpus()) found.add(gpu);
    } else if (part == "COMMAND") {
      for (const command& c : command_table()) found.add(c.name, c.uses[0].second);
    } else if (part == "DIR") {
      found.folders();
    } else if (part == "SECTION.KEY=VALUE") {
      add_parameters(found);
    } else if (part == "TYPE:VALUE") {
      add_arguments(found);
    } else if (std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::islower(c); })) {
      found.add(part);
    } else if (dot != std::string::npos) {
      found.files(part.substr(dot + 1, part.find('[') - dot - 1));
      if (part.find(":ENTRY") != std::string::npos) add_entries(found);
    }
  }
}

void add_options(candidates& found, const option_parser& p, const std::vector<std::string>& before) {
  for (const option_group& g : p.groups()) {
    for (const option_entry& o : g.options) {
      const bool given = std::find(before.begin(), before.end(), "--" + o.name) != before.end();
      if (!given || o.repeatable) found.add("--" + o.name, o.help);
    }
  }
}

/// The option whose value is the word after this one; nullptr: none.
const option_entry* takes_the_next(const option_parser& p, const std::string& word) {
  if (word.size() < 2 || word[0] != '-' || word.find('=') != std::string::npos) return nullptr;
  const option_entry* o = p.find(word.substr(word[1] == '-' ? 2 : 1));
  return o && !o->meaning.empty() && !o->may_lack_value ? o : nullptr;
}

std::string complete(std::vector<std::string> words) {
  std::string word;
  if (!words.empty()) {
    word = words.back();
    words.pop_back();
  }
  if (words.empty()) {
    candidates found(word, "");
    add_meaning(found, "COMMAND");
    for (const char* option : {"--help", "--version"}) found.add(option);
    return found.take();
  }
  const option_parser p = command_named(words[0]).options();
  const auto equals = word.find('=');
  if (const option_entry* o = takes_the_next(p, words.back())) {
    candidates found(word, "");
    add_meaning(found, o->meaning);
    return found.take();
  }
  if (begins(word, "--") && equals != std::string::npos) {
    const option_entry* o = p.find(word.substr(2, equals - 2));
    candidates found(word.substr(equals + 1), word.substr(0, equals + 1));
    if (o) add_meaning(found, o->meaning);
    return found.take();
  }
  candidates found(word, "");
  if (begins(word, "-")) {
    add_options(found, p, words);
  } else {
    add_meaning(found, p.operand_meaning());
  }
  return found.take();
}

}  // namespace

int complete_command(const std::vector<std::string>& arguments) {
  const bool marked = !arguments.empty() && arguments[0] == "--";
  try {
    std::fputs(complete({arguments.begin() + marked, arguments.end()}).c_str(), stdout);
  } catch (const std::exception&) {
    // The command line is still incomplete; errors are reported when it is run.
  }
  return 0;
}

std::string bash_completion() {
  return R"script(# bash completion for heddle
_heddle()
{
    local line=${COMP_LINE:0:COMP_POINT} word kept candidate endings
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[-1]}
    # bash completes what follows the last of these, so what precedes it is taken off.
    kept=${word%"${word##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r candidate; do
        case $candidate in
            :folders) compopt -o filenames; COMPREPLY+=($(compgen -d -- "${word#"$kept"}")) ;;
            :files*)
                compopt -o filenames
                COMPREPLY+=($(compgen -d -- "${word#"$kept"}"))
                for endings in ${candidate#:files}; do COMPREPLY+=($(compgen -f -X "!*.$endings" -- "${word#"$kept"}")); done
                ;;
            *)
                candidate=${candidate%%$'\t'*}
                [[ $candidate == *[=:] ]] && compopt -o nospace
                COMPREPLY+=("${candidate#"$kept"}")
                ;;
        esac
    done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
} && complete -F _heddle heddle
)script";
}

std::string zsh_completion() {
  return R"script(#compdef heddle
_heddle()
{
    local line
    local -a all shown open open_shown endings
    local -i folders
    for line in "${(@f)$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            '') ;;
            :folders) folders=1 ;;
            :files*) endings=(${=line#:files}) ;;
            *[=:] | *[=:]$'\t'*) open+=("${line%%$'\t'*}"); open_shown+=("${line/$'\t'/  }") ;;
            *) all+=("${line%%$'\t'*}"); shown+=("${line/$'\t'/  }") ;;
        esac
    done
    (( ${#open} )) && compadd -S '' -l -d open_shown -a open
    (( ${#all} )) && compadd -l -d shown -a all
    [[ $PREFIX == --*=* ]] && compset -P '*='
    (( folders )) && _files -/
    (( ${#endings} )) && _files -g "*.(${(j:|:)endings})(-.)"
    return 0
}
if [[ $funcstack[1] == _heddle ]]; then _heddle "$@"; else compdef _heddle heddle; fi
)script";
}

std::string fish_completion() {
  return R"script(# fish completion for heddle
function __heddle_complete
    set -l typed (commandline -opc) (commandline -ct)
    for line in ($typed[1] complete -- $typed[2..-1] 2>/dev/null)
        switch $line
            case ':folders'
                __fish_complete_directories (commandline -ct) ''
            case ':files*'
                set -l word (commandline -ct)
                for ending in (string split -n ' ' -- (string replace ':files' '' -- $line))
                    for file in $word*.$ending
                        echo $file
                    end
                end
                __fish_complete_directories $word ''
            case '*'
                echo $line
        end
    end
end
complete -c heddle -f -a '(__heddle_complete)'
)script";
}

}  // namespace heddle::testbench
