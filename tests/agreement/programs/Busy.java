// CPU-bound: recursion, sorting with a lambda, strings; hot enough to be compiled.
import java.util.Arrays;

public class Busy {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] args) {
        long end = System.currentTimeMillis() + Long.parseLong(args[0]), sum = 0;
        while (System.currentTimeMillis() < end) {
            sum += fib(20);
            Integer[] a = new Integer[500];
            for (int i = 0; i < a.length; i++)
                a[i] = (i * 7919) % 1009;
            Arrays.sort(a, (x, y) -> x - y);
            sum += Arrays.toString(a).length();
        }
        System.out.println(sum > 0);
    }
}
