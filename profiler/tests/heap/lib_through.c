/* A library that stands in the stack, built twice: where one is unloaded, the other comes, with frames of another size. */
void through(void (*call)(unsigned), unsigned depth);

void through(void (*call)(unsigned), unsigned depth)
{
    volatile char room[ROOM];

    room[0] = (char)depth;
    call(depth);
    (void)room[0];
}
