package frame

import (
	"bufio"
	"bytes"
	"strconv"
)

// Mount is a line of a mountinfo table.
type Mount struct {
	Point  string
	Type   string
	Source string
	Shared bool
}

// ParseMounts reads a mountinfo table, the format of which is
// proc_pid_mountinfo(5). Lines that are not of it are left out.
func ParseMounts(mountinfo []byte) []Mount {
	var mounts []Mount
	lines := bufio.NewScanner(bytes.NewReader(mountinfo))
	lines.Buffer(nil, len(mountinfo)+1)
	for lines.Scan() {
		// ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPEROPTIONS
		fields := bytes.Split(lines.Bytes(), []byte(" "))
		if len(fields) < 6 {
			continue
		}
		m := Mount{Point: unescape(fields[4])}
		for i, field := range fields[6:] {
			if string(field) != "-" {
				m.Shared = m.Shared || bytes.HasPrefix(field, []byte("shared:"))
				continue
			}
			if rest := fields[6+i+1:]; len(rest) > 1 {
				m.Type, m.Source = string(rest[0]), unescape(rest[1])
			}
			break
		}
		mounts = append(mounts, m)
	}
	return mounts
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
