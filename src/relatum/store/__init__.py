"""Bytes: keys, rows, the engines that hold them, and the stable views that everything is read through."""
