#!/bin/sh
# SPDX-License-Identifier: MIT
# What a user of the installed Heddle does. install_test.sh WHAT CMAKE BUILD_FOLDER SOURCE_FOLDER SCRATCH_FOLDER
#   prefix      install the build into SCRATCH/prefix (the others need it)
#   debian      write the Debian packages and have dpkg install them into SCRATCH/debian, a system of its own
#   first_gpu   compile and run the program of docs/library/first_gpu.md against the prefix
#   packages    the same against the unpacked packages
#   pkg_config  the same with the compiler and pkg-config alone
#   static      the same with heddle::heddle_static
#   other_standard   a project for C++20 is refused with a sentence
#   other_systemc    a project that finds another SystemC than Heddle's is refused with a sentence
#   symbols     the library calls nothing that prints, starts or stops a simulation, ends the program or asks for time or chance
#   no_systemc       Heddle's own configuration without SystemC, with one too old, with one of another C++ standard
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
    "$source/docs/library/first_gpu.md"
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

# first_hour TREE: what docs/use/first_hour.md promises of an installed tree.
first_hour() {
  tree=$1
  data=$tree/share/heddle
  for file in share/man/man1/heddle.1.gz share/man/man1/heddle-run.1.gz share/bash-completion/completions/heddle \
    share/zsh/vendor-completions/_heddle share/fish/vendor_completions.d/heddle.fish share/heddle/job.schema.json \
    share/heddle/waveforms/scheduler.gtkw share/heddle/waveforms/state.filter share/heddle/sweeps/l1.ini share/heddle/docs/use/job.md \
    share/doc/heddle/pages/decisions share/doc/heddle/examples/cosim/own_scheduler.cpp; do
    [ -e "$tree/$file" ] || fail "the installed tree has no $file"
  done
  ( cd "$scratch" && "$tree/bin/heddle" run "$data/workloads/saxpy/job.json" --quiet --report "$what.html" ) || fail "an installed job fails"
  ( cd "$scratch" && "$tree/bin/heddle" sweep "$data/sweeps/scheduling.ini" --dry-run > "$what.points" ) || fail "an installed sweep fails"
  "$tree/bin/heddle" exec --quiet --log-level error -- "$build/tests/system/cuda_programs" "$source/tests/system/cuda/kernels.fatbin" vectors | grep -q '^right' ||
    fail "a CUDA program fails under an installed heddle"
  ( eval "$("$tree/bin/heddle" exec --quiet --log-level error --environment)" && exec "$build/tests/system/cuda_programs" "$source/tests/system/cuda/kernels.fatbin" vectors ) |
    grep -q '^right' || fail "a CUDA program fails in the environment of an installed heddle"
  [ "$("$tree/bin/heddle" version | sed -n 's/^pages: //p')" = "$(cd "$data/docs" && pwd -P)" ] || fail "the pages are not found"
  gzip -dc "$tree/share/man/man1/heddle-run.1.gz" | grep -q shared.*bytes || fail "the manual page of run lacks an option"
  [ ! -d "$tree/lib/python3" ] || ! command -v python3 > /dev/null || [ "$(cd / && env -u HEDDLE_PROGRAM PYTHONPATH="$tree/lib/python3/dist-packages" python3 -B -c '
import heddle, sys
y = bytearray(4096)
heddle.Gpu("v100").kernel(sys.argv[1])(4, 256, 1024, 1.0, b"\0\0\200\77" * 1024, y)
print(y == b"\0\0\200\77" * 1024, heddle._worker.program())' "$data/workloads/saxpy/saxpy.ptx")" = "True $tree/bin/heddle" ] ||
    fail "an installed Python module fails"
  # The pages find each other, the configurations and the layouts from where they lie. Code has brackets of its own.
  for page in "$data"/README.md "$data"/docs/*.md "$data"/docs/*/*.md "$data"/waveforms/README.md; do
    sed -e '/^```/,/^```/d' -e '/^    /d' -e 's/`[^`]*`//g' "$page" | grep -o ']([^)#:]*[)#]' | sed 's/^](//; s/[)#]$//' | while read -r link; do
      [ -z "$link" ] || [ -e "${page%/*}/$link" ] || echo "$page: $link"
    done
  done > "$scratch/links"
  [ ! -s "$scratch/links" ] || { cat "$scratch/links"; fail "these links lead nowhere in the installed tree"; }
}

# write_systemc VERSION LIBRARIES: a systemc.pc of that version with this system's headers, the only one that refused() finds.
write_systemc() {
  mkdir -p "$consumer/pkgconfig"
  {
    echo "Name: systemc"
    echo "Description: SystemC"
    echo "Version: $1"
    echo "Libs: $2"
    echo "Cflags: $(pkg-config --cflags systemc)"
  } > "$consumer/pkgconfig/systemc.pc"
}

# refused ARGUMENTS...: the project must not be configured.
refused() {
  rm -rf "$consumer/build"
  ! PKG_CONFIG_LIBDIR="$consumer/pkgconfig" PKG_CONFIG_PATH='' "$cmake" -S "$consumer" -B "$consumer/build" \
    -DCMAKE_DISABLE_FIND_PACKAGE_SystemCLanguage=ON "$@" > "$consumer/log" 2>&1 || fail "a project was configured that cannot be built"
}

# expect_message TEXT: CMake has said so, in lines of its own length.
expect_message() {
  tr '\n' ' ' < "$consumer/log" | tr -s ' ' | grep -qF -- "$1" || { cat "$consumer/log"; exit 1; }
}

case $what in
  prefix)
    rm -rf "$prefix"
    "$cmake" --install "$build" --prefix "$prefix" > /dev/null
    [ "$("$prefix/bin/heddle" gpus | wc -l)" -ge 16 ] || fail "the installed program finds no configurations"
    first_hour "$prefix"
    ;;
  debian)
    rm -rf "$scratch/deb_files" "$scratch/debian"
    mkdir -p "$scratch/deb_files"
    "$(dirname "$cmake")/cpack" --config "$build/CPackConfig.cmake" -B "$scratch/deb_files" > "$scratch/deb_files/log" 2>&1 ||
      { cat "$scratch/deb_files/log"; exit 1; }
    [ "$(ls "$scratch"/deb_files/*.deb | wc -l)" -eq 5 ] || fail "expected five packages"
    dpkg-deb --ctrl-tarfile "$scratch"/deb_files/libheddle0_*.deb | tar -xOf - ./shlibs | grep -q '^libheddle 0 libheddle0 (= ' ||
      fail "what links with the library would not depend on its package"
    # dpkg believes that this system's packages are installed, and Python may be none of them.
    packages="heddle libheddle0 libheddle-dev heddle-doc python3-heddle"
    if [ ! -x /usr/bin/python3 ]; then
      rm "$scratch"/deb_files/python3-heddle_*.deb
      packages=${packages% *}
    fi
    if [ "$(id -u)" -ne 0 ]; then  # dpkg installs for root alone
      for package in "$scratch"/deb_files/*.deb; do dpkg-deb -x "$package" "$scratch/debian"; done
      exit 0
    fi
    # It believes that this system's packages are installed there, so what the packages depend on is checked.
    mkdir -p "$scratch/debian/var/lib/dpkg/info" "$scratch/debian/var/lib/dpkg/updates" "$scratch/stubs"
    cp /var/lib/dpkg/status "$scratch/debian/var/lib/dpkg/status"
    # The packages' scripts call it, and this system's cache is none of their business.
    printf '#!/bin/sh\nexit 0\n' > "$scratch/stubs/ldconfig"
    chmod +x "$scratch/stubs/ldconfig"
    PATH=$scratch/stubs:$PATH:/usr/sbin:/sbin dpkg --root="$scratch/debian" --force-script-chrootless --log=/dev/null \
      -i "$scratch"/deb_files/*.deb > "$scratch/deb_files/log" 2>&1 || { grep -v "files list file" "$scratch/deb_files/log"; exit 1; }
    for package in $packages; do
      [ -s "$scratch/debian/usr/share/doc/$package/copyright" ] || fail "$package does not say under which licence it stands"
    done
    for package in $packages; do
      gzip -dc "$scratch/debian/usr/share/doc/$package/changelog.gz" | grep -q "^heddle (" || fail "$package has no changelog"
    done
    # shellcheck disable=SC2086  # a list of words
    dpkg --root="$scratch/debian" --verify $packages > "$scratch/deb_files/log" || { cat "$scratch/deb_files/log"; exit 1; }
    [ ! -s "$scratch/deb_files/log" ] || { cat "$scratch/deb_files/log"; exit 1; }
    [ "$("$scratch/debian/usr/bin/heddle" gpus | wc -l)" -ge 16 ] || fail "the installed program finds no configurations"
    first_hour "$scratch/debian/usr"
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
    # A program that links the archive lies in no installed tree, so it is given the place of the configurations.
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
    expect_message "C++17, which a program for C++20 does not link with"
    ;;
  other_systemc)
    write_consumer
    write_systemc 2.3.3 -lsystemc
    refused -DCMAKE_PREFIX_PATH="$prefix"
    expect_message "but SystemC 2.3.3 was found"
    ;;
  symbols)
    library=$(find "$prefix" -name libheddle.so)
    calls=$(nm -DC --undefined-only "$library" |
      grep -E 'std::(cout|cerr|clog)|[^nf]printf|puts|putc|sc_start|sc_stop|sc_main|sc_elab_and_sim|U (exit|_exit|abort|time|rand|getrandom)@' || true)
    [ -z "$calls" ] || fail "the library calls: $calls"
    nm -DC --defined-only "$library" | grep -q 'heddle::gpu::gpu' || fail "nm has not read the library"
    ;;
  no_systemc)
    rm -rf "$consumer"
    mkdir -p "$consumer"
    {
      echo "cmake_minimum_required(VERSION 3.25)"
      echo "project(alone CXX)"
      echo "include($source/model/find_systemc.cmake)"
    } > "$consumer/CMakeLists.txt"
    mkdir -p "$consumer/pkgconfig"
    refused
    expect_message "SystemC was not found. On Debian: apt-get install libsystemc-dev"
    write_systemc 2.3.1 -lsystemc
    refused
    expect_message "is too old: 2.3.3 or later is needed"
    # What a library of another standard lacks is the symbol named after this one; this one has it not at all.
    echo "int nothing;" > "$consumer/nothing.cpp"
    "${CXX:-c++}" -shared -fPIC "$consumer/nothing.cpp" -o "$consumer/libother_systemc.so"
    write_systemc 2.3.4 "-L$consumer -lother_systemc"
    refused
    expect_message "does not link with a C++17 program"
    expect_message "rebuild it with -DCMAKE_CXX_STANDARD=17"
    ;;
  *) fail "unknown test $what" ;;
esac
