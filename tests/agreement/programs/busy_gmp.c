/* CPU-bound, on GMP: multiplication, division, powers, greatest common divisors, text. */
#include <gmp.h>
#include <stdlib.h>

int main(void)
{
    mpz_t a, b, r;

    mpz_inits(a, b, r, NULL);
    mpz_ui_pow_ui(a, 7, 900);
    mpz_ui_pow_ui(b, 11, 300);
    for (long i = 0; i < 100000000; i++) {
        mpz_mul(r, a, b);
        mpz_add_ui(r, r, (unsigned long)i);
        mpz_tdiv_q(r, r, b);
        mpz_powm(r, b, a, r);
        mpz_gcd(r, r, a);
        mpz_add(a, a, r);
        free(mpz_get_str(NULL, 10, r));
    }
    return 0;
}
