#!/bin/sh
# SPDX-License-Identifier: MIT
# What a user of the installed Heddle does. install_test.sh WHAT CMAKE BUILD_FOLDER SOURCE_FOLDER SCRATCH_FOLDER
#   prefix      install the build into SCRATCH/prefix (the others need it)
#   debian      write the Debian packages and unpack them into SCRATCH/debian
#   first_gpu   compile and run the program of docs/first_gpu.md against the prefix
#   packages    the same against the unpacked packages
#   pkg_config  the same with the compiler and pkg-config alone
#   static      the same with heddle::heddle_static
#   other_standard   a project for C++20 is refused with a sentence
set -eu
what=$1 cmake=$2 build=$3 source=$4 scratch=$5
unset HEDDLE_CONFIGS
prefix=$scratch/prefix
consumer=$scratch/$what

fail() {
  echo "install test: $*" >&2
  exit 1
}

# block LANGUAGE: the first block of that language in the tutorial.
block() {
  awk -v start="\`\`\`$1" '$0 == start && !done {inside = 1; next} /^```/ {if (inside) done = 1; inside = 0} inside' \
    "$source/docs/first_gpu.md"
}

write_consumer() {
  rm -rf "$consumer"
  mkdir -p "$consumer"
  block cmake > "$consumer/CMakeLists.txt"
  block cpp > "$consumer/main.cpp"
  [ "$(wc -l < "$consumer/main.cpp")" -lt 60 ] || fail "the tutorial's program has grown to 60 lines"
}

run_consumer() {
  program=$1 tree=$2
  # Away from the source tree, with the installed configurations and kernels.
  output=$(cd / && "$program" "$tree/share/heddle/workloads/sgemm/sgemm.ptx") || fail "the program failed: $output"
  case $output in
    "right after "*" cycles") echo "$output" ;;
    *) fail "unexpected output: $output" ;;
  esac
}

build_consumer() {
  tree=$1
  "$cmake" -S "$consumer" -B "$consumer/build" -DCMAKE_PREFIX_PATH="$tree" > "$consumer/log" 2>&1 || { cat "$consumer/log"; exit 1; }
  grep -q "heddle_DIR:PATH=$tree" "$consumer/build/CMakeCache.txt" || fail "another heddle was found than the one in $tree"
  "$cmake" --build "$consumer/build" > "$consumer/log" 2>&1 || { cat "$consumer/log"; exit 1; }
  run_consumer "$consumer/build/first_gpu" "$tree"
}

case $what in
  prefix)
    rm -rf "$prefix"
    "$cmake" --install "$build" --prefix "$prefix" > /dev/null
    [ "$("$prefix/bin/heddle" gpus | wc -l)" -ge 16 ] || fail "the installed program finds no configurations"
    ;;
  debian)
    rm -rf "$scratch/deb_files" "$scratch/debian"
    mkdir -p "$scratch/deb_files"
    "$(dirname "$cmake")/cpack" --config "$build/CPackConfig.cmake" -B "$scratch/deb_files" > "$scratch/deb_files/log" 2>&1 ||
      { cat "$scratch/deb_files/log"; exit 1; }
    for package in "$scratch"/deb_files/*.deb; do dpkg-deb -x "$package" "$scratch/debian"; done
    [ "$(ls "$scratch"/deb_files/*.deb | wc -l)" -eq 3 ] || fail "expected three packages"
    ;;
  first_gpu)
    write_consumer
    build_consumer "$prefix"
    ;;
  packages)
    write_consumer
    build_consumer "$scratch/debian/usr"
    ;;
  static)
    write_consumer
    sed -i -e 's/find_package(heddle REQUIRED)/find_package(heddle REQUIRED COMPONENTS static)/' \
      -e 's/heddle::heddle/heddle::heddle_static/' "$consumer/CMakeLists.txt"
    # A program that links the archive lies in no installed tree, so it is told where the configurations are.
    export HEDDLE_CONFIGS="$prefix/share/heddle/configs"
    build_consumer "$prefix"
    ;;
  pkg_config)
    write_consumer
    pc=$(dirname "$(find "$prefix" -name heddle.pc)")
    # shellcheck disable=SC2046  # lists of words
    "${CXX:-c++}" "$consumer/main.cpp" -o "$consumer/first_gpu" \
      $(PKG_CONFIG_PATH=$pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} pkg-config --cflags --libs heddle) \
      "-Wl,-rpath,$(dirname "$pc")"
    run_consumer "$consumer/first_gpu" "$prefix"
    ;;
  other_standard)
    write_consumer
    sed -i 's/CMAKE_CXX_STANDARD 17/CMAKE_CXX_STANDARD 20/' "$consumer/CMakeLists.txt"
    ! "$cmake" -S "$consumer" -B "$consumer/build" -DCMAKE_PREFIX_PATH="$prefix" > "$consumer/log" 2>&1 ||
      fail "a project for C++20 was configured"
    tr '\n' ' ' < "$consumer/log" | tr -s ' ' | grep -q "C++17, which a program for C++20 does not link with" || { cat "$consumer/log"; exit 1; }
    ;;
  *) fail "unknown test $what" ;;
esac
