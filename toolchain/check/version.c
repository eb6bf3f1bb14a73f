#include "toolchain/check/version.h"

static const struct sframe_version versions[] = {
    { .number = 1,
      .flags = SFRAME_SORTED | SFRAME_FRAME_POINTER,
      .abi_max = 3,
      .entry_size = 17,
      .start_size = 4,
      .info_unused = 0xc0,
      .least_words = 1 },
    { .number = 2,
      .flags = SFRAME_SORTED | SFRAME_FRAME_POINTER | SFRAME_START_PCREL,
      .abi_max = SFRAME_ABI_S390X,
      .entry_size = 20,
      .start_size = 4,
      .info_unused = 0xc0,
      .has_repeat_size = true,
      .has_padding = true },
    { .number = 3,
      .flags = SFRAME_SORTED | SFRAME_START_PCREL,
      .abi_max = SFRAME_ABI_S390X,
      .entry_size = 16,
      .start_size = 8,
      .info_unused = 0x40,
      .has_attribute = true,
      .has_repeat_size = true,
      .always_pcrel = true },
};

const struct sframe_version *sframe_version_find(uint8_t number)
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (versions[i].number == number)
            return &versions[i];
    return NULL;
}

uint32_t sframe_attribute_size(const struct sframe_version *version)
{
    return version->has_attribute ? 5 : 0;
}
