#include "util/grow.h"

#include <stdint.h>

#include "support/test.h"

Test(grow, keeps_what_an_array_has)
{
    enum { COUNT = 1000 };
    uint32_t *array = NULL;
    size_t room = 0;

    for (size_t i = 0; i < COUNT; i++) {
        cr_assert(array_make_room(&array, i, &room, sizeof *array));
        cr_assert(room > i && room <= (i < 64 ? 64 : 2 * i));
        array[i] = (uint32_t)(i * i);
    }
    for (size_t i = 0; i < COUNT; i++)
        cr_assert_eq(array[i], i * i);
    free(array);
}

Test(grow, leaves_an_array_that_cannot_grow)
{
    uint8_t one = 7, *array = &one;
    size_t room = (size_t)1 << 62;

    /* Twice as many elements of four bytes are more bytes than there are. */
    cr_expect_not(array_make_room(&array, room, &room, 4));
    cr_expect_eq(array, &one);
    cr_expect_eq(room, (size_t)1 << 62);
    cr_expect(array_make_room(&array, room - 1, &room, 4), "it has room");
    cr_expect_eq(array, &one);
}

Test(grow, keeps_to_a_limit)
{
    size_t room = 64;

    cr_expect_null(array_grow(NULL, 64, &room, 1, 127));
    cr_expect_eq(room, 64);
    free(array_grow(NULL, 64, &room, 1, 128));
    cr_expect_eq(room, 128);
}

Test(grow, makes_room_for_so_many_bytes)
{
    char *text = NULL;
    size_t room = 0;

    cr_assert(array_make_room_for(&text, &room, 3));
    cr_expect(room >= 3);
    memcpy(text, "ab", 3);
    cr_assert(array_make_room_for(&text, &room, 100000));
    cr_expect(room >= 100000 && room < 200000);
    cr_expect_str_eq(text, "ab");
    memset(text + 3, 'x', 100000 - 3);

    char *const before = text;
    const size_t room_before = room;

    cr_expect(array_make_room_for(&text, &room, 5), "it has room");
    cr_expect_not(array_make_room_for(&text, &room, SIZE_MAX));
    cr_expect_not(array_make_room_for(&text, &room, SIZE_MAX / 2));
    cr_expect(text == before && room == room_before);
    free(text);
}
