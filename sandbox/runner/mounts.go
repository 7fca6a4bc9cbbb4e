package main

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sandbox/frame"
)

// missingMounts tells which of the wanted mount points a mountinfo table does
// not hold.
func missingMounts(mountinfo []byte, want []string) []string {
	if len(want) == 0 {
		return nil
	}
	present := make(map[string]bool)
	for _, m := range frame.ParseMounts(mountinfo) {
		present[m.Point] = true
	}
	var missing []string
	for _, path := range want {
		if !present[path] {
			missing = append(missing, path)
		}
	}
	return missing
}

// ofHost are the mount points where directories of the host can be, each once: all but
// those of the kernel's own file systems.
func ofHost(mounts []frame.Mount) []string {
	var kept []string
	for _, m := range mounts {
		own := slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(top string) bool {
			return m.Point == top || strings.HasPrefix(m.Point, top+"/")
		})
		if !own && !slices.Contains(kept, m.Point) {
			kept = append(kept, m.Point)
		}
	}
	return kept
}
