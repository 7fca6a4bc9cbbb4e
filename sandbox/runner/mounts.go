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

// ofHost are the mount points where directories of the host are, each once.
func ofHost(mounts []frame.Mount) []string {
	var kept []string
	for _, m := range mounts {
		point := m.Point
		for _, top := range []string{frame.Workspace, frame.Home, frame.Skills} {
			if (point == top || strings.HasPrefix(point, top+"/")) && !slices.Contains(kept, point) {
				kept = append(kept, point)
			}
		}
	}
	return kept
}
