#!/usr/bin/env bash
# Compiles every fuzz target of the library for libFuzzer: with OSS-Fuzz, which sets OUT, CXX, CXXFLAGS
# and LIB_FUZZING_ENGINE, or by hand from the root of a clone:
#
#   OUT=DIR tools/ossfuzz/build.sh            all of them
#   OUT=DIR tools/ossfuzz/build.sh FuzzPickle those of a name
#   DIR/internal_pickle_FuzzPickle -max_total_time=60
set -euo pipefail
mkdir -p "$OUT"
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
(cd tools && GOWORK=off go build -o "$tool/" ./ossfuzz)
git grep -o -E "^func ${1:-Fuzz[A-Za-z0-9]*}\(" -- '*_test.go' ':!bench' ':!examples' | sed 's/func //; s/($//' |
	while IFS=: read -r path target; do
		"$tool/ossfuzz" -out "$OUT" "${path%/*}" "$target"
		printf '[libfuzzer]\nclose_fd_mask=1\nrss_limit_mb=2560\ntimeout=25\n' >"$OUT/$(tr / _ <<<"${path%/*}")_$target.options"
	done
