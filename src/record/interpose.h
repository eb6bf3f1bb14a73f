/* The functions that programs call and the agent takes in between: the only names that it exports, with its own. */
#ifndef SFB_RECORD_INTERPOSE_H
#define SFB_RECORD_INTERPOSE_H

#define SFB_INTERPOSED __attribute__((visibility("default")))

#endif
