\\ CPU-bound, for PARI/GP: factors, polynomials, matrices, real numbers, errors.
fib(n) = if(n < 2, n, fib(n - 1) + fib(n - 2));
fails(n) = if(n == 0, error("thrown"), 1 + fails(n - 1));
{
for(i = 1, 10000000,
  fib(12); factor(nextprime(10^9 + i) * nextprime(10^8 + 7 * i)); polroots(x^7 - i * x + 1);
  matdet(matrix(20, 20, a, b, (a * 7919 + b * i) % 1009)); zeta(2.5 + 1 / i); vecsort(vector(500, k, k * 7919 % 1009));
  iferr(fails(5), E, 0); bnfinit(x^2 - 10 * i - 3).no)
}
