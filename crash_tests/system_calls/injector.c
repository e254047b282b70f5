/* Preloaded: lets one call on files below a directory fail, lie, or end the process.
 *
 *   injector_watch(directory)                 the calls on files below it are counted from now on
 *   injector_arm(kind, number, mode, error)   the fault strikes the number-th call of that kind from now on
 *   injector_calls(kind)                      how many there were
 *   injector_struck()                         how many of them the fault has struck
 *   injector_undurable()                      how many logs and watermarks hold bytes that no sync has made durable
 *   injector_cut()                            takes from files what they would lack, had the power failed now,
 *                                             because of a sync that was a lie
 *
 * Kinds and modes are those of faults.py. What fails has not happened, except that a close always closes.
 */
#define _GNU_SOURCE
#include "watch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/file.h>

enum kind { OPEN, READ, WRITE, SYNC, RESIZE, RENAME, UNLINK, MAKE, LINK, LIST, STAT, LOCK, CLOSE, KINDS };
enum mode { NONE, ONCE, FOREVER, SHORT, SHORT_ONCE, TORN, LIE, FLIP, FLIP_LAST, KILL_BEFORE, KILL_AFTER };

#define FILES_MAX 4096

/* A file that was opened for writing. */
struct file {
    uint64_t inode;
    int bears;         /* a log or watermark: receipts stand on it */
    int dirty;         /* written and not synced */
    int doubtful;      /* a sync of it has failed: no later one proves anything */
    int lied;          /* a sync of it was a lie */
    int64_t size;      /* at its last true sync */
    char path[512];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES_MAX];
static int files_known;
static long calls[KINDS];
static long struck, number_armed;
static int kind_armed = -1, mode_armed, error_armed, error_pending;

void injector_watch(const char *directory) { watch_root(directory); }

void injector_arm(int kind, long number, int mode, int error) {
    memset(calls, 0, sizeof calls);
    struck = error_pending = 0;
    kind_armed = kind, number_armed = number, mode_armed = mode, error_armed = error;
}

long injector_calls(int kind) { return calls[kind]; }

long injector_struck(void) { return struck; }

static void end_process(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
}

/* A call of a kind begins: how it is to go, NONE if nothing strikes it. */
static enum mode strike(enum kind kind) {
    long number = __sync_add_and_fetch(&calls[kind], 1);
    if ((int)kind != kind_armed || number < number_armed || (number > number_armed && mode_armed != FOREVER)) return NONE;
    __sync_add_and_fetch(&struck, 1);
    if (mode_armed == KILL_BEFORE) end_process();
    return mode_armed;
}

static int fails(enum mode mode) { return mode == ONCE || mode == FOREVER; }

static int failed(void) {
    errno = error_armed;
    return -1;
}

/* A call that either happens or not. */
#define PLAIN(kind, call)                            \
    do {                                             \
        enum mode mode = strike(kind);               \
        if (fails(mode)) return failed();            \
        int answer = (int)(call);                    \
        if (mode == KILL_AFTER) end_process();       \
        return answer;                               \
    } while (0)

/* What is durable */

static struct file *file_of(uint64_t inode) {
    for (int i = 0; i < files_known; i++)
        if (files[i].inode == inode) return &files[i];
    return NULL;
}

static void know(const char *path, int fd) {
    const char *end = strrchr(path, '.');
    pthread_mutex_lock(&lock);
    struct stat found;
    int is_there = !true_stat(fd, &found);
    struct file *known = is_there ? file_of(found.st_ino) : NULL;
    int bears = (end && !strcmp(end, ".log")) || strstr(path, "/watermark");
    if (known && known->bears != bears) { /* the inode of a file that is gone, for one of another kind */
        known->bears = bears;
        known->dirty = known->doubtful = 0;
    }
    if (is_there && !known && files_known < FILES_MAX) {
        struct file *file = &files[files_known++];
        memset(file, 0, sizeof *file);
        file->inode = found.st_ino;
        file->bears = bears;
        file->size = found.st_size;
        snprintf(file->path, sizeof file->path, "%s", path);
    }
    pthread_mutex_unlock(&lock);
}

static void note_written(uint64_t inode) {
    pthread_mutex_lock(&lock);
    struct file *file = file_of(inode);
    if (file) file->dirty = 1;
    pthread_mutex_unlock(&lock);
}

static void note_synced(struct stat *found, enum mode mode, int answer) {
    pthread_mutex_lock(&lock);
    struct file *file = file_of(found->st_ino);
    if (file && mode == LIE) file->lied = 1, file->dirty = 0;
    else if (file && answer) file->doubtful = 1;
    else if (file && !file->lied) file->dirty = 0, file->size = found->st_size;
    else if (file) file->dirty = 0; /* a drive that has lost its cache does not find it again */
    pthread_mutex_unlock(&lock);
}

int injector_undurable(void) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < files_known; i++) found += files[i].bears && (files[i].dirty || files[i].doubtful);
    pthread_mutex_unlock(&lock);
    return found;
}

void injector_cut(void) {
    for (int i = 0; i < files_known; i++) {
        struct stat found;
        if (files[i].lied && !true_stat_at(files[i].path, &found, 0) && found.st_ino == files[i].inode)
            syscall(SYS_truncate, files[i].path, files[i].size);
    }
}

/* Opening and closing */

static int struck_open(const char *path, int flags, mode_t mode_of_file) {
    if (!is_below(path)) return true_open(AT_FDCWD, path, flags, mode_of_file);
    enum mode mode = strike(OPEN);
    if (fails(mode)) return failed();
    int fd = true_open(AT_FDCWD, path, flags, mode_of_file);
    if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY) know(path, fd);
    if (mode == KILL_AFTER) end_process();
    return fd;
}

int open(const char *path, int flags, ...) {
    mode_t mode;
    MODE_OF(flags, mode);
    return struck_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode;
    MODE_OF(flags, mode);
    return struck_open(path, flags | O_LARGEFILE, mode);
}

int close(int fd) {
    struct stat found;
    int watched = inode_of(fd, &found) != 0;
    enum mode mode = watched ? strike(CLOSE) : NONE;
    if (watched) watched_inode[fd] = 0;
    int answer = (int)syscall(SYS_close, fd);
    if (mode == KILL_AFTER) end_process();
    return fails(mode) ? failed() : answer;
}

/* Reading */

static ssize_t read_as(enum mode mode, void *data, ssize_t size) {
    if (mode == FLIP && size > 0) ((unsigned char *)data)[size / 2] ^= 16;
    if (mode == FLIP_LAST && size > 0) ((unsigned char *)data)[size - 1] ^= 16;
    if (mode == KILL_AFTER) end_process();
    return size;
}

#define READING(call, wanted)                                        \
    struct stat found;                                               \
    enum mode mode = inode_of(fd, &found) ? strike(READ) : NONE;     \
    if (fails(mode)) return failed();                                \
    if (mode == SHORT && (wanted) > 1) (wanted) = (wanted) / 2;      \
    return read_as(mode, data, call)

ssize_t read(int fd, void *data, size_t size) { READING(syscall(SYS_read, fd, data, size), size); }

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    READING(syscall(SYS_pread64, fd, data, size, offset), size);
}

ssize_t pread64(int fd, void *data, size_t size, off_t offset) { return pread(fd, data, size, offset); }

#undef fread_unlocked

size_t fread_unlocked(void *data, size_t unit, size_t units, FILE *file) {
    static size_t (*true_read)(void *, size_t, size_t, FILE *);
    if (!true_read) *(void **)&true_read = dlsym(RTLD_NEXT, "fread_unlocked");
    struct stat found;
    enum mode mode = inode_of(fileno(file), &found) ? strike(READ) : NONE;
    if (fails(mode)) {
        failed();
        return 0;
    }
    return (size_t)read_as(mode, data, (ssize_t)true_read(data, unit, units, file));
}

/* Writing */

static ssize_t true_write(int fd, const void *data, size_t size, const off_t *offset) {
    return offset ? syscall(SYS_pwrite64, fd, data, size, *offset) : syscall(SYS_write, fd, data, size);
}

static ssize_t struck_write(int fd, const void *data, size_t size, const off_t *offset) {
    struct stat found;
    if (!inode_of(fd, &found)) return true_write(fd, data, size, offset);
    if (error_pending) {
        error_pending = 0;
        return failed();
    }
    enum mode mode = strike(WRITE);
    if (fails(mode)) return failed();
    if (mode == SHORT || mode == SHORT_ONCE || mode == TORN) size = (size + 1) / 2;
    note_written(found.st_ino);
    ssize_t written = true_write(fd, data, size, offset);
    if (mode == TORN || mode == KILL_AFTER) end_process();
    error_pending = mode == SHORT_ONCE;
    return written;
}

ssize_t write(int fd, const void *data, size_t size) { return struck_write(fd, data, size, NULL); }

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return struck_write(fd, data, size, &offset); }

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) { return struck_write(fd, data, size, &offset); }

static int struck_resize(int fd, off_t size) {
    struct stat found;
    if (!inode_of(fd, &found)) return (int)syscall(SYS_ftruncate, fd, size);
    PLAIN(RESIZE, syscall(SYS_ftruncate, fd, size));
}

int ftruncate(int fd, off_t size) { return struck_resize(fd, size); }

int ftruncate64(int fd, off_t size) { return struck_resize(fd, size); }

static int struck_sync(int fd, long call) {
    struct stat found;
    if (!inode_of(fd, &found)) return (int)syscall(call, fd);
    enum mode mode = strike(SYNC);
    int answer = fails(mode) ? failed() : mode == LIE ? 0 : (int)syscall(call, fd);
    int told = errno;
    note_synced(&found, mode, answer);
    if (mode == KILL_AFTER) end_process();
    errno = told;
    return answer;
}

int fsync(int fd) { return struck_sync(fd, SYS_fsync); }

int fdatasync(int fd) { return struck_sync(fd, SYS_fdatasync); }

/* Names */

int rename(const char *from, const char *to) {
    if (!is_below(from)) return true_rename(from, to);
    PLAIN(RENAME, true_rename(from, to));
}

int link(const char *from, const char *to) {
    if (!is_below(to)) return true_link(from, to);
    PLAIN(LINK, true_link(from, to));
}

int symlink(const char *target, const char *path) {
    if (!is_below(path)) return true_symlink(target, path);
    PLAIN(LINK, true_symlink(target, path));
}

int unlink(const char *path) {
    if (!is_below(path)) return true_unlink(path);
    PLAIN(UNLINK, true_unlink(path));
}

int rmdir(const char *path) {
    if (!is_below(path)) return true_rmdir(path);
    PLAIN(UNLINK, true_rmdir(path));
}

int mkdir(const char *path, mode_t mode_of_folder) {
    if (!is_below(path)) return true_mkdir(path, mode_of_folder);
    PLAIN(MAKE, true_mkdir(path, mode_of_folder));
}

DIR *opendir(const char *path) {
    static DIR *(*true_opendir)(const char *);
    if (!true_opendir) *(void **)&true_opendir = dlsym(RTLD_NEXT, "opendir");
    enum mode mode = is_below(path) ? strike(LIST) : NONE;
    if (fails(mode)) {
        failed();
        return NULL;
    }
    DIR *found = true_opendir(path);
    if (mode == KILL_AFTER) end_process();
    return found;
}

/* Looking */

static int struck_stat(const char *path, struct stat *found, int flags) {
    if (!is_below(path)) return true_stat_at(path, found, flags);
    PLAIN(STAT, true_stat_at(path, found, flags));
}

int stat64(const char *path, struct stat64 *found) { return struck_stat(path, (struct stat *)found, 0); }

int lstat64(const char *path, struct stat64 *found) {
    return struck_stat(path, (struct stat *)found, AT_SYMLINK_NOFOLLOW);
}

int __xstat(int version, const char *path, struct stat *found) {
    (void)version;
    return struck_stat(path, found, 0);
}

int access(const char *path, int wanted) {
    if (!is_below(path)) return (int)syscall(SYS_faccessat, AT_FDCWD, path, wanted);
    PLAIN(STAT, syscall(SYS_faccessat, AT_FDCWD, path, wanted));
}

/* Locks */

int flock(int fd, int operation) {
    struct stat found;
    if (!inode_of(fd, &found)) return (int)syscall(SYS_flock, fd, operation);
    PLAIN(LOCK, syscall(SYS_flock, fd, operation));
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    struct stat found;
    if (command != F_SETLK || !inode_of(fd, &found)) return (int)syscall(SYS_fcntl, fd, command, argument);
    PLAIN(LOCK, syscall(SYS_fcntl, fd, command, argument));
}
