/* SPDX-License-Identifier: Apache-2.0 */
/* What libstdc++ of GCC 12 takes from the GNU C library 2.32 to 2.36, for libraries of 2.31. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* Whether the process has one thread, for cheaper reference counts; never claimed here. */
const char __libc_single_threaded = 0;

/* For std::random_device. */
uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) abort();
  return number;
}
