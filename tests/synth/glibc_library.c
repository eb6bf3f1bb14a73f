/* A library that calls back when it is loaded: the loader's frames are between. */
void synth_compare(const char *where);

__attribute__((constructor)) static void start(void)
{
    synth_compare("constructor of a library");
    __asm__ volatile(""); /* no tail call */
}
