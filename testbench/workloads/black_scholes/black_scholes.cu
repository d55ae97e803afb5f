// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o black_scholes.ptx black_scholes.cu

// Prices of European options in the Black-Scholes model; the normal distribution by a polynomial (Abramowitz and Stegun
// 26.2.17). Uses exponentials, logarithms, square roots and divisions.
__device__ float normal_below(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float polynomial =
      k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228f * expf(-0.5f * d * d) * polynomial;
  return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float* price, const float* strike, const float* years, float* call,
                                         float* put, int count, float rate, float volatility) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float root = sqrtf(years[i]);
  const float d1 =
      (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float discounted = strike[i] * expf(-rate * years[i]);
  const float below1 = normal_below(d1);
  const float below2 = normal_below(d2);
  call[i] = price[i] * below1 - discounted * below2;
  put[i] = discounted * (1.0f - below2) - price[i] * (1.0f - below1);
}
