// CPU-bound: closures, sorting with a callback, objects, regular expressions; hot enough to be compiled.
'use strict';
const end = Date.now() + Number(process.argv[2] || 3000);
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let sum = 0;
while (Date.now() < end) {
  sum += fib(20);
  const a = Array.from({ length: 500 }, (_, i) => (i * 7919) % 1009);
  a.sort((x, y) => x - y);
  sum += JSON.stringify(a.map((x) => ({ x }))).match(/[0-9]+/g).length;
}
console.log(sum > 0);
