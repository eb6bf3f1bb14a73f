/* One upload over HTTP, by libcurl: upload.c. Without libcurl: no_upload.c. */
#ifndef CLI_RECORD_UPLOAD_H
#define CLI_RECORD_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct upload_target {
    const char *url;
    const char *headers; /* a file of header lines, for its owner alone; NULL: none */
    const char *ca;      /* a file of certificates; NULL: the system's */
};

enum upload_result {
    UPLOAD_DONE,
    UPLOAD_LATER,  /* the receiver is away, or asks to come again */
    UPLOAD_REFUSED /* it will not have this one */
};

struct upload_answer {
    enum upload_result result;
    uint64_t after_ns; /* of UPLOAD_LATER: when it wants to be asked again; 0: it did not say */
    char why[320];     /* any bytes */
};

/*
 * Judges a target before the first upload: headers of a token go over TLS, or to this machine.
 *
 * @return false after a complaint
 */
bool upload_target_check(const struct upload_target *target);

/* Sends a file. @param type  its media type. @param packed  by gzip, as the content's encoding */
void upload_send(struct upload_answer *out, const struct upload_target *target, const char *path,
                 const char *type, bool packed);

#endif
