/* A library that calls back while it is loaded: the loader's frames are in between. */
void synth_compare(const char *where);

__attribute__((constructor)) static void start(void)
{
    synth_compare("constructor of a library");
    __asm__ volatile(""); /* no tail call */
}
