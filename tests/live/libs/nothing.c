/* A program that is over at once: what is preloaded into it runs its constructors. */
int main(void)
{
    return 0;
}
