# SPDX-License-Identifier: MIT
"""Small input files for programs whose collections leave theirs to a download: random, but the same each time."""
import os
import random

COMPLETE = "complete_2"  # the number changes with what is made


def grid(path, count, low, high):
    with open(path, "w") as file:
        file.writelines(f"{random.uniform(low, high):f}\n" for _ in range(count))


def graph(path, nodes):
    degrees = [random.randint(1, 6) for _ in range(nodes)]
    with open(path, "w") as file:
        file.write(f"{nodes}\n")
        first = 0
        for d in degrees:
            file.write(f"{first} {d}\n")
            first += d
        file.write(f"\n0\n\n{first}\n")
        file.writelines(f"{random.randrange(nodes)} {random.randint(1, 10)}\n" for _ in range(first))


def points(path, count, features):
    with open(path, "w") as file:
        for i in range(count):
            file.write(" ".join([str(i)] + [f"{random.random():f}" for _ in range(features)]) + "\n")


def keys(path, count):
    with open(path, "w") as file:
        file.write(f"{count}\n")
        file.writelines(f"{random.randrange(1 << 20)}\n" for _ in range(count))


def floats(path, count):
    with open(path, "w") as file:
        file.writelines(f"{random.uniform(0, 1000):f}\n" for _ in range(count))


def letters(path, count):
    """Bytes of which few are frequent, so that they can be compressed."""
    with open(path, "wb") as file:
        file.write(bytes(min(255, int(random.expovariate(0.4))) for _ in range(count)))


def mesh(path, width, height):
    """Elements of a flow solver: area, then four neighbours (from 1; -2 is far away), each with the normal of the face to it."""
    with open(path, "w") as file:
        file.write(f"{width * height}\n")
        for y in range(height):
            for x in range(width):
                file.write("1.0")
                for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    inside = 0 <= x + dx < width and 0 <= y + dy < height
                    file.write(f" {(y + dy) * width + x + dx + 1 if inside else -2} {dx} {dy} 0")
                file.write("\n")


def hurricanes(folder, name, count):
    """A list of one file, and this with lines of 49 characters: the latitude in characters 28 to 32, the longitude in 34 to 38."""
    with open(os.path.join(folder, name + ".db"), "w") as file:
        for i in range(count):
            file.write(f"{1950 + i % 70:4d} {i % 12 + 1:2d} {i % 28 + 1:2d} {i % 24:2d} {i % 30:2d} {f'STORM{i}':<9s}")
            file.write(f" {random.uniform(0, 90):5.1f} {random.uniform(0, 359):5.1f} {random.randrange(200):4d} {random.randrange(900):4d}\n")
    with open(os.path.join(folder, name), "w") as file:
        file.write(os.path.join(folder, name + ".db") + "\n")


def bitmap(path, width, height):
    """24 bits a pixel, rows from the bottom."""
    row = (width * 3 + 3) // 4 * 4
    with open(path, "wb") as file:
        head = 54
        file.write(b"BM" + (head + row * height).to_bytes(4, "little") + bytes(4) + head.to_bytes(4, "little"))
        file.write((40).to_bytes(4, "little") + width.to_bytes(4, "little") + height.to_bytes(4, "little") + (1).to_bytes(2, "little") + (24).to_bytes(2, "little"))
        file.write(bytes(4) + (row * height).to_bytes(4, "little") + bytes(16))
        file.write(random.randbytes(row * height))


def make(folder):
    if os.path.exists(os.path.join(folder, COMPLETE)):
        return
    os.makedirs(folder, exist_ok=True)
    random.seed(1)
    grid(os.path.join(folder, "temperature_64"), 64 * 64, 320, 330)
    grid(os.path.join(folder, "power_64"), 64 * 64, 0, 0.001)
    grid(os.path.join(folder, "temperature_64x4"), 64 * 64 * 4, 320, 330)
    grid(os.path.join(folder, "power_64x4"), 64 * 64 * 4, 0, 0.001)
    graph(os.path.join(folder, "graph_2048"), 2048)
    points(os.path.join(folder, "points_1024"), 1024, 8)
    keys(os.path.join(folder, "keys_4096"), 4096)
    bitmap(os.path.join(folder, "image_64.bmp"), 64, 64)
    bitmap(os.path.join(folder, "image_192.bmp"), 192, 192)
    floats(os.path.join(folder, "floats_65536"), 65536)
    letters(os.path.join(folder, "letters_64k"), 65536)
    mesh(os.path.join(folder, "mesh_32x32"), 32, 32)
    hurricanes(folder, "hurricanes", 1024)
    with open(os.path.join(folder, "queries"), "w") as file:
        file.write("j 100 50\nk 200\n")
    with open(os.path.join(folder, COMPLETE), "w") as file:
        file.write("")
