# Sourced by tools/demo and tools/check: installs the distribution packages that are missing, or names them and stops.

# The newest LLVM from 19 on that has its development files; empty when there is none.
llvm_version() {
    local version
    for version in 21 20 19; do
        [ -e "/usr/lib/llvm-$version/include/llvm-c/Core.h" ] && { echo "$version"; return; }
    done
    return 0
}

# The newest clang that has libFuzzer; empty when there is none.
fuzz_compiler() {
    local version
    for version in 21 20 19; do
        compgen -G "/usr/lib/llvm-$version/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a" >/dev/null || continue
        command -v "clang-$version" && return
    done
    return 0
}

# Prints the missing packages of the list.
missing_packages() {
    local package llvm
    llvm=$(llvm_version)
    for package in "$@"; do
        case $package in
        gcc) command -v gcc >/dev/null ;;
        cmake) command -v cmake >/dev/null ;;
        ninja-build) command -v ninja >/dev/null ;;
        pkg-config) command -v pkg-config >/dev/null ;;
        python3) command -v python3 >/dev/null ;;
        clang-19 | libclang-rt-19-dev) [ -n "$(fuzz_compiler)" ] ;;
        libpcre2-dev) pkg-config --exists libpcre2-8 2>/dev/null ;;
        zlib1g-dev) pkg-config --exists zlib 2>/dev/null ;;
        libprotobuf-c-dev) pkg-config --exists libprotobuf-c 2>/dev/null ;;
        protobuf-c-compiler) command -v protoc-c >/dev/null ;;
        libcmocka-dev) pkg-config --exists cmocka 2>/dev/null ;;
        llvm-19-dev) [ -n "$llvm" ] ;;
        llvm-19-tools) [ -n "$llvm" ] && [ -x "/usr/lib/llvm-$llvm/bin/FileCheck" ] ;;
        esac || echo "$package"
    done
}

install_packages() {
    local packages as_root=""
    packages=$(missing_packages "$@")
    [ -z "$packages" ] && return
    packages=$(echo $packages)
    if [ "$(id -u)" != 0 ]; then
        as_root="sudo -n"
        $as_root true 2>/dev/null || as_root=""
        if [ -z "$as_root" ]; then
            echo "Missing packages: $packages" >&2
            echo "Install them, for example with: sudo apt-get install $packages" >&2
            exit 1
        fi
    fi
    if ! command -v apt-get >/dev/null; then
        echo "Missing packages (named as in Debian): $packages" >&2
        exit 1
    fi
    echo "Installing $packages"
    $as_root apt-get update -qq || true  # an old package list may still do
    if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
        echo "Could not install: $packages" >&2
        exit 1
    fi
}

BUILD_PACKAGES="gcc cmake ninja-build pkg-config libpcre2-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler llvm-19-dev"
TEST_PACKAGES="libcmocka-dev llvm-19-tools python3"
FUZZ_PACKAGES="clang-19 libclang-rt-19-dev"
