// Package reader is the process that makes one foreign document a text: what the plugin's program is when it is started
// with Argument. It begins as its package is initialized, and does not return from that. Go initializes packages in the order
// of their paths, once what they import is: of what a reader does not need, most would come later, and never comes. So
// this package imports neither the SDK nor net/http. In any other order it costs more, and does the same.
package reader

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// Argument is what the plugin is started with to be a reader. With AtRest as well it is one that waits while there is no request
// whose document it could read: it has the time to take what memory a page needs before there is one.
const (
	Argument = "read"
	AtRest   = "at-rest"
)

// taken is that memory: of a page of 100 KB.
const taken = 6 << 20

// What a reader may use for its one document.
const (
	Time   = 5 * time.Second // of a processor: by the clock, a page is read slowly where others compute
	Wait   = time.Minute     // by the clock, for the plugin: a reader may be stopped, or hardly get a processor
	Memory = 256 << 20
	haste  = 25 * time.Millisecond // then it gives way to all others
)

// Exits of a reader, by which the plugin knows what became of it.
const (
	ExitUnwalled = 3 // it has no walls: it began nothing
	ExitLate     = 4
)

// giveWay has the process compute when nobody else wants to. Linux has a priority for each thread, and a confined plugin may
// lower only that of the thread which asks: so a reader does it itself. All its goroutines, the collector's too, are on one thread
// while it computes.
func giveWay() error {
	return syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
}

// watch has the process give way once the document has had its first moments, and again, should it be on another thread by then;
// and end once it has used its time.
func watch() {
	time.AfterFunc(haste, func() {
		if used() >= Time {
			os.Exit(ExitLate)
		}
		_ = giveWay() // it reads on as it did
		watch()
	})
}

// used is the time of a processor that the process has used. One that cannot know it has used all of it.
func used() time.Duration {
	var all syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &all); err != nil {
		return Time
	}
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

// asked says that the process is to be a reader.
var asked = len(os.Args) >= 2 && os.Args[1] == Argument

// init is all that a reader does, but for an article (Finish).
func init() {
	if !asked {
		return
	}
	if err := wall(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_, _ = os.Stderr.WriteString(err.Error()) // the plugin logs it
		os.Exit(ExitUnwalled)
	}
	if len(os.Args) == 3 && os.Args[2] == AtRest {
		takeMemory()
	}
	go func() { // on whatever thread: that of init does nothing else meanwhile
		if err := readOne(os.Stdin, os.Stdout); err != nil {
			os.Exit(1) // the plugin is gone, or has let go
		}
		os.Exit(0)
	}()
	<-articleWanted
}

// rest has the collector of memory work little: a reader ends soon. It works hard before the bound is reached.
func rest() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(Memory * 3 / 4)
}

// takeMemory takes memory from the system and leaves it to the allocator. The system gives it page by page as it is written to,
// which is a tenth of the time that reading a document takes.
func takeMemory() {
	memory := make([]byte, taken)
	for i := 0; i < len(memory); i += 4 << 10 {
		memory[i] = 1
	}
	runtime.GC()
}

// readOne reads one document: a line that says what it is, its bytes up to the end; then a line that says
// what came of it, and its text.
func readOne(in io.Reader, out io.Writer) error {
	buffered := bufio.NewReader(in)
	line, err := buffered.ReadBytes('\n')
	if err != nil {
		return err
	}
	var d Document
	if err := json.Unmarshal(line, &d); err != nil {
		return err
	}
	watch()
	if d.Kind == HTML && d.Form == Main {
		close(articleWanted)
	}
	body, err := io.ReadAll(buffered)
	if err != nil {
		return err
	}
	text, r := Read(d, body)
	if len(text) > d.Most {
		text, r.Cut = string(Whole([]byte(text[:d.Most]))), true
	}
	r.Length = len(text)
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(head, '\n')); err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// Read is the text of a document. What panics about it is what others wrote.
func Read(d Document, body []byte) (text string, r Reading) {
	defer func() {
		if recover() != nil {
			text, r = "", Reading{Failed: "is not formed as it should be, and cannot be read"}
		}
	}()
	switch d.Kind {
	case HTML:
		return readHTML(d, body)
	case PDF:
		return readPDF(d, body)
	}
	decoded, err := decode(d, body)
	if err != nil {
		return "", Reading{Failed: "is not in the charset that it is said to be in"}
	}
	return string(decoded), Reading{}
}
