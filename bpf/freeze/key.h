/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The key that router and daemon share. */
#ifndef KEY_H
#define KEY_H

#include "message.h"

/* Reads a key of 64 hexadecimal digits from a file that nobody but its owner may read. Returns 0 or an exit code, having said why. */
int read_key(const char *path, unsigned char key[KEY_SIZE]);

#endif
