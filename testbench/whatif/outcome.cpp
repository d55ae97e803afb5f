// SPDX-License-Identifier: MIT
#include "testbench/whatif/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "testbench/advice/speed_of_light.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr const char* untried = "no time (--minutes) or runs (--runs) left";
constexpr double nothing = 0.0005;  // a smaller part is shown as nothing

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string time_text(double seconds) {
  return seconds >= 1e-3 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} us", seconds * 1e6);
}

std::string energy_text(double joules) {
  return joules >= 1e-3 ? fmt::format("{:.4g} mJ", joules * 1e3) : fmt::format("{:.4g} uJ", joules * 1e6);
}

const char* text_of(aim a) { return a == aim::time ? "time" : a == aim::energy ? "energy" : "energy x time"; }

/// The changes worth showing: those that save something.
std::vector<const tried_change*> savers(const whatif_result& r, std::size_t rows) {
  std::vector<const tried_change*> best;
  for (const tried_change& t : r.tried)
    if (best.size() < rows && t.counts() && r.saved(t, r.what) > nothing) best.push_back(&t);
  return best;
}

bool is_pair(const candidate& c) { return c.what == candidate::kind::pair; }

// The first of the changes that were not tried.
std::string untried_text(const whatif_result& r) {
  constexpr std::size_t named = 3;
  std::string text = "not tried: ";
  for (std::size_t k = 0; k < std::min(named, r.not_tried.size()); ++k)
    text += (k == 0 ? "" : "; ") + r.not_tried[k].text();
  if (r.not_tried.size() > named) text += fmt::format("; and {} more", r.not_tried.size() - named);
  return text + "\n";
}

std::string counts_text(const whatif_result& r) {
  std::size_t slower = 0, same = 0, failed = 0;
  for (const tried_change& t : r.tried) {
    if (!t.counts() && !t.stopped()) ++failed;
    else if (t.stopped() || r.saved(t, r.what) < -nothing) ++slower;
    else if (r.saved(t, r.what) <= nothing) ++same;
  }
  std::string text = fmt::format("{} changes tried: {} cost more, {} change nothing", r.tried.size(), slower, same);
  if (failed != 0) text += fmt::format(", {} cannot run", failed);
  if (r.not_tried.empty()) return text + "\n";
  const auto pairs = std::count_if(r.not_tried.begin(), r.not_tried.end(), is_pair);
  const auto others = static_cast<std::ptrdiff_t>(r.not_tried.size()) - pairs;
  text += fmt::format("; {} not tried", others);
  if (pairs != 0) text += fmt::format(", nor {} of two together", pairs);
  return text + ", for lack of time (--minutes) or runs (--runs)\n" + untried_text(r);
}

// What trying the verdict's advice gave.
std::string advice_text(const whatif_result& r) {
  std::string text;
  for (const tried_change& t : r.tried) {
    if (t.change.what != candidate::kind::advice) continue;
    text += "advice tried: " + t.change.text();
    if (t.counts())
      text += fmt::format(": {} cycles before, {} after\n", grouped(static_cast<std::uint64_t>(r.base.cycles)),
                          grouped(static_cast<std::uint64_t>(t.costs.cycles)));
    else text += t.stopped() ? ": saves no time\n" : std::string(": ") + name_of(t.status) + "\n";
  }
  return text;
}

}  // namespace

cost cost::of(const nlohmann::ordered_json& metrics) {
  cost c;
  c.cycles = number_at(metrics, {"cycles"});
  const machine_parameters machine(metrics.at("gpu").at("config"));
  c.seconds = ratio(c.cycles, machine.number("gpu.core_clock_mhz") * 1e6);
  c.joules = number_at(metrics, {"energy", "total_joules"});
  return c;
}

double cost::by(aim a) const { return a == aim::time ? seconds : a == aim::energy ? joules : joules * seconds; }

double whatif_result::saved(const tried_change& t, aim a) const {
  return base.by(a) > 0 ? 1 - t.costs.by(a) / base.by(a) : 0;
}

void whatif_result::sort() {
  std::stable_sort(tried.begin(), tried.end(), [this](const tried_change& a, const tried_change& b) {
    if (a.counts() != b.counts()) return a.counts();
    return a.counts() && saved(a, what) > saved(b, what);
  });
}

std::string whatif_text(const whatif_result& r, std::size_t rows, const text_style& style) {
  constexpr int bar = 20;
  std::string text = fmt::format("{} on {}: {} cycles, {}", r.workload, r.gpu,
                                 grouped(static_cast<std::uint64_t>(r.base.cycles)), time_text(r.base.seconds));
  if (r.base.joules > 0) text += ", " + energy_text(r.base.joules);
  text += "\n";
  const auto best = savers(r, rows);
  if (best.empty()) {
    if (r.tried.empty() && !r.not_tried.empty()) text += "no change was tried\n";
    else text += fmt::format("no change {}saves {}\n", r.not_tried.empty() ? "" : "of those tried ", text_of(r.what));
    return text + advice_text(r) + counts_text(r);
  }
  text += style.bold(fmt::format("{:>8} {:>8}  {:<{}}  change", "time", "energy", "", bar)) + "\n";
  const double most = r.saved(*best.front(), r.what);
  for (const tried_change* t : best) {
    const auto length = static_cast<std::size_t>(std::lround(bar * r.saved(*t, r.what) / most));
    text += fmt::format("{:>8} {:>8}  {:<{}}  {}", percent(r.saved(*t, aim::time)),
                        r.base.joules > 0 ? percent(r.saved(*t, aim::energy)) : "", std::string(length, '#'), bar,
                        t->change.text());
    text += t->change.why.empty() ? "\n" : " (advice: " + t->change.why + ")\n";
  }
  return text + "saved of " + text_of(r.what) + "; as options: " + best.front()->change.options() + "\n" +
         advice_text(r) + counts_text(r);
}

nlohmann::ordered_json tried_json(const whatif_result& r) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const tried_change& t : r.tried) {
    nlohmann::ordered_json one = {{"kind", name_of(t.change.what)},
                                  {"change", t.change.text()},
                                  {"options", t.change.options()},
                                  {"status", name_of(t.status)},
                                  {"cycles_before", static_cast<std::uint64_t>(r.base.cycles)}};
    if (t.counts())
      one.update({{"cycles", static_cast<std::uint64_t>(t.costs.cycles)},
                  {"seconds", t.costs.seconds},
                  {"joules", t.costs.joules},
                  {"saved_time", r.saved(t, aim::time)},
                  {"saved_energy", r.saved(t, aim::energy)}});
    else if (!t.stopped()) one["reason"] = t.reason;
    all.push_back(std::move(one));
  }
  return all;
}

std::string whatif_csv(const whatif_result& r) {
  std::string text = "kind,change,options,status,cycles,seconds,joules,saved_time,saved_energy,reason\n";
  text += fmt::format("base,,,done,{:.0f},{:.9g},{:.9g},0,0,\n", r.base.cycles, r.base.seconds, r.base.joules);
  for (const tried_change& t : r.tried) {
    text += fmt::format("{},{},{},{},", name_of(t.change.what), csv_field(t.change.text()),
                        csv_field(t.change.options()), t.stopped() ? "slower" : name_of(t.status));
    text += t.counts() ? fmt::format("{:.0f},{:.9g},{:.9g},{:.6f},{:.6f},", t.costs.cycles, t.costs.seconds,
                                     t.costs.joules, r.saved(t, aim::time), r.saved(t, aim::energy))
                       : ",,,,,";
    text += (t.stopped() ? "" : csv_field(t.reason)) + "\n";
  }
  for (const candidate& c : r.not_tried)
    text += fmt::format("{},{},{},not tried,,,,,,{}\n", name_of(c.what), csv_field(c.text()), csv_field(c.options()),
                        csv_field(untried));
  return text;
}

std::string whatif_svg(const whatif_result& r, std::size_t rows) {
  constexpr int line = 22, letter = 7, width = 360, top = 46;
  const auto best = savers(r, rows);
  int left = 200;
  for (const tried_change* t : best) left = std::max(left, letter * static_cast<int>(t->change.text().size()) + 24);
  const double most = best.empty() ? 1 : r.saved(*best.front(), r.what);
  const int height = top + line * static_cast<int>(best.size()) + 16;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"12\" y=\"24\" font-size=\"15\">{2} on {3}: saved of {4}</text>\n",
      left + width + 80, height, escaped(r.workload), escaped(r.gpu), text_of(r.what));
  for (std::size_t k = 0; k < best.size(); ++k) {
    const tried_change& t = *best[k];
    const double part = r.saved(t, r.what);
    const int y = top + line * static_cast<int>(k);
    text += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" "
        "height=\"14\" fill=\"{}\"/>\n<text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
        left - 10, y + 12, escaped(t.change.text()), left, y, width * part / most,
        t.change.what == candidate::kind::pair ? "#7a5195" : "#2f6f9f", left + width * part / most + 6, y + 12,
        percent(part));
  }
  return text + "</svg>\n";
}

}  // namespace heddle::testbench
