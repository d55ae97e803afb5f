#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The 5/3 wavelet transform of Rodinia's dwt2d, of the three colours of an image: wavelet.py IMAGE SIZE LEVELS writes wavelet.r, .g and .b.

Integers are divided towards zero, columns before rows; low frequencies come first. A byte is a coefficient + 128, from 0 to 255."""
import sys


def transform(x):
    half = len(x) // 2
    even, odd = x[0::2], x[1::2]
    high = [odd[i] - int((even[i] + even[min(i + 1, half - 1)]) / 2) for i in range(half)]
    low = [even[i] + int((high[max(i - 1, 0)] + high[i] + 2) / 4) for i in range(half)]
    return low + high


def main():
    name, size, levels = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(name, "rb") as file:
        pixels = file.read(3 * size * size)
    for colour in range(3):
        rows = [[pixels[3 * (y * size + x) + colour] - 128 for x in range(size)] for y in range(size)]
        for level in range(levels):
            n = size >> level
            columns = [transform([rows[y][x] for y in range(n)]) for x in range(n)]
            for y in range(n):
                rows[y][:n] = transform([c[y] for c in columns])
        with open("wavelet." + "rgb"[colour], "wb") as file:
            file.write(bytes(max(0, min(255, v + 128)) for row in rows for v in row))


main()
