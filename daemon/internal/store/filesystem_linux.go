package store

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// filesystemKind names the filesystem of a folder as mount(8) does, by the device of
// its mount; empty when none of that device is listed, as for parts of a btrfs.
func filesystemKind(dir string) (string, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		return "", fmt.Errorf("asking for the device of %s: %w", dir, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("asking for the filesystem of %s: %w", dir, err)
	}
	for line := range strings.Lines(string(mounts)) {
		if device, kind := parseMount(line); device == deviceName(st.Dev) {
			return kind, nil
		}
	}
	return "", nil
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
