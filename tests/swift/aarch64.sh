# The same program for AArch64, compiled here and run by qemu. Sourced by `run`, in its folder.
# shellcheck shell=bash
# shellcheck disable=SC2154 # here, tree, level: of `run`

# run_aarch64 BUILD_DIR: with the library of that build, and Swift's own of the tree's folder aarch64.
run_aarch64() {
    local stack swift=$tree/aarch64/usr/libexec/swift/lib/swift

    aarch64-linux-gnu-gcc -O2 -fno-omit-frame-pointer -c "$here/show.c" -I"$here/../../include" -o show-aarch64.o
    for level in -O -Onone; do
        in_tree swiftc -target aarch64-unknown-linux-gnu -resource-dir /aarch64/usr/libexec/swift/lib/swift -sdk /aarch64 \
            -parse-as-library -wmo -module-name prog "$level" -c program.swift -o program-aarch64.o 2> log
        aarch64-linux-gnu-gcc program-aarch64.o show-aarch64.o "$swift/linux/aarch64/swiftrt.o" -L"$swift/linux" -L"$1" \
            -lsframe-backtrace -lswiftCore -lswift_Concurrency -lswift_StringProcessing -lswift_RegexParser -lswiftGlibc \
            -lswift_Builtin_float -lswiftSwiftOnoneSupport -ldispatch -lBlocksRuntime -Wl,--allow-shlib-undefined \
            -Wl,--no-warn-rwx-segments -Wl,-rpath-link,"$swift/linux" -o prog-aarch64
        rm -f STACK.* CALLS.*
        qemu-aarch64 -cpu max -L "$tree/aarch64" \
            -E LD_LIBRARY_PATH="$swift/linux:$1:$tree/aarch64/usr/lib/aarch64-linux-gnu" ./prog-aarch64 > out
        level+=' (AArch64)'
        check_run MAPS
        for stack in STACK.*; do
            compare "${stack#*.}" --maps MAPS.here "$stack"
        done
    done
}
