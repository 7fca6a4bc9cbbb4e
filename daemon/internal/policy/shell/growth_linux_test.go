package shell

import (
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestGrowth holds that a line costs what it is long. It compares the time of
// the processor for two lengths, since how fast or how busy a machine is means
// nothing.
func TestGrowth(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, piece := range []string{
		"a ", "a;", "a|", "a&&", "$(", "$(a ", "`", "((", "{ ", "( ", "[[ ", "${x:-", "\"$(", "<<a ", "<<a\na\n", "[", "a[", "{a,", "{a,b}", "}", "*", "\\", "'", "\"",
		"f(){ ", "if a;then ", "for a in ", "case a in ", "a=(", "$((", "1+", "env ", "sh -c ", "nice ", "~", "../", "rm ", "x=$(", "<(", "&", "#", "! ", "time ", "coproc ", ">a ", "a $x", "cd a;",
		"cd a&&", "find -exec ", "xargs ", "a.b", "-", "$x", "${a[", "f(){ f;};", "eval ", "a||", "é", "\t", "\n", "rm -rf *", "git ", "awk ", "env -S ",
	} {
		small, big := cost(strings.Repeat(piece, sizeCap/8/len(piece)), 16), cost(strings.Repeat(piece, sizeCap/len(piece)), 2)
		// Linear is 8, and square 64.
		if big > 32*small && big > 20*time.Millisecond {
			t.Errorf("%q: eight times the text costs %d times as much, %v instead of %v", piece, big/small, big, small)
		}
		runtime.GC()
	}
}

// cost is the processor's time for a line, on this thread alone. The kernel
// counts it in steps, so that short lines need more rounds.
func cost(line string, rounds int) time.Duration {
	const thread = 1 // RUSAGE_THREAD
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(thread, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := spent()
	for range rounds {
		Analyse(line, start)
	}
	return max((spent()-began)/time.Duration(rounds), 400*time.Microsecond)
}
