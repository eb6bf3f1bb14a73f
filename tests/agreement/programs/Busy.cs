// CPU-bound: recursion, sorting with a delegate, generics, exceptions that unwind.
using System;
using System.Collections.Generic;
using System.Linq;

static class Busy {
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

    static int Fails(int n) {
        if (n == 0)
            throw new InvalidOperationException("thrown");
        return 1 + Fails(n - 1);
    }

    static void Main() {
        DateTime end = DateTime.Now.AddSeconds(300);
        long sum = 0;

        while (DateTime.Now < end) {
            sum += Fib(15);
            List<int> numbers = Enumerable.Range(0, 500).Select(i => i * 7919 % 1009).ToList();
            numbers.Sort((a, b) => a.CompareTo(b));
            for (int i = 0; i < 100; i++) {
                try { sum += Fails(i % 8); } catch (InvalidOperationException) { sum++; }
            }
            sum += string.Join(",", numbers).Length;
        }
        Console.WriteLine(sum > 0);
    }
}
