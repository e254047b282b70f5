"""Power cuts on real file systems, snapshots of running ones, and a file system that loses what was not synced.

A process on the real ledger (crash_tests/embedded) works on a store that lies on a file system made for the purpose;
the power goes; the file system comes up again; the oracle asks what is left.

    power-cuts   ext4 and xfs on loop devices: the process is stopped, the file system is shut down without its log
    snapshots    the image of a mounted ext4 or xfs is cloned under the running process, and the clone is mounted
    lossy-fs     a FUSE file system drops what was not synced: whole, in torn sectors, or to zeros

Needs root. Mounts live in a namespace of their own and loop devices let go of their images by themselves, so that a run
that is killed leaves nothing but its directory.
"""
