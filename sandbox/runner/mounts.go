package main

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sandbox/frame"
)

// missingMounts tells which of the wanted mount points a mountinfo table does
// not hold. Format: proc_pid_mountinfo(5), the mount point is the fifth field,
// with space, tab, newline and backslash as octal escapes.
func missingMounts(mountinfo []byte, want []string) []string {
	if len(want) == 0 {
		return nil
	}
	present := make(map[string]bool)
	for _, point := range mountPoints(mountinfo) {
		present[point] = true
	}
	var missing []string
	for _, path := range want {
		if !present[path] {
			missing = append(missing, path)
		}
	}
	return missing
}

// mountPoints are the mount points of a mountinfo table.
func mountPoints(mountinfo []byte) []string {
	var points []string
	lines := bufio.NewScanner(bytes.NewReader(mountinfo))
	lines.Buffer(nil, len(mountinfo)+1)
	for lines.Scan() {
		fields := bytes.SplitN(lines.Bytes(), []byte(" "), 6)
		if len(fields) == 6 {
			points = append(points, unescape(fields[4]))
		}
	}
	return points
}

// ofHost keeps the mount points where directories of the host are, each once.
func ofHost(points []string) []string {
	var kept []string
	for _, point := range points {
		for _, top := range []string{frame.Workspace, frame.Home, frame.Skills} {
			if (point == top || strings.HasPrefix(point, top+"/")) && !slices.Contains(kept, point) {
				kept = append(kept, point)
			}
		}
	}
	return kept
}

// unescape undoes the octal escapes of mountinfo; anything else stays as it is.
func unescape(field []byte) string {
	if bytes.IndexByte(field, '\\') < 0 {
		return string(field)
	}
	out := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if n, err := strconv.ParseUint(string(field[i+1:i+4]), 8, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		out = append(out, field[i])
	}
	return string(out)
}
