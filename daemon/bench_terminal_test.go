//go:build linux

package daemon

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The terminal is measured from outside, on a pty: what a person waits for, and what the
// process takes. The times end when bytes come, before the emulator draws them.

func init() {
	var history strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&history, "Paragraph %d of a long history\nwith a second line,\na third one with `code`\nand a fourth one.\n\n", n)
	}
	plays["history"] = []played{{says: history.String() + "The history ends."}}
	plays["pours"] = []played{{pours: poured}}
}

// BenchmarkTerminal: how long a key takes to the screen behind a history of 10,000 lines,
// and what the front end takes while a model writes 200 tokens a second.
func BenchmarkTerminal(b *testing.B) {
	s := newSeat(b, 100, 40)
	s.sit()
	s.until("bothy 0", "> What")
	pid := s.cmd.Process.Pid
	s.keys("play pours\r")
	s.until("The answer")
	before, began := processorTime(b, pid), time.Now()
	s.until("It is poured.", "finished")
	share := 100 * float64(processorTime(b, pid)-before) / float64(time.Since(began))
	report(b, "terminal: processor time while 200 tokens a second come", fmt.Sprintf("%.1f %% of a core (%.1f s)", share, time.Since(began).Seconds()), "15 %")
	resident := residentOf(b, pid)
	report(b, "terminal: resident memory after that", megabytes(resident), "40 MB")
	s.keys("play history\r")
	s.until("The history ends.", "finished")
	report(b, "terminal: resident memory behind 10,000 lines", megabytes(residentOf(b, pid)), "reported")
	s.rests()

	var keys []time.Duration
	for b.Loop() {
		for _, key := range "quixoticz" {
			keys = append(keys, s.pressed(string(key)))
		}
		s.keys("\x15") // nothing of it is sent
		s.until("> What")
	}
	slices.Sort(keys)
	p99 := keys[len(keys)*99/100]
	b.ReportMetric(float64(p99)/1e6, "ms-p99")
	b.ReportMetric(share, "%cpu")
	report(b, "terminal: key press to screen behind 10,000 lines, p99", fmt.Sprintf("%v (median %v, n=%d)", round(p99), round(median(keys)), len(keys)), "12 ms")
}

// pressed is how long a key takes until it is drawn.
func (s *seat) pressed(key string) time.Duration {
	s.mu.Lock()
	from := len(s.wrote)
	s.mu.Unlock()
	began := time.Now()
	s.keys(key)
	return s.came(key, from).Sub(began)
}

// came is when a text came, of what the program wrote from a place on.
func (s *seat) came(text string, from int) time.Time {
	limit := time.After(time.Minute)
	for {
		s.mu.Lock()
		drawn, is, at := s.drawn, bytes.Contains(s.wrote[from:], []byte(text)), s.read
		s.mu.Unlock()
		if is {
			return at
		}
		select {
		case <-drawn:
		case <-s.ended:
			s.t.Fatalf("it has ended without %q", text)
		case <-limit:
			s.t.Fatalf("%q never came:\n%s", text, s.screen())
		}
	}
}

// BenchmarkTerminalStart: how long it takes from the call of bothy to its first frame.
func BenchmarkTerminalStart(b *testing.B) {
	var warm, cold []time.Duration
	first := newSeat(b, 80, 24)
	frame := func(to *[]time.Duration) {
		began := time.Now()
		first.sit()
		*to = append(*to, first.came("What shall be done?", 0).Sub(began))
		first.until("bothy 0")
		first.end()
	}
	frame(&warm) // the files of the programs are read
	warm = nil
	for b.Loop() {
		first.bothy("stop", "--now")
		frame(&cold)
		frame(&warm)
	}
	report(b, "terminal: first frame, with a daemon that runs", fmt.Sprintf("%v (n=%d)", round(median(warm)), len(warm)), "80 ms")
	report(b, "terminal: first frame, with the daemon's start", fmt.Sprintf("%v (n=%d)", round(median(cold)), len(cold)), "250 ms")
}

// processorTime is what a process took of the processors.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var ticks int
	for _, f := range fields[11:13] { // utime and stime of proc(5), of which a second has 100
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// residentOf is what a process has in memory.
func residentOf(b *testing.B, pid int) int64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(syscall.Getpagesize())
}
