#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Rodinia's gaussian leaves of its own matrix of N rows and of its right side after the elimination: eliminated.py N"""
import math
import sys

n = int(sys.argv[1])
a = [[10 * math.exp(-0.01 * abs(i - j)) for j in range(n)] for i in range(n)]
b = [1.0] * n
for t in range(n - 1):
    for i in range(t + 1, n):
        factor = a[i][t] / a[t][t]
        for j in range(t, n):
            a[i][j] -= factor * a[t][j]
        b[i] -= factor * b[t]
print("freed:", *b)
