// CPU-bound: recursion, sorting with a lambda, streams, virtual calls, exceptions through frames
// with destructors.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct guard {
    int &n;
    ~guard()
    {
        n++;
    }
};

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int fails(int n, int &left)
{
    guard g{ left };

    if (n == 0)
        throw std::runtime_error("thrown");
    return 1 + fails(n - 1, left);
}

int main()
{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    int sum = 0;

    while (std::chrono::steady_clock::now() < end) {
        std::vector<int> v(500);
        std::map<int, std::string> m;
        std::ostringstream out;

        sum ^= fib(15);
        for (int i = 0; i < 500; i++)
            v[i] = i * 7919 % 1009;
        std::sort(v.begin(), v.end(), [](int a, int b) { return a < b; });
        for (int i = 0; i < 100; i++) {
            try {
                sum ^= fails(i % 8, sum);
            } catch (const std::exception &e) {
                sum ^= e.what()[0];
            }
        }
        for (int n : v) {
            std::function<int(int)> f = [&](int x) { return x + sum; };
            out << f(n) << ' ';
            m[n] = out.str().substr(0, 8);
        }
        sum ^= int(m.size());
    }
    return sum == 42;
}
