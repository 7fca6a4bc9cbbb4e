package main

import (
	"bytes"
	"encoding/binary"
	"path"

	"github.com/bothyd/bothy/sandbox"
)

// mostIndex is how long an index of git may be to be looked at.
const mostIndex = 32 << 20

// refreshes says whether a command made nothing of an index of git but note anew what it saw of the files on disk, as
// git does whenever it looks (`git status`, `git diff`).
func refreshes(c sandbox.Change, read sandbox.Readers) bool {
	if path.Base(c.Path) != "index" || c.Was.Kind != sandbox.NodeFile || c.Is.Kind != sandbox.NodeFile || max(c.Was.Size, c.Is.Size) > mostIndex {
		return false
	}
	before, err := read.Before(c.Path, mostIndex)
	if err != nil {
		return false
	}
	after, err := read.After(c.Path, mostIndex)
	if err != nil {
		return false
	}
	was, of := staged(before)
	is, too := staged(after)
	return of && too && bytes.Equal(was, is)
}

// The parts of an index that are of one length: its head, of an entry what was seen of the file and all before its
// name, and the sum at the end. Git says so in gitformat-index(5).
const (
	indexHead  = 12
	entrySeen  = 40 // two times, device, inode, mode, owner, group, size
	entryHead  = entrySeen + 20 + 2
	modeFrom   = 24
	modeTo     = 28
	indexSum   = 20
	extensions = 8 // a name and a length
)

// staged is what an index says of each file but for what was seen of it on disk. It is false of what is none, and of one
// of another version or with longer sums.
func staged(index []byte) ([]byte, bool) {
	if len(index) < indexHead+indexSum || !bytes.HasPrefix(index, []byte("DIRC")) {
		return nil, false
	}
	version := binary.BigEndian.Uint32(index[4:])
	if version < 2 || version > 4 {
		return nil, false
	}
	all, rest := bytes.Clone(index[:indexHead]), index[indexHead:len(index)-indexSum]
	for range binary.BigEndian.Uint32(index[8:]) {
		length := entryLength(rest, version)
		if length == 0 || length > len(rest) {
			return nil, false
		}
		all = append(append(all, rest[modeFrom:modeTo]...), rest[entrySeen:length]...)
		rest = rest[length:]
	}
	for len(rest) > 0 { // what git keeps besides, which is made of the entries
		if len(rest) < extensions {
			return nil, false
		}
		length := extensions + int64(binary.BigEndian.Uint32(rest[4:]))
		if length > int64(len(rest)) {
			return nil, false
		}
		rest = rest[length:]
	}
	return all, true
}

// entryLength is how many bytes the first entry has; 0 of none.
func entryLength(rest []byte, version uint32) int {
	const extended = 0x40 // of the flags: there are two more bytes of them
	head := entryHead
	if len(rest) < head {
		return 0
	}
	if version >= 3 && rest[head-2]&extended != 0 {
		head += 2
	}
	if version == 4 { // a number says how much of the name before it stays; its last byte is below 128
		for head < len(rest) && rest[head] >= 128 {
			head++
		}
		head++
	}
	if head >= len(rest) {
		return 0
	}
	name := bytes.IndexByte(rest[head:], 0)
	switch {
	case name < 0:
		return 0
	case version == 4:
		return head + name + 1
	}
	return (head + name + 8) &^ 7
}
