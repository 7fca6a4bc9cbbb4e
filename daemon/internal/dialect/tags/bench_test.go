package tags

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// answerOf is an answer with calls of several tools, some of them with the text of a file, and some prose.
func answerOf(size, calls int) string {
	var b strings.Builder
	each := size / calls
	for i := range calls {
		from := b.Len()
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "I look at `main.go` & what it needs.\n<get path=\"src/file_%d.go\" line=\"%d\" limit=\"40\"/>\n", i, i)
		case 1:
			fmt.Fprintf(&b, "<update status=\"102\">Step %d of <b>%d</b></update>\n", i, calls)
		default:
			fmt.Fprintf(&b, "<set path=\"src/file_%d.go\" summary=\"a &amp; b\">\n", i)
			for b.Len()-from < each*5/3-8 {
				b.WriteString("\tif a < b && c.d[i] != \"x\" {\n\t\treturn <-ch // <p>see</p>\n\t}\n")
			}
			b.WriteString("</set>\n")
		}
	}
	return b.String()
}

// BenchmarkRead reports how fast 200 KB with 500 calls are read, and how often the tokenizer of x/net/html could read them
// meanwhile: at least 2 is the goal.
func BenchmarkRead(b *testing.B) {
	answer := answerOf(200<<10, 500)
	best := func(do func()) time.Duration {
		least := time.Hour
		for range b.N {
			began := time.Now()
			do()
			least = min(least, time.Since(began))
		}
		return least
	}
	own := best(func() {
		r := NewReader(offered)
		r.text.s, r.most = answer, 500
		if n := len(r.End().Calls); n != 500 {
			b.Fatalf("%d calls", n)
		}
	})
	other := best(func() {
		z := html.NewTokenizer(strings.NewReader(answer))
		for {
			if z.Next() == html.ErrorToken {
				if !errors.Is(z.Err(), io.EOF) {
					b.Fatal(z.Err())
				}
				return
			}
			z.Token()
		}
	})
	b.ReportMetric(float64(len(answer))/1e6/own.Seconds(), "MB/s")
	b.ReportMetric(float64(other)/float64(own), "x-of-html")
}

// BenchmarkGrowth reports the exponent by which time grows with an answer from 100 KB to 10 MB: 1 is linear, the goal 1.05.
func BenchmarkGrowth(b *testing.B) {
	small, big := answerOf(100<<10, 250), answerOf(10<<20, 25_000)
	short, long := time.Hour, time.Hour
	for range b.N { // a busy machine only adds to either
		for range 10 {
			began := time.Now()
			Read(offered, small)
			short = min(short, time.Since(began))
		}
		began := time.Now()
		Read(offered, big)
		long = min(long, time.Since(began))
	}
	size := math.Log(float64(len(big)) / float64(len(small)))
	b.ReportMetric(math.Log(float64(long)/float64(short))/size, "exponent")
}
