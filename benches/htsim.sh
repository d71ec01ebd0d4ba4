#!/bin/sh
# Builds benches/htsim-dumbbell.cpp with a checkout of github.com/Broadcom/csg-htsim (BSD-2-Clause), which stays outside this
# repository and unchanged. benches/run.sh finds the program by HTSIM_DUMBBELL, or on the PATH as htsim-dumbbell.
# Optimised as a whole and without assertions: a tenth faster than htsim's own Makefile.
set -eu
case $# in 1 | 2) ;; *) echo "usage: benches/htsim.sh CHECKOUT [PROGRAM]" >&2; exit 2 ;; esac
test -f "$1/sim/tcp.h" || { echo "$1 is no checkout of htsim: it has no sim/tcp.h" >&2; exit 2; }
main="$(realpath "$(dirname "$0")")/htsim-dumbbell.cpp"
program="$(realpath "${2-$1/htsim-dumbbell}")"
cd "$1/sim"
"${CXX-g++}" -std=c++11 -O3 -DNDEBUG -flto=auto -w -I . "$main" \
  config.cpp eventlist.cpp network.cpp route.cpp pipe.cpp queue.cpp tcp.cpp tcppacket.cpp mtcp.cpp loggers.cpp \
  -o "$program"
echo "built; now: HTSIM_DUMBBELL=$program benches/run.sh"
