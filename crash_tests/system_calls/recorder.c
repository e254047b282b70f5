/* Preloaded: writes down, in one order, everything that changes the files below a directory or makes them durable.
 *
 *   recorder_start(directory, log, marks)   from now on; what is written to the descriptor `marks` becomes a mark
 *   recorder_stop()
 *
 * A record is: kind (1 byte), inode (8), offset (8), size (4), then `size` bytes. Little endian, without padding.
 *
 *   O path          a file was opened that may have been created        W data   was written at the offset
 *   M path          a directory was made                                T        a file was cut or grown to the offset
 *   R from\0to      renamed        L from\0to   linked                  S        file or directory was synced
 *   Y target\0path  linked symbolically
 *   U path          unlinked       D path       directory removed       A bytes  a mark
 *
 * Only what succeeded is written down. One lock is held over each call and its record, so that the order of the records
 * is that of the calls. Before a sync the lock is free for a moment, as a disk takes one: other threads get on.
 *
 * Calls that are not here (mapped memory, writing vectors, ...) are not used below a store. Whoever reads the log
 * compares what it leads to with the directory, so a call that was missed is noticed.
 */
#define _GNU_SOURCE
#include "watch.h"

#include <sys/uio.h>
#include <time.h>

#define LOG_DESCRIPTOR_MIN 900 /* out of the way of whoever counts on small numbers */
#define SYNC_NANOSECONDS 150000

struct __attribute__((packed)) head {
    char kind;
    uint64_t inode;
    int64_t offset;
    uint32_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_descriptor = -1;
static int marks_descriptor = -1;

void recorder_start(const char *directory, const char *log, int marks) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pthread_mutex_lock(&lock);
    watch_root(directory);
    marks_descriptor = marks;
    log_descriptor = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOG_DESCRIPTOR_MIN);
    pthread_mutex_unlock(&lock);
    syscall(SYS_close, fd);
}

void recorder_stop(void) {
    pthread_mutex_lock(&lock);
    watch_root("");
    syscall(SYS_close, log_descriptor);
    log_descriptor = marks_descriptor = -1;
    pthread_mutex_unlock(&lock);
}

/* With the lock held. A log that can't be written would be a lie. Of a ledger that has failed and stays open, threads
 * of the engine may be about to make a call when the recording stops. */
static void record(char kind, uint64_t inode, int64_t offset, const void *data, size_t size) {
    if (log_descriptor < 0) return;
    struct head head = {kind, inode, offset, (uint32_t)size};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, size}};
    int told = errno;
    if (syscall(SYS_writev, log_descriptor, parts, 2) != (long)(sizeof head + size)) abort();
    errno = told;
}

static void record_path(char kind, uint64_t inode, const char *path) { record(kind, inode, 0, path, strlen(path)); }

static void record_paths(char kind, const char *from, const char *to) {
    char both[8192];
    size_t size = (size_t)snprintf(both, sizeof both, "%s%c%s", from, 0, to);
    record(kind, 0, 0, both, size);
}

/* Opening */

static int recorded_open(int at, const char *path, int flags, mode_t mode) {
    if (!is_below(path)) return true_open(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int fd = true_open(at, path, flags, mode);
    if (fd >= 0 && flags & O_CREAT) record_path('O', watched_inode[fd], path);
    if (fd >= 0 && flags & O_TRUNC) record('T', watched_inode[fd], 0, "", 0);
    pthread_mutex_unlock(&lock);
    return fd;
}

int open(const char *path, int flags, ...) {
    mode_t mode;
    MODE_OF(flags, mode);
    return recorded_open(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode;
    MODE_OF(flags, mode);
    return recorded_open(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int mkdir(const char *path, mode_t mode) {
    if (!is_below(path)) return true_mkdir(path, mode);
    struct stat found;
    pthread_mutex_lock(&lock);
    int answer = true_mkdir(path, mode);
    if (!answer && !true_stat_at(path, &found, 0)) record_path('M', found.st_ino, path);
    pthread_mutex_unlock(&lock);
    return answer;
}

/* Contents */

ssize_t write(int fd, const void *data, size_t size) {
    struct stat found;
    int is_mark = fd == marks_descriptor && fd >= 0;
    if (!is_mark && !inode_of(fd, &found)) return syscall(SYS_write, fd, data, size);
    pthread_mutex_lock(&lock);
    uint64_t inode = is_mark ? 0 : inode_of(fd, &found);
    int appends = inode && syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND;
    int64_t offset = !inode ? 0 : appends ? found.st_size : syscall(SYS_lseek, fd, 0, SEEK_CUR);
    ssize_t written = syscall(SYS_write, fd, data, size);
    if (written > 0) record(is_mark ? 'A' : 'W', inode, offset, data, (size_t)written);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    struct stat found;
    if (!inode_of(fd, &found)) return syscall(SYS_pwrite64, fd, data, size, offset);
    pthread_mutex_lock(&lock);
    ssize_t written = syscall(SYS_pwrite64, fd, data, size, offset);
    if (written > 0) record('W', found.st_ino, offset, data, (size_t)written);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) { return pwrite(fd, data, size, offset); }

int ftruncate(int fd, off_t size) {
    struct stat found;
    if (!inode_of(fd, &found)) return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&lock);
    int answer = (int)syscall(SYS_ftruncate, fd, size);
    if (!answer) record('T', found.st_ino, size, "", 0);
    pthread_mutex_unlock(&lock);
    return answer;
}

int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

/* Durability */

static int recorded_sync(int fd, long call) {
    struct stat found;
    if (!inode_of(fd, &found)) return (int)syscall(call, fd);
    struct timespec moment = {0, SYNC_NANOSECONDS};
    syscall(SYS_nanosleep, &moment, NULL);
    pthread_mutex_lock(&lock);
    int answer = (int)syscall(call, fd);
    if (!answer) record('S', found.st_ino, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return answer;
}

int fsync(int fd) { return recorded_sync(fd, SYS_fsync); }

int fdatasync(int fd) { return recorded_sync(fd, SYS_fdatasync); }

/* Names */

static int recorded_move(char kind, int (*move)(const char *, const char *), const char *from, const char *to) {
    if (!is_below(from) && !is_below(to)) return move(from, to);
    pthread_mutex_lock(&lock);
    int answer = move(from, to);
    if (!answer) record_paths(kind, from, to);
    pthread_mutex_unlock(&lock);
    return answer;
}

int rename(const char *from, const char *to) { return recorded_move('R', true_rename, from, to); }

int link(const char *from, const char *to) { return recorded_move('L', true_link, from, to); }

int symlink(const char *target, const char *path) {
    return is_below(path) ? recorded_move('Y', true_symlink, target, path) : true_symlink(target, path);
}

static int recorded_removal(char kind, int (*removal)(const char *), const char *path) {
    if (!is_below(path)) return removal(path);
    pthread_mutex_lock(&lock);
    int answer = removal(path);
    if (!answer) record_path(kind, 0, path);
    pthread_mutex_unlock(&lock);
    return answer;
}

int unlink(const char *path) { return recorded_removal('U', true_unlink, path); }

int rmdir(const char *path) { return recorded_removal('D', true_rmdir, path); }
