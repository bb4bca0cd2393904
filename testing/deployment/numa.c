/*
 * Lets libvirt and QEMU place guests on NUMA nodes and CPUs that exist only in
 * the files of topology.py. Memory goes where it fits, and each CPU of theirs
 * is one of those that the machine has (CPUS); everything else is as on a real
 * host.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

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

/* CPU n of the host is one that the machine has, round and round. */
static cpu_set_t given(size_t size, const cpu_set_t *wanted)
{
    static const int cpus[] = {CPUS};
    cpu_set_t result;
    CPU_ZERO(&result);
    for (size_t cpu = 0; cpu < size * CHAR_BIT; cpu++)
        if (CPU_ISSET_S(cpu, size, wanted))
            CPU_SET(cpus[cpu % (sizeof cpus / sizeof *cpus)], &result);
    return result;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *wanted)
{
    int (*real)(pid_t, size_t, const cpu_set_t *) =
        dlsym(RTLD_NEXT, "sched_setaffinity");
    cpu_set_t set = given(size, wanted);
    return real(pid, sizeof set, &set);
}

int pthread_setaffinity_np(pthread_t thread, size_t size,
                           const cpu_set_t *wanted)
{
    int (*real)(pthread_t, size_t, const cpu_set_t *) =
        dlsym(RTLD_NEXT, "pthread_setaffinity_np");
    cpu_set_t set = given(size, wanted);
    return real(thread, sizeof set, &set);
}

/*
 * To lock a guest's memory, libvirt lifts QEMU's limit, which takes
 * CAP_SYS_RESOURCE. Root can lock without either (CAP_IPC_LOCK), and does.
 */
static int lifted(int result, int resource)
{
    return result && errno == EPERM && resource == RLIMIT_MEMLOCK ? 0 : result;
}

int prlimit64(pid_t pid, __rlimit_resource_t resource,
            const struct rlimit64 *wanted, struct rlimit64 *before)
{
    int (*real)(pid_t, __rlimit_resource_t, const struct rlimit64 *,
                struct rlimit64 *) = dlsym(RTLD_NEXT, "prlimit64");
    return lifted(real(pid, resource, wanted, before), resource);
}

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *wanted)
{
    int (*real)(__rlimit_resource_t, const struct rlimit64 *) =
        dlsym(RTLD_NEXT, "setrlimit64");
    return lifted(real(resource, wanted), resource);
}
