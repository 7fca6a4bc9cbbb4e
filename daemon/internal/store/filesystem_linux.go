package store

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// magics name the filesystems that statfs tells by number (linux/magic.h).
var magics = map[uint32]string{
	0x6969: "nfs", 0x517B: "smb", 0xFF534D42: "cifs", 0xFE534D42: "smb2", 0x01021997: "9p", 0x5346414F: "afs", 0x6B414653: "afs",
	0x73757245: "coda", 0x564C: "ncpfs", 0x00C36400: "ceph", 0x0BD00BD0: "lustre", 0x47504653: "gpfs", 0x7461636F: "ocfs2",
	0x01161970: "gfs2", 0x19830326: "beegfs", 0x20030528: "orangefs",
}

const magicFUSE = 0x65735546

// filesystemKind names the filesystem of a folder, as far as it matters: one of
// magics, the kind of a FUSE mount, or "local".
func filesystemKind(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", fmt.Errorf("asking for the filesystem of %s: %w", dir, err)
	}
	magic := uint32(st.Type) //nolint:gosec // the kernel's number, whose width differs between architectures
	if magic == magicFUSE {
		return mountKind(dir)
	}
	if name, ok := magics[magic]; ok {
		return name, nil
	}
	return "local", nil
}

// mountKind looks up the mount that holds dir, by its device: statfs does not
// tell one FUSE filesystem from another.
func mountKind(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no device", dir)
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if device, kind := parseMount(lines.Text()); device == deviceName(st.Dev) {
			return kind, nil
		}
	}
	return "fuse", lines.Err()
}

// parseMount takes device and kind from a line of mountinfo (proc(5)).
func parseMount(line string) (device, kind string) {
	before, after, _ := strings.Cut(line, " - ")
	fields, rest := strings.Fields(before), strings.Fields(after)
	if len(fields) < 3 || len(rest) < 1 {
		return "", ""
	}
	return fields[2], rest[0]
}

// deviceName writes a device number as mountinfo does (makedev(3)).
func deviceName(dev uint64) string {
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&^0xff
	return fmt.Sprintf("%d:%d", uint32(major), uint32(minor))
}
