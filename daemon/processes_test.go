package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// works is `works PROGRAM`: a process below the daemon has that program among its arguments. Whether it has is seen from
// outside: nothing of what the daemon says counts.
func works(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] works PROGRAM")
	}
	below := belowDaemon(ts)
	if len(below) == 0 {
		ts.Fatalf("no process is below the daemon, so that nothing is known of %s", args[0])
	}
	var found []int
	for pid, arguments := range below {
		if strings.Contains(arguments, args[0]) {
			found = append(found, pid)
		}
	}
	switch {
	case neg && len(found) > 0:
		ts.Fatalf("the processes %v work for %s", found, args[0])
	case !neg && len(found) == 0:
		ts.Fatalf("no process works for %s: %v", args[0], below)
	}
}

// belowDaemon are the arguments of each process that the script's daemon began, or one that it began.
func belowDaemon(ts *testscript.TestScript) map[int]string {
	all, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	parents, arguments := map[int]int{}, map[int]string{}
	for _, dir := range all {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		line, badly := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || badly != nil {
			continue // it has ended
		}
		var state string
		var parent int
		if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		parents[pid], arguments[pid] = parent, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
	daemon := daemonOf(ts)
	below := map[int]string{}
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == daemon {
				below[pid] = arguments[pid]
				break
			}
		}
	}
	return below
}
