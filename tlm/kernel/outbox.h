// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace heddle {

/// The effects of one time window on one unit outside the logical process.
class outbox_section {
 public:
  virtual ~outbox_section() = default;
  /// Applies the effects in the order in which they were sent. Afterwards the section is empty.
  virtual void apply() = 0;
};

/// What a time window of a logical process does to units outside the process: it is collected while the window runs and
/// applied afterwards, so that a window changes nothing but its own process. Within a section the order of effects is
/// kept. Effects in different sections, and those of different processes, must commute.
class outbox {
 public:
  /// A window runs: effects outside the process are deferred.
  [[nodiscard]] bool open() const { return open_; }
  /// Effects were deferred that are not applied yet.
  [[nodiscard]] bool holds_effects() const { return !pending_.empty(); }
  void begin_window() { open_ = true; }
  void end_window() { open_ = false; }
  /// To be called by a section that receives its first effect.
  void add(outbox_section& section) { pending_.push_back(&section); }
  /// Applies all deferred effects; to be called between windows. `reversed`: the last section first, which must not
  /// change any result.
  void apply(bool reversed = false);

 private:
  bool open_ = false;
  std::vector<outbox_section*> pending_;  // sections that are not empty
};

/// A section with effects of one type, which `apply_effect` applies to `unit`. Where no outbox is connected, or no
/// window runs, effects are applied at once.
template <class Unit, class Effect, void (Unit::*apply_effect)(const Effect&)>
class deferred_effects final : public outbox_section {
 public:
  explicit deferred_effects(Unit& unit) : unit_(unit) {}
  deferred_effects(const deferred_effects&) = delete;
  deferred_effects& operator=(const deferred_effects&) = delete;

  /// Effects are sent from windows of the logical process that owns `from`.
  void connect(outbox& from) { outbox_ = &from; }
  void send(const Effect& effect) {
    if (outbox_ == nullptr || !outbox_->open()) return (unit_.*apply_effect)(effect);
    if (effects_.empty()) outbox_->add(*this);
    effects_.push_back(effect);
  }
  void apply() override {
    for (const Effect& e : effects_) (unit_.*apply_effect)(e);
    effects_.clear();
  }

 private:
  Unit& unit_;
  outbox* outbox_ = nullptr;
  std::vector<Effect> effects_;
};

}  // namespace heddle
