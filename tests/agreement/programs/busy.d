// CPU-bound: recursion, sorting with a delegate, strings, exceptions through scope guards.
import core.time;
import std.algorithm;
import std.array;
import std.conv;
import std.stdio;

int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int fails(int n, ref int left)
{
    scope (exit)
        left++;
    if (n == 0)
        throw new Exception("thrown");
    return 1 + fails(n - 1, left);
}

void main()
{
    auto end = MonoTime.currTime + 300.seconds;
    int sum = 0;

    while (MonoTime.currTime < end)
    {
        sum ^= fib(15);
        int[] numbers;
        foreach (i; 0 .. 500)
            numbers ~= i * 7919 % 1009;
        numbers.sort!((a, b) => a < b);
        foreach (i; 0 .. 100)
        {
            try
                sum ^= fails(i % 8, sum);
            catch (Exception e)
                sum ^= cast(int) e.msg.length;
        }
        sum ^= cast(int) numbers.map!(n => n.to!string).join(" ").length;
    }
    writeln(sum != 42);
}
