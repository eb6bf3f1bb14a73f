<?php
// CPU-bound: recursion, sorting with a callback, patterns, exceptions; hot enough to be compiled.
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function fails($n) { if ($n == 0) throw new Exception("thrown"); return 1 + fails($n - 1); }

$sum = 0;
for ($end = microtime(true) + 300; microtime(true) < $end;) {
    $sum += fib(15);
    $a = array_map(fn($i) => $i * 7919 % 1009, range(0, 499));
    usort($a, fn($x, $y) => $x <=> $y);
    for ($i = 0; $i < 5; $i++) {
        try { $sum += fails($i); } catch (Exception $e) { $sum++; }
    }
    $sum += preg_match_all('/[0-9]+/', implode(' ', $a));
}
var_dump($sum > 0);
