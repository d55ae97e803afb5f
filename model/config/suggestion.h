// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// Number of letters to insert, drop, replace or swap with their neighbour that turns `a` into `b`. Capitals count as
/// small letters, and '-' as '_'.
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
  const auto plain = [](char c) {
    return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = plain(a[i - 1]) == plain(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

/// The candidate that `name` begins if it begins exactly one, or the closest one: a third of its letters may be wrong.
/// Empty if none is close.
inline std::string closest(const std::string& name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 64, shortest_beginning = 3;
  if (name.empty() || name.size() > longest) return {};
  std::string best;
  std::size_t best_distance = name.size() <= 3 ? 2 : std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string begun;  // starting with `name`
  std::size_t beginnings = 0;
  for (const std::string& candidate : candidates) {
    if (name.size() >= shortest_beginning && candidate.compare(0, name.size(), name) == 0 && ++beginnings == 1)
      begun = candidate;
    if (candidate.size() > 2 * longest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return beginnings == 1 ? begun : best;
}

/// ", did you mean 'gto'?", or nothing if no candidate is close. It ends the sentence that states the error. Every
/// message of the program that suggests a name uses it.
inline std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string hint = closest(name, candidates);
  return hint.empty() ? "" : ", did you mean '" + hint + "'?";
}

}  // namespace heddle
