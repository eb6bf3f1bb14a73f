#include "profiler/collector/rings/stack.h"

#include "sfb/cbf.h"

bool sfb_recorder_is_cbf(const void *bytes, size_t size)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, bytes, size, &options, NULL);

    if (status == SFB_OK && sfb_cbf_decoder_word_bits(&decoder) != 8 * sizeof(void *))
        return false;
    while (status == SFB_OK)
        status = sfb_cbf_decoder_next(&decoder, &item, NULL);
    return status == SFB_END;
}
