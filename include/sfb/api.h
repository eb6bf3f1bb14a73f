/* Compiler and language glue for every public header; nothing else lives here. */
#ifndef SFB_API_H
#define SFB_API_H

#if defined(__GNUC__)
#define SFB_API       __attribute__((visibility("default")))
#define SFB_MAY_ALIAS __attribute__((may_alias))
#else
#define SFB_API
#define SFB_MAY_ALIAS
#endif

#ifdef __cplusplus
#define SFB_BEGIN_DECLS extern "C" {
#define SFB_END_DECLS   }
#else
#define SFB_BEGIN_DECLS
#define SFB_END_DECLS
#endif

#endif
