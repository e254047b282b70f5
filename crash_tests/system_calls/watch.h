/* What the recorder and the injector share: which descriptors belong to the directory under watch, and the true calls.
 *
 * Both are preloaded, so their functions take the place of the C library's in the interpreter and in the engine alike.
 * They reach the kernel through syscall(2): the functions they stand for can't be called, they would be called instead.
 *
 * A descriptor is known by the inode it was opened on. Some are closed behind our back (fclose, closedir) and their
 * numbers given to a pipe or a socket; the inode tells.
 */
#ifndef WATCH_H
#define WATCH_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 65536

static char watched_root[4096]; /* empty while nothing is watched */
static size_t watched_root_bytes;
static uint64_t watched_inode[DESCRIPTORS_MAX]; /* 0: not below the root */

static void watch_root(const char *root) {
    memset(watched_inode, 0, sizeof watched_inode);
    watched_root_bytes = strlen(root);
    memcpy(watched_root, root, watched_root_bytes + 1);
}

/* Whether a path names the root or something below it. Paths must be absolute and plain, as the product's are. */
static int is_below(const char *path) {
    return watched_root_bytes && !strncmp(path, watched_root, watched_root_bytes)
        && (path[watched_root_bytes] == '/' || !path[watched_root_bytes]);
}

/* The true calls, as every architecture has them. */

static int true_stat(int fd, struct stat *found) { return (int)syscall(SYS_fstat, fd, found); }

static int true_stat_at(const char *path, struct stat *found, int flags) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, found, flags);
}

static int true_mkdir(const char *path, mode_t mode) { return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode); }

static int true_rename(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int true_link(const char *from, const char *to) {
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int true_symlink(const char *target, const char *path) {
    return (int)syscall(SYS_symlinkat, target, AT_FDCWD, path);
}

static int true_unlink(const char *path) { return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0); }

static int true_rmdir(const char *path) { return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }

/* The inode of a descriptor below the root, or 0. `found` is filled only then. */
static uint64_t inode_of(int fd, struct stat *found) {
    if (fd < 0 || fd >= DESCRIPTORS_MAX || !watched_inode[fd]) return 0;
    int told = errno;
    if (true_stat(fd, found) || found->st_ino != watched_inode[fd]) {
        watched_inode[fd] = 0;
        errno = told;
        return 0;
    }
    return found->st_ino;
}

/* The true open, which begins or ends the watch on the number it answers. */
static int true_open(int at, const char *path, int flags, mode_t mode) {
    int fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < DESCRIPTORS_MAX) {
        struct stat found;
        watched_inode[fd] = is_below(path) && !true_stat(fd, &found) ? found.st_ino : 0;
    }
    return fd;
}

/* The mode of a call of open, which is there only if it may create. */
#define MODE_OF(flags, mode)                      \
    do {                                          \
        va_list rest;                             \
        va_start(rest, flags);                    \
        mode = va_arg(rest, int);                 \
        va_end(rest);                             \
    } while (0)

#endif
