/* What there is to be seen happened before: libs/at_start_aarch64.c. */
int at_start_failures(void);

int main(void)
{
    return at_start_failures();
}
