/*
 * Lets libvirt and QEMU place guests on NUMA nodes and CPUs that exist only in
 * the files of topology.py. Memory goes where it fits, and threads run where
 * they may; everything else is as on a real host.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>

long mbind(void *addr, unsigned long len, int mode, const unsigned long *mask,
           unsigned long maxnode, unsigned flags)
{
    return 0;
}

long set_mempolicy(int mode, const unsigned long *mask, unsigned long maxnode)
{
    return 0;
}

void numa_set_membind(void *mask) {}
void numa_set_preferred(int node) {}
void numa_set_interleave_mask(void *mask) {}

/* A thread bound to none but CPUs that do not exist stays where it is. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *wanted)
{
    int (*real)(pid_t, size_t, const cpu_set_t *) =
        dlsym(RTLD_NEXT, "sched_setaffinity");
    return real(pid, size, wanted) && errno != EINVAL ? -1 : 0;
}
