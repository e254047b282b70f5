"""What each request of the kernel does to the tree."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from itertools import count
from typing import assert_never

from crash_tests.power.lossy import protocol
from crash_tests.power.lossy.protocol import Kind, Request, Shape
from crash_tests.power.lossy.tree import Directory, File, Link, Node


class Answers:
    """A tree behind numbers. `lies` makes syncs answer as if they had done what they have not."""

    def __init__(self, root: Directory, *, lies: bool = False) -> None:
        self._lies = lies
        self._numbers = count(protocol.ROOT_ID + 1)
        self._nodes: dict[int, Node] = {protocol.ROOT_ID: root}
        self._ids: dict[int, int] = {id(root): protocol.ROOT_ID}
        self._kinds: dict[int, Callable[[Request], bytes]] = {
            Kind.INIT: lambda _: protocol.initialised(),
            Kind.LOOKUP: self._look_up,
            Kind.GETATTR: lambda request: self._attributes(request.node),
            Kind.SETATTR: self._set_attributes,
            Kind.MKDIR: lambda request: self._made(request.node, request.name(8), Directory()),
            Kind.SYMLINK: self._link,
            Kind.READLINK: self._read_link,
            Kind.CREATE: self._create,
            Kind.UNLINK: self._remove,
            Kind.RMDIR: self._remove,
            Kind.RENAME: lambda request: self._rename(request, 8),
            Kind.RENAME2: lambda request: self._rename(request, 16),
            Kind.OPEN: lambda request: protocol.opened(request.node),
            Kind.OPENDIR: lambda request: protocol.opened(request.node, directory=True),
            Kind.READ: self._read,
            Kind.WRITE: self._write,
            Kind.READDIR: self._list,
            Kind.FSYNC: self._sync,
            Kind.FSYNCDIR: self._sync,
            Kind.STATFS: lambda _: protocol.statistics(),
            Kind.FLUSH: lambda _: b"",
            Kind.RELEASE: lambda _: b"",
            Kind.RELEASEDIR: lambda _: b"",
            Kind.DESTROY: lambda _: b"",
        }

    def answer(self, message: bytes) -> bytes | None:
        """What the kernel is told; None where it expects nothing."""
        request = protocol.decoded(message)
        if request.kind in protocol.UNANSWERED:
            return None
        do = self._kinds.get(request.kind)
        if do is None:
            return protocol.answer(request, errno.ENOSYS, b"")
        try:
            return protocol.answer(request, 0, do(request))
        except OSError as error:
            return protocol.answer(request, error.errno or errno.EIO, b"")

    # Names

    def _look_up(self, request: Request) -> bytes:
        return self._entry(self._named(self._directory(request.node), request.name()))

    def _create(self, request: Request) -> bytes:
        made = self._made(request.node, request.name(16), File())
        return made + protocol.opened(int.from_bytes(made[:8], "little"))

    def _link(self, request: Request) -> bytes:
        name, target = request.names(0)
        return self._made(request.node, name, Link(target))

    def _read_link(self, request: Request) -> bytes:
        node = self._node(request.node)
        if not isinstance(node, Link):
            raise OSError(errno.EINVAL, "it is no link")
        return node.target

    def _made(self, parent: int, name: bytes, node: Node) -> bytes:
        directory = self._directory(parent)
        if name in directory.names:
            raise OSError(errno.EEXIST, "it is there")
        directory.change((name, node))
        return self._entry(node)

    def _remove(self, request: Request) -> bytes:
        directory = self._directory(request.node)
        node = self._named(directory, request.name())
        if isinstance(node, Directory) and node.names:
            raise OSError(errno.ENOTEMPTY, "it is not empty")
        directory.change((request.name(), None))
        return b""

    def _rename(self, request: Request, skip: int) -> bytes:
        old, new = request.names(skip)
        source, target = self._directory(request.node), self._directory(request.target)
        node = self._named(source, old)
        if source is target:
            source.change((old, None), (new, node))
        else:
            source.change((old, None))
            target.change((new, node))
        return b""

    def _list(self, request: Request) -> bytes:
        names = list(self._directory(request.node).names.items())
        listing = b""
        for place, (name, node) in enumerate(names[request.offset :], start=request.offset + 1):
            line = protocol.listed(self._number(node), place, name, _shape(node).kind)
            if len(listing) + len(line) > request.size:
                break
            listing += line
        return listing

    # Bytes

    def _set_attributes(self, request: Request) -> bytes:
        length = request.new_length
        if length is not None:
            self._file(request.node).resize(length)
        return self._attributes(request.node)

    def _read(self, request: Request) -> bytes:
        return bytes(self._file(request.node).content[request.offset : request.offset + request.size])

    def _write(self, request: Request) -> bytes:
        self._file(request.node).write(request.offset, request.data)
        return protocol.written(request.size)

    def _sync(self, request: Request) -> bytes:
        if not self._lies:
            self._node(request.node).sync()
        return b""

    # Numbers

    def _node(self, number: int) -> Node:
        return self._nodes[number]

    def _directory(self, number: int) -> Directory:
        node = self._nodes[number]
        if not isinstance(node, Directory):
            raise OSError(errno.ENOTDIR, "it is no directory")
        return node

    def _file(self, number: int) -> File:
        node = self._nodes[number]
        if not isinstance(node, File):
            raise OSError(errno.EISDIR, "it is no file")
        return node

    def _named(self, directory: Directory, name: bytes) -> Node:
        node = directory.names.get(name)
        if node is None:
            raise OSError(errno.ENOENT, "it is not there")
        return node

    def _number(self, node: Node) -> int:
        """The number of a node, which it keeps: nodes are never forgotten, so no other gets it."""
        if id(node) not in self._ids:
            number = next(self._numbers)
            self._nodes[number] = node
            self._ids[id(node)] = number
        return self._ids[id(node)]

    def _entry(self, node: Node) -> bytes:
        return protocol.entry(self._number(node), _shape(node))

    def _attributes(self, number: int) -> bytes:
        return protocol.attributes(number, _shape(self._nodes[number]))


def _shape(node: Node) -> Shape:
    match node:
        case File(content=content):
            return Shape(stat.S_IFREG, len(content))
        case Link(target=target):
            return Shape(stat.S_IFLNK, len(target))
        case Directory():
            return Shape(stat.S_IFDIR, 0)
        case _:
            assert_never(node)
