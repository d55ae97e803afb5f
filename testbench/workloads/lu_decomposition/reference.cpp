// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

constexpr int n = 96;
constexpr int tile = 16;

class matrix {
 public:
  explicit matrix(std::vector<float> values) : values_(std::move(values)) {}
  float& operator()(int row, int column) { return values_[row * n + column]; }
  [[nodiscard]] const std::vector<float>& values() const { return values_; }

 private:
  std::vector<float> values_;
};

// Eliminates the rows of blocks at `first` and below with the block on the diagonal.
void rows_below(matrix& m, int first) {
  for (int row = first + 1; row < n; ++row) {
    for (int column = first; column < first + tile && column < row; ++column) {
      for (int k = first; k < column; ++k) m(row, column) = std::fma(-m(row, k), m(k, column), m(row, column));
      m(row, column) /= m(column, column);
    }
    if (row >= first + tile) continue;
    for (int column = row; column < n; ++column) {
      for (int k = first; k < row; ++k) m(row, column) = std::fma(-m(row, k), m(k, column), m(row, column));
    }
  }
}

// The kernel accumulates the product of a block completely before it subtracts it.
void inner(matrix& m, int first) {
  for (int row = first + tile; row < n; ++row) {
    for (int column = first + tile; column < n; ++column) {
      float sum = 0;
      for (int k = first; k < first + tile; ++k) sum = std::fma(m(row, k), m(k, column), sum);
      m(row, column) -= sum;
    }
  }
}

}  // namespace

void make_lu_decomposition(const folder& out) {
  matrix m(random_floats(15, n * n, -1, 1));
  for (int i = 0; i < n; ++i) m(i, i) += 20;
  out.write("matrix.bin", m.values());
  for (int first = 0; first < n; first += tile) {
    rows_below(m, first);
    inner(m, first);
  }
  out.write("matrix.ref.bin", m.values());
}

}  // namespace heddle::workloads
