// SPDX-License-Identifier: MIT
// Pages in a headless browser, with checks that every page must pass.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/system/common/browser.h"
#include "tests/system/common/json_text.h"

namespace report_page_test {

namespace fs = std::filesystem;
using heddle::tests::browser;
using json = nlohmann::json;

// Checks that every page must pass; the result is a list of faults.
inline const char* const faults = R"((() => {
  const bad = [], all = (what, within = document) => [...within.querySelectorAll(what)];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) bad.push(`wider than the window: ${root.scrollWidth}`);
  if (all('h1').length !== 1) bad.push('not one h1');
  let level = 0;
  for (const heading of all('h1, h2, h3')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) bad.push(`heading out of order: ${heading.textContent}`);
    if (heading.textContent.trim() === '') bad.push('heading without text');
    level = next;
  }
  const text_of = (id) => document.getElementById(id)?.textContent.trim() ?? '';
  for (const chart of all('.chart')) {
    const name = chart.dataset.chart;
    if (chart.getAttribute('role') !== 'img' || !text_of(chart.getAttribute('aria-labelledby')) || !text_of(chart.getAttribute('aria-describedby')))
      bad.push(`${name} has no words`);
    const drawn = chart.querySelector('canvas') ? chart.querySelector('canvas').width > 0 : all('path', chart).length > 3;
    if (chart.dataset.drawn !== 'yes' || !drawn) bad.push(`${name} is not drawn`);
    if (/NaN|undefined/.test(chart.innerHTML)) bad.push(`${name} has no numbers`);
    // Bars side by side fill a row, however many rows the legend takes.
    const bars = () => all('path[fill^="#"]', chart).map((p) => p.getBBox()).filter((b) => b.height >= 12).reduce((sum, b) => sum + b.width, 0);
    if (/^(stalls|warp_states|compared_states)$/.test(name) && bars() < 0.3 * chart.clientWidth) bad.push(`${name} has no bars`);
    const figure = chart.closest('figure');
    if (!figure.querySelector('button.csv') || !figure.querySelector('summary')) bad.push(`${name} has no table or CSV`);
  }
  for (const field of all('select, input, button')) {
    const label = field.getAttribute('aria-label') || document.querySelector(`label[for="${field.id}"]`)?.textContent || field.textContent;
    if (!label?.trim()) bad.push('a field without a name');
    if (field.tabIndex < 0) bad.push('a field that the keyboard does not reach');
  }
  for (const table of all('table')) if (!table.caption || all('th[scope]', table).length === 0) bad.push('a table without caption or headers');
  const ids = all('[id]').map((e) => e.id);
  if (new Set(ids).size !== ids.length) bad.push('an id twice');
  for (const link of all('nav a')) if (!document.querySelector(link.getAttribute('href'))) bad.push(`a link to nowhere: ${link.href}`);
  const light = (colour) => { const [r, g, b] = colour.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  for (const element of all('h1, h2, p, td, th, a, dt, button, summary').slice(0, 400)) {
    let back = element;
    while (back && /rgba?\(0, 0, 0, 0\)|transparent/.test(getComputedStyle(back).backgroundColor)) back = back.parentElement;
    const a = light(getComputedStyle(element).color), b = light(getComputedStyle(back ?? document.body).backgroundColor);
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) { bad.push(`too little contrast: ${element.tagName} ${element.textContent.slice(0, 20)}`); break; }
  }
  return bad;
})())";

// Clicks a CSV button and returns the file that would be saved: [name, text].
inline const char* const csv_of = R"(((name) => new Promise((done) => {
  const make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
  let blob;
  URL.createObjectURL = (b) => { blob = b; return make.call(URL, b); };
  HTMLAnchorElement.prototype.click = function () { const file = this.download; blob.text().then((text) => done([file, text])); };
  document.querySelector(`[data-csv="${name}"]`).click();
  URL.createObjectURL = make;
  HTMLAnchorElement.prototype.click = click;
})))";

class report_pages : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string program = browser::program();
    fs::create_directories(HEDDLE_SCRATCH "/report_page");
    if (!program.empty()) chromium = std::make_unique<browser>(program, HEDDLE_SCRATCH "/report_page");
  }
  static void TearDownTestSuite() { chromium.reset(); }
  void SetUp() override {
    if (!chromium) GTEST_SKIP() << "no browser: install chromium-headless-shell, or name one in HEDDLE_BROWSER";
    place_ = fs::path(HEDDLE_SCRATCH "/report_page") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }

  void heddle(const std::string& arguments) {
    const std::string command = "cd '" + place_.string() + "' && '" HEDDLE_PROGRAM "' " + arguments + " >log.txt 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << arguments << "\n" << std::ifstream(place_ / "log.txt").rdbuf();
  }
  json metrics(const std::string& name) {
    std::ifstream in(place_ / name);
    return json::parse(in);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  static json value(const std::string& expression) { return chromium->evaluate(expression); }

  /// Opens the page at every width and in every theme; it must have no faults, and is left open at full width in the
  /// light theme.
  void sound(const std::string& name) {
    chromium->open(place_ / name, 400, true);
    for (const bool dark : {true, false})
      for (const unsigned width : {400u, 1600u}) {
        chromium->change(width, dark);
        EXPECT_EQ(theme(dark), true) << name << " " << width << (dark ? " dark" : " light");
        EXPECT_EQ(value(faults), json::array()) << name << " " << width << (dark ? " dark" : " light");
        EXPECT_EQ(chromium->complaints(), std::vector<std::string>());
      }
  }
  /// Waits until the page has the theme: a busy browser tells it late that the system's has changed.
  static json theme(bool dark) {
    return value(std::string("new Promise((done) => { const look = (left) => document.documentElement.dataset.theme "
                             "=== '") +
                 (dark ? "dark" : "light") +
                 "' ? done(true) : left === 0 ? done(false) : setTimeout(look, 20, left - 1); look(1500); })");
  }
  /// The texts in a chart.
  static json texts(const std::string& chart) {
    return value("[...document.querySelectorAll('[data-chart=" + chart + "] text')].map((t) => t.textContent)");
  }
  static bool shows(const std::string& chart, const std::string& text) {
    for (const json& t : texts(chart))
      if (t == text) return true;
    return false;
  }
  static std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
  }

  static inline std::unique_ptr<browser> chromium;
  fs::path place_;
};

}  // namespace report_page_test
