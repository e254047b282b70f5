"""A file system in memory that knows what has been synced, and forgets the rest when it is told to.

    tree       files and directories, as they are and as they would be after the power went
    protocol   the messages of /dev/fuse, which the kernel documents in include/uapi/linux/fuse.h
    answers    what each request does to the tree
    disk       the process that serves it, mounted

It speaks to the kernel itself: no library is needed, and nothing but root and /dev/fuse.
"""
