# shellcheck shell=bash
# shellcheck disable=SC2154 # recorder, work and root are of `run`
# The programs: for each a function program_NAME that prepares what it needs in the folder $work (once), and
# one run_NAME that runs it under "${recorder[@]}", which is nothing, or `sfb record ... --`. A prepare that
# prints a line and fails is a reason to skip the program.

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" > /dev/null || { echo "$tool is not installed"; return 1; }
    done
}

# A port that nobody listens to, as far as can be known.
free_port() {
    local port
    for port in $(shuf -i 20000-50000 -n 50); do
        (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo "$port"; return; }
    done
}

# wait_for_port PORT PID: for as long as the process lives.
wait_for_port() {
    until (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; do
        if ! kill -0 "$2" 2> /dev/null; then
            echo "nothing listens to port $1" >&2
            return 1
        fi
        sleep 0.1
    done
}

prepare_redis() { need redis-server redis-benchmark redis-cli; }
run_redis() {
    local port server
    port=$(free_port)
    "${recorder[@]}" redis-server --port "$port" --save '' --daemonize no > "$work/redis.log" 2>&1 &
    server=$!
    wait_for_port "$port" "$server"
    redis-benchmark -p "$port" -t set,get,lpush -n 100000 -q > /dev/null
    redis-cli -p "$port" shutdown nosave > /dev/null 2>&1 || true
    wait "$server"
}

prepare_python3() { [ -x /usr/bin/python3 ] || { echo "no /usr/bin/python3"; return 1; }; }
run_python3() {
    "${recorder[@]}" /usr/bin/python3 -c '
import json, random
random.seed(1)
rows = [{"id": i, "x": random.random(), "name": "n%d" % (i % 1000)} for i in range(60000)]
for _ in range(4):
    text = json.dumps(rows)
    rows = json.loads(text)
    rows.sort(key=lambda r: (r["name"], r["x"]))
'
}

prepare_perl() { need perl; }
run_perl() {
    # shellcheck disable=SC2016
    "${recorder[@]}" perl -e '
my %count; srand 1;
for my $i (1 .. 900000) { my $w = "w" . int(rand 5000); $count{$w}++; $w =~ s/(\d)(\d)/$2$1/g; $count{$w} += length $w }
my @order = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print scalar(@order), "\n"' > /dev/null
}

prepare_git() { need git && git clone -q --no-local --bare "$root" "$work/git" 2> /dev/null; }
run_git() { "${recorder[@]}" git -C "$work/git" gc -q --aggressive --prune=now; }

prepare_clang() { need clang && cxx_source; }
run_clang() { "${recorder[@]}" clang++ -O2 -c "$work/source.cpp" -o "$work/clang.o"; }
prepare_gcc() { need g++ && cxx_source; }
run_gcc() { "${recorder[@]}" g++ -O2 -c "$work/source.cpp" -o "$work/gcc.o"; }
cxx_source() {
    cat > "$work/source.cpp" << 'SOURCE'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int f(const std::vector<std::string> &v)
{
    std::map<std::string, int> m;
    std::regex r("([a-z]+)=([0-9]+)");
    for (const auto &s : v) {
        std::smatch found;
        if (std::regex_match(s, found, r))
            m[found[1]] += std::stoi(found[2]);
    }
    return std::max_element(m.begin(), m.end(), [](auto &a, auto &b) { return a.second < b.second; })->second;
}
SOURCE
}

prepare_nginx() {
    need nginx ab || return
    mkdir -p "$work/nginx/www"
    seq 2000 > "$work/nginx/www/index.html"
}
run_nginx() {
    local port master
    port=$(free_port)
    cat > "$work/nginx/conf" << CONF
worker_processes 2; daemon off; pid $work/nginx/pid; error_log $work/nginx/error.log; user root;
events { worker_connections 256; }
http { access_log off; server { listen 127.0.0.1:$port; gzip on; gzip_min_length 1; root $work/nginx/www; } }
CONF
    "${recorder[@]}" nginx -p "$work/nginx" -c "$work/nginx/conf" &
    master=$!
    wait_for_port "$port" "$master"
    ab -q -n 30000 -c 8 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/" > /dev/null
    nginx -p "$work/nginx" -c "$work/nginx/conf" -s quit
    wait "$master"
}

# PostgreSQL refuses to run as root: all of it belongs to somebody else then.
prepare_postgres() {
    postgres_bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2> /dev/null | sort | tail -1)
    [ -x "$postgres_bin/initdb" ] || { echo "postgresql is not installed"; return 1; }
    mkdir -p "$work/postgres"
    as_other=()
    if [ "$(id -u)" = 0 ]; then
        chmod 755 "$work"
        chown nobody "$work/postgres"
        as_other=(setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$work/postgres")
    fi
    "${as_other[@]}" "$postgres_bin/initdb" -A trust -D "$work/postgres/data" > /dev/null
}
run_postgres() {
    local port server
    port=$(free_port)
    "${recorder[@]}" "${as_other[@]}" "$postgres_bin/postgres" -D "$work/postgres/data" -p "$port" \
        -k "$work/postgres" -c fsync=off > "$work/postgres.log" 2>&1 &
    server=$!
    wait_for_port "$port" "$server"
    until "$postgres_bin/pg_isready" -q -h 127.0.0.1 -p "$port"; do
        kill -0 "$server" # else this ends
        sleep 0.1
    done
    "${as_other[@]}" "$postgres_bin/pgbench" -h 127.0.0.1 -p "$port" -i -s 2 -q postgres > /dev/null 2>&1
    "${as_other[@]}" "$postgres_bin/pgbench" -h 127.0.0.1 -p "$port" -c 4 -t 1500 -S postgres > /dev/null 2>&1
    "${as_other[@]}" "$postgres_bin/pg_ctl" -D "$work/postgres/data" -m fast -s stop
    wait "$server"
}

prepare_xz() {
    need xz || return
    seq 2500000 > "$work/xz"
}
run_xz() { "${recorder[@]}" xz -T2 -3 -k -c --block-size=2MiB "$work/xz" > /dev/null; }

prepare_ninja() {
    local i
    need ninja gcc || return
    mkdir -p "$work/ninja"
    {
        # shellcheck disable=SC2016 # ninja's variables
        printf 'rule cc\n  command = gcc -O1 -c $in -o $out\n'
        for i in {1..30}; do
            echo "#include <stdio.h>
int f$i(int x) { for (int i = 0; i < x; i++) printf(\"%d\\n\", i * $i); return x; }" > "$work/ninja/$i.c"
            echo "build $i.o: cc $i.c"
        done
    } > "$work/ninja/build.ninja"
}
run_ninja() {
    rm -f "$work"/ninja/*.o
    "${recorder[@]}" ninja -C "$work/ninja" --quiet -j2
}

prepare_rust() {
    need rustc || return
    cat > "$work/rust.rs" << 'SOURCE'
use std::collections::{BTreeMap, HashMap};
fn main() {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut x: u64 = 1;
    for _ in 0..2_000_000 {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *counts.entry(format!("k{}", x >> 50)).or_insert(0) += x & 7;
    }
    let threads: Vec<_> = (0..4).map(|n| { let c = counts.clone(); std::thread::spawn(move || {
        let t: BTreeMap<_, _> = c.into_iter().filter(|(_, v)| v % 4 == n).collect(); t.len() }) }).collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap()).sum::<usize>());
}
SOURCE
    rustc -O -g "$work/rust.rs" -o "$work/rust" 2> /dev/null
}
run_rust() { "${recorder[@]}" "$work/rust" > /dev/null; }

prepare_go() {
    need go || return
    cat > "$work/main.go" << 'SOURCE'
package main

import (
	"fmt"
	"os"
	"sort"
)

func work(seed uint64, out chan int) {
	m := map[string]int{}
	for i := 0; i < 600000; i++ {
		seed = seed*6364136223846793005 + 1442695040888963407
		m[fmt.Sprint(seed>>52)]++
	}
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out <- len(keys)
}

func main() {
	out := make(chan int)
	for i := 0; i < 4; i++ {
		go work(uint64(i), out)
	}
	for i := 0; i < 4; i++ {
		fmt.Fprintln(os.Stderr, <-out)
	}
}
SOURCE
    # Linked with libc, as programs with net or os/user are; one that is not cannot be preloaded.
    (cd "$work" && HOME=$work CGO_ENABLED=1 go build -ldflags=-linkmode=external -o "$work/go-program" main.go 2> /dev/null)
}
run_go() { "${recorder[@]}" "$work/go-program" 2> /dev/null; }

# shellcheck disable=SC2034 # for `run`
all_programs=(redis python3 perl git clang gcc nginx postgres xz ninja rust go)
