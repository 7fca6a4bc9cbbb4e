package shell

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// growing are texts of which a line may be made without end.
var growing = []string{
	"a ", "a;", "a|", "a&&", "$(", "$(a ", "`", "((", "{ ", "( ", "[[ ", "${x:-", "\"$(", "<<a ", "<<a\na\n", "[", "a[", "{a,", "{a,b}", "}", "*", "\\", "'", "\"",
	"f(){ ", "if a;then ", "for a in ", "case a in ", "a=(", "$((", "1+", "env ", "sh -c ", "nice ", "~", "../", "rm ", "x=$(", "<(", "&", "#", "! ", "time ", "coproc ", ">a ", "a $x", "cd a;",
	"cd a&&", "find -exec ", "xargs ", "a.b", "-", "$x", "${a[", "f(){ f;};", "eval ", "a||", "é", "\t", "\n", "rm -rf *", "git ", "awk ", "env -S ",
}

// TestGrowth holds that a line costs what it is long, in bytes of memory.
// BenchmarkGrowth has the time.
func TestGrowth(t *testing.T) {
	for _, piece := range growing {
		small, big := allocated(strings.Repeat(piece, sizeCap/8/len(piece))), allocated(strings.Repeat(piece, sizeCap/len(piece)))
		// Linear is 8, and square 64.
		if big > 32*small && big > 4<<20 {
			t.Errorf("%q: for eight times the text %d bytes are allocated instead of %d", piece, big, small)
		}
	}
}

// allocated is how many bytes the reading of a line allocates.
func allocated(line string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Analyse(line, start)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkGrowth reports how much more time eight times the text takes, for the
// worst of the texts: about 8 when the work is linear.
func BenchmarkGrowth(b *testing.B) {
	worst := 0.0
	for _, piece := range growing {
		small, big := strings.Repeat(piece, sizeCap/8/len(piece)), strings.Repeat(piece, sizeCap/len(piece))
		short, long := time.Hour, time.Hour
		for range 5 { // a busy machine only adds to either
			began := time.Now()
			Analyse(small, start)
			middle := time.Now()
			Analyse(big, start)
			short, long = min(short, middle.Sub(began)), min(long, time.Since(middle))
		}
		worst = max(worst, float64(long)/float64(short))
	}
	b.ReportMetric(worst, "x-of-8")
}
