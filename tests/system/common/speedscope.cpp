// SPDX-License-Identifier: MIT
#include "tests/system/common/speedscope.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace heddle::tests {

using json = nlohmann::json;

namespace {

// Waits until `what` is true; false after 50 seconds.
std::string awaited(const std::string& what) {
  return "new Promise((done) => { const since = Date.now(); const look = () => (" + what +
         ") ? done(true) : Date.now() - since > 50000 ? done(false) : setTimeout(look, 20); look(); })";
}

// The innermost element whose text ends with these words.
const char* const element =
    R"(((words) => [...document.querySelectorAll('div')].filter((e) => e.textContent.trim().endsWith(words)).pop()))";

}  // namespace

std::string speedscope::page() {
  const char* named = std::getenv("HEDDLE_SPEEDSCOPE");
  const std::string page =
      named != nullptr ? named : HEDDLE_SOURCE "/build/viewers/node_modules/speedscope/dist/release/index.html";
  return std::filesystem::exists(page) ? page : "";
}

speedscope::speedscope(browser& chromium, const std::string& file, unsigned width) : chromium_(chromium) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  chromium_.open(page(), width, false);
  chromium_.evaluate(
      "(() => { const all = new DataTransfer(); all.items.add(new File([" + json(text).dump() +
      "], 'timeline.json')); [...document.querySelectorAll('div')].pop().dispatchEvent(new DragEvent('drop', "
      "{ dataTransfer: all, bubbles: true, cancelable: true })); })()");
  if (!chromium_.evaluate(
          awaited("document.title.startsWith('timeline.json') && document.querySelectorAll('canvas').length > 1")))
    throw std::runtime_error("speedscope does not show " + file);
  chromium_.change(width, false);
}

json speedscope::exported() {
  return chromium_.evaluate(
      std::string(
          "(async () => { const make = URL.createObjectURL; let blob; URL.createObjectURL = (b) => { blob = b; return make.call(URL, b); }; ") +
      element + "('Export').click(); await " + awaited("blob") +
      "; URL.createObjectURL = make; return JSON.parse(await blob.text()); })()");
}

std::string speedscope::track() {
  return chromium_.evaluate(
      "(document.body.innerText.match(/^.* \\(\\d+\\/\\d+\\)$/m) ?? [''])[0].replace(/ \\(\\d+\\/\\d+\\)$/, '')");
}

void speedscope::next() {
  const std::string before = json(track()).dump();
  chromium_.evaluate("window.dispatchEvent(new KeyboardEvent('keypress', { key: 'n', bubbles: true }))");
  chromium_.evaluate(awaited("!document.body.innerText.includes(" + before + ")"));
}

unsigned speedscope::drawn() {
  return chromium_.evaluate(
      R"([...document.querySelectorAll('canvas')].map((c) => [c, c.getContext('2d')]).filter(([, d]) => d)
    .reduce((sum, [c, d]) => sum + d.getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 128).length, 0))");
}

}  // namespace heddle::tests
