// CPU time in inlined functions, in a recursion, in a generic function whose name has a ; in it, and in a thread whose
// name is no ASCII.
use std::hint::black_box;
use std::thread;

#[inline(always)]
fn mixed(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^ x << 17
}

#[inline(never)]
fn inlines(n: u64) -> u64 {
    let mut x = 88172645463325252;
    for _ in 0..n {
        x = mixed(x);
    }
    black_box(x)
}

#[inline(never)]
fn fill<T: Default + Copy, U>(value: T, n: u64) -> T {
    let mut last = T::default();
    for _ in 0..n {
        last = black_box(value);
    }
    last
}

#[inline(never)]
fn down(depth: u32, n: u64) -> u64 {
    if depth == 0 {
        return inlines(n) + 1;
    }
    for i in 0..n / 8 {
        black_box(i);
    }
    down(depth - 1, n) + 1
}

fn spend(rounds: u64) {
    for i in 0..rounds {
        black_box(down(8, 20000));
        black_box(fill::<[u8; 3], (u32, u64)>([i as u8; 3], 20000));
    }
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(500, |a| a.parse().unwrap());
    let other = thread::Builder::new()
        .name("fäden→1".to_string())
        .spawn(move || spend(rounds))
        .unwrap();
    spend(rounds);
    other.join().unwrap();
}
