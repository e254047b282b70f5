"""The real server where something runs out: the disk, descriptors, memory, or the size that a file may have.

    full-disk   a small tmpfs or ext4 fills up under the server: by what it writes itself, or by what others write
    limits      the server is started within a limit of the system (RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_FSIZE, a memory
                cgroup), or meets it while it serves

What must hold: whoever is refused is told so at once, what is published goes on being read, nothing acknowledged is
lost, nothing hangs, and with room again everything is as it was.
"""
