#include "cli/record/upload.h"

#include <stdio.h>

#include "cli/tool.h"

bool upload_target_check(const struct upload_target *target)
{
    (void)target;
    tool_complain(TOOL_FAILED, "record: --upload: this sfb was built without libcurl");
    return false;
}

void upload_send(struct upload_answer *out, const struct upload_target *target, const char *path,
                 const char *type, bool packed)
{
    (void)target;
    (void)path;
    (void)type;
    (void)packed;
    *out = (struct upload_answer){ .result = UPLOAD_REFUSED };
    snprintf(out->why, sizeof out->why, "built without libcurl");
}
