# CPU-bound: functions, surfaces, a recursive function, text output.
set terminal svg
set output "/dev/null"
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
set isosamples 60
do for [i = 1:4000] {
    set title sprintf("%d", fib(12))
    splot sin(x * i) * cos(y) with lines, x * y / (1 + x * x + i)
    plot besj0(i * x) with lines, "+" using 1:(gamma($1 / i)) smooth csplines
}
