/* A library that comes and goes. */
int sfb_nothing(void);

int sfb_nothing(void)
{
    return 0;
}
