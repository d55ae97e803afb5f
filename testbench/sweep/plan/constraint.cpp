// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/constraint.h"

#include <algorithm>
#include <cctype>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

struct constraint::node {
  enum class kind : std::uint8_t {
    variable,
    word,  // a literal
    both,
    either,
    not_,
    equal,
    unequal,
    less,
    at_most,
    greater,
    at_least,
    negative,
    sum,
    difference,
    product,
    quotient
  };
  kind what = kind::word;
  std::string text;  // of a variable or word
  std::unique_ptr<node> left;
  std::unique_ptr<node> right;
};

namespace {

using node = constraint::node;
using node_ptr = std::unique_ptr<node>;
using kind = node::kind;

constexpr unsigned deepest = 100;      // nesting depth of parentheses and negations
constexpr std::size_t longest = 2000;  // tokens of a condition

struct operator_row {
  const char* text;
  kind what;
};
constexpr operator_row comparisons[] = {{"=", kind::equal},    {"!=", kind::unequal}, {"<", kind::less},
                                        {"<=", kind::at_most}, {">", kind::greater},  {">=", kind::at_least}};

const operator_row* comparison_of(const std::string& token) {
  for (const operator_row& row : comparisons)
    if (token == row.text) return &row;
  return nullptr;
}

bool is_equality(kind k) { return k == kind::equal || k == kind::unequal; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

std::vector<std::string> tokens_of(const std::string& text, const std::string& where) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\t') {
      ++i;
    } else if (is_word(c)) {
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      tokens.push_back(text.substr(i, end - i));
      i = end;
    } else if (c == '"') {
      const std::size_t end = text.find('"', i + 1);
      if (end == std::string::npos) throw input_error(where + ": a quotation mark is not closed");
      tokens.push_back(text.substr(i, end - i));  // with the quotation mark in front: a literal
      i = end + 1;
    } else if (i + 1 < text.size() && text[i + 1] == '=' && std::string("<>!=").find(c) != std::string::npos) {
      tokens.push_back(c == '=' ? "=" : text.substr(i, 2));
      i += 2;
    } else if (std::string("<>=()+-*/").find(c) != std::string::npos) {
      tokens.push_back(std::string(1, c));
      ++i;
    } else {
      throw input_error(where + ": unexpected '" + printable(std::string(1, c)) + "' in the condition");
    }
  }
  return tokens;
}

class parser {
 public:
  parser(std::vector<std::string> tokens, std::string where, const constraint::is_variable& known,
         const std::vector<std::string>& names, const constraint::wrong_value& wrong)
      : tokens_(std::move(tokens)), where_(std::move(where)), known_(known), names_(names), wrong_(wrong) {}

  node_ptr parse(std::vector<std::string>& variables) {
    if (tokens_.size() > longest) fail("the condition is longer than " + std::to_string(longest) + " words");
    node_ptr root = any(0);
    if (at_ < tokens_.size()) fail("unexpected '" + printable(tokens_[at_]) + "'");
    if (variables_.empty()) fail("the condition names no axis and no parameter");
    variables = variables_;
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw input_error(where_ + ": " + message); }
  [[nodiscard]] const std::string& next() const {
    static const std::string end;
    return at_ < tokens_.size() ? tokens_[at_] : end;
  }
  bool take(const std::string& token) {
    if (next() != token) return false;
    ++at_;
    return true;
  }
  static node_ptr make(kind what, node_ptr left, node_ptr right) {
    return node_ptr(new node{what, "", std::move(left), std::move(right)});
  }

  node_ptr any(unsigned depth) {
    node_ptr left = all(depth);
    while (take("or")) left = make(kind::either, std::move(left), all(depth));
    return left;
  }
  node_ptr all(unsigned depth) {
    node_ptr left = negation(depth);
    while (take("and")) left = make(kind::both, std::move(left), negation(depth));
    return left;
  }
  node_ptr negation(unsigned depth) {
    if (depth > deepest) fail("the condition is nested too deep");
    if (take("not")) return make(kind::not_, negation(depth + 1), nullptr);
    // A parenthesis may enclose a condition or a sum; the tokens inside tell which.
    if (next() == "(") {
      const std::size_t begin = at_;
      if (condition_in_parentheses()) {
        ++at_;
        node_ptr inner = any(depth + 1);
        if (!take(")")) fail("expected ')'");
        return inner;
      }
      at_ = begin;
    }
    return comparison(depth);
  }
  // True if this parenthesis contains a comparison or a logical operator.
  [[nodiscard]] bool condition_in_parentheses() const {
    unsigned open = 0;
    for (std::size_t i = at_; i < tokens_.size(); ++i) {
      const std::string& t = tokens_[i];
      if (t == "(") ++open;
      if (t == ")" && --open == 0) return false;
      if (comparison_of(t) != nullptr || t == "and" || t == "or" || t == "not") return true;
    }
    fail("expected ')'");
  }

  node_ptr comparison(unsigned depth) {
    node_ptr left = sum(depth);
    const std::string token = next();
    const operator_row* const op = comparison_of(token);
    if (op == nullptr) {
      fail("expected a comparison (= != < <= > >=)" +
           (token.empty() ? " at the end" : ", not '" + printable(token) + "'"));
    }
    ++at_;
    node_ptr right = sum(depth);
    const bool text_allowed = is_equality(op->what) && (left->what == kind::variable || right->what == kind::variable);
    check_word(*left, text_allowed);
    check_word(*right, text_allowed);
    if (text_allowed) {
      check_value(*left, *right);
      check_value(*right, *left);
    }
    return make(op->what, std::move(left), std::move(right));
  }
  // A word that is neither a number nor a name is allowed only as the other side of a comparison with a variable.
  void check_word(const node& n, bool text_allowed) const {
    if (n.left) check_word(*n.left, false);
    if (n.right) check_word(*n.right, false);
    double number = 0;
    if (n.what != kind::word || parse_float(n.text, number)) return;
    if (!text_allowed)
      fail("'" + printable(n.text) + "' is neither an axis nor a parameter nor a number" + suggestion(n.text, names_));
  }

  void check_value(const node& variable, const node& word) const {
    if (variable.what != kind::variable || word.what != kind::word || !wrong_) return;
    const std::string expected = wrong_(variable.text, word.text);
    if (!expected.empty())
      fail("'" + printable(word.text) + "' is no value of " + variable.text + ", expected " + expected);
  }

  node_ptr sum(unsigned depth) {
    node_ptr left = product(depth);
    while (next() == "+" || next() == "-") {
      const kind what = tokens_[at_++] == "+" ? kind::sum : kind::difference;
      left = make(what, std::move(left), product(depth));
    }
    return left;
  }
  node_ptr product(unsigned depth) {
    node_ptr left = operand(depth);
    while (next() == "*" || next() == "/") {
      const kind what = tokens_[at_++] == "*" ? kind::product : kind::quotient;
      left = make(what, std::move(left), operand(depth));
    }
    return left;
  }
  node_ptr operand(unsigned depth) {
    if (depth > deepest) fail("the condition is nested too deep");
    if (take("-")) return make(kind::negative, operand(depth + 1), nullptr);
    if (take("(")) {
      node_ptr inner = sum(depth + 1);
      if (!take(")")) fail("expected ')'");
      return inner;
    }
    const std::string word = next();
    if (word.empty() || (!is_word(word[0]) && word[0] != '"')) {
      fail("expected an axis, a parameter or a value" +
           (word.empty() ? " at the end" : ", not '" + printable(word) + "'"));
    }
    ++at_;
    auto leaf = std::make_unique<node>();
    leaf->text = word[0] == '"' ? word.substr(1) : word;
    leaf->what = word[0] != '"' && known_(word) ? kind::variable : kind::word;
    if (leaf->what == kind::variable) variables_.push_back(word);
    double number = 0;
    // "launch.blok" is a misspelt name, not a text.
    if (leaf->what == kind::word && word[0] != '"' && word.find('.') != std::string::npos &&
        !parse_float(word, number)) {
      fail("'" + printable(word) + "' is neither an axis nor a parameter" + suggestion(word, names_));
    }
    return leaf;
  }

  std::vector<std::string> tokens_;
  std::string where_;
  const constraint::is_variable& known_;
  const std::vector<std::string>& names_;
  const constraint::wrong_value& wrong_;
  std::vector<std::string> variables_;
  std::size_t at_ = 0;
};

/// Evaluates the condition at one point.
struct evaluation {
  const std::string& where;
  const constraint::value_of& values;

  [[nodiscard]] std::string text(const node& n) const { return n.what == kind::variable ? values(n.text) : n.text; }

  [[nodiscard]] double number(const node& n) const {
    if (n.what == kind::negative) return -number(*n.left);
    if (n.left) {
      const double a = number(*n.left), b = number(*n.right);
      if (n.what == kind::sum) return a + b;
      if (n.what == kind::difference) return a - b;
      if (n.what == kind::product) return a * b;
      if (b == 0) throw input_error(where + ": division by zero");
      return a / b;
    }
    double value = 0;
    const std::string t = text(n);
    if (!parse_float(t, value)) {
      throw input_error(where + ": '" + printable(t) + "' is no number" +
                        (n.what == kind::variable ? " (" + n.text + ")" : ""));
    }
    return value;
  }

  [[nodiscard]] bool holds(const node& n) const {
    if (n.what == kind::both) return holds(*n.left) && holds(*n.right);
    if (n.what == kind::either) return holds(*n.left) || holds(*n.right);
    if (n.what == kind::not_) return !holds(*n.left);
    if (is_equality(n.what) && !n.left->left && !n.right->left) {
      const std::string a = text(*n.left), b = text(*n.right);
      double x = 0, y = 0;
      const bool equal = parse_float(a, x) && parse_float(b, y) ? x == y : a == b;
      return equal == (n.what == kind::equal);
    }
    const double a = number(*n.left), b = number(*n.right);
    if (n.what == kind::equal) return a == b;
    if (n.what == kind::unequal) return a != b;
    if (n.what == kind::less) return a < b;
    if (n.what == kind::at_most) return a <= b;
    return n.what == kind::greater ? a > b : a >= b;
  }
};

}  // namespace

constraint::constraint(const sweep_constraint& source, const is_variable& known, const std::vector<std::string>& names,
                       const wrong_value& wrong)
    : name_(source.name), where_(source.where) {
  root_ = parser(tokens_of(source.text, where_), where_, known, names, wrong).parse(variables_);
}

constraint::~constraint() = default;
constraint::constraint(constraint&&) noexcept = default;

bool constraint::holds(const value_of& values) const { return evaluation{where_, values}.holds(*root_); }

}  // namespace heddle::testbench
