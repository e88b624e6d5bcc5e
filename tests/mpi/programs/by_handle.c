/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the MPI library that is named, and calls its functions by the handle, as Julia does. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(library, "MPI_Init");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  init(&argc, &argv);
  return finalize();
}
